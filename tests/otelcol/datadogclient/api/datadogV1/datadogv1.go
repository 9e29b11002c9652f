// Package datadogV1 declares the metric types that the collector's datadogreceiver names.
package datadogV1

import (
	"net/http"

	"github.com/DataDog/datadog-api-client-go/v2/api/datadog"
)

// ServiceCheckStatus is the status of a service check.
type ServiceCheckStatus int32

// NullableInt64 is an optional number.
type NullableInt64 struct{ value *int64 }

// IsSet tells whether there is a number.
func (n NullableInt64) IsSet() bool { return n.value != nil }

// Series is a metric's series of points.
type Series struct {
	Metric   string        `json:"metric"`
	Type     *string       `json:"type,omitempty"`
	Host     *string       `json:"host,omitempty"`
	Tags     []string      `json:"tags,omitempty"`
	Points   [][]*float64  `json:"points"`
	Interval NullableInt64 `json:"-"`
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// GetType returns the type or an empty string.
func (s *Series) GetType() string { return orEmpty(s.Type) }

// GetHost returns the host or an empty string.
func (s *Series) GetHost() string { return orEmpty(s.Host) }

// GetTags returns the tags.
func (s *Series) GetTags() []string { return s.Tags }

// GetInterval returns the interval or 0.
func (s *Series) GetInterval() int64 {
	if s.Interval.value == nil {
		return 0
	}
	return *s.Interval.value
}

// AuthenticationApi would validate an API key.
type AuthenticationApi struct{}

// AuthenticationValidationResponse would be its answer.
type AuthenticationValidationResponse struct{ Valid *bool }

// NewAuthenticationApi returns an API that refuses every call.
func NewAuthenticationApi(*datadog.APIClient) *AuthenticationApi { return &AuthenticationApi{} }

// Validate always fails.
func (*AuthenticationApi) Validate(datadog.Context) (AuthenticationValidationResponse, *http.Response, error) {
	return AuthenticationValidationResponse{}, nil, datadog.Unused{}
}
