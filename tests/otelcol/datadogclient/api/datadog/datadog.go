// Package datadog declares the part of Datadog's API client that the collector's datadogreceiver names.
//
// The receiver uses the client for metrics and for its /intake proxy only, and errorsink's tests send it
// logs. The real client is 8,600 generated files that take twice as long to compile as all the rest of the
// collector, so the go.mod beside main.go replaces it by these declarations. Nothing here is ever called.
package datadog

import (
	"context"
	"net/http"
)

type contextKey string

// ContextAPIKeys is the context key under which the client looks for API keys.
const ContextAPIKeys = contextKey("apiKeys")

// APIKey is one API key of a request's context.
type APIKey struct{ Key, Prefix string }

// ServerVariable is one variable of a server's URL.
type ServerVariable struct{ DefaultValue string }

// ServerConfiguration is one server.
type ServerConfiguration struct {
	URL, Description string
	Variables        map[string]ServerVariable
}

// ServerConfigurations is the list of servers to choose from.
type ServerConfigurations []ServerConfiguration

// Configuration is the client's configuration.
type Configuration struct {
	UserAgent  string
	HTTPClient *http.Client
	Compress   bool
	Servers    ServerConfigurations
}

// NewConfiguration returns an empty configuration.
func NewConfiguration() *Configuration { return &Configuration{} }

// APIClient is the client.
type APIClient struct{ Configuration *Configuration }

// NewAPIClient returns a client that can do nothing.
func NewAPIClient(configuration *Configuration) *APIClient {
	return &APIClient{Configuration: configuration}
}

// Unused is the error of whatever would call Datadog.
type Unused struct{}

func (Unused) Error() string { return "Datadog's API client is not part of this collector" }

// Context is what the calls take.
type Context = context.Context
