module github.com/DataDog/datadog-api-client-go/v2

go 1.25.0
