// Package datadogV2 declares what a helper package of the collector's datadogreceiver names.
package datadogV2

// MetricContentEncoding is the encoding of a metrics payload.
type MetricContentEncoding string

// METRICCONTENTENCODING_GZIP is gzip.
const METRICCONTENTENCODING_GZIP MetricContentEncoding = "gzip"

// SubmitMetricsOptionalParameters are the options of submitting metrics.
type SubmitMetricsOptionalParameters struct{ ContentEncoding *MetricContentEncoding }

// NewSubmitMetricsOptionalParameters returns no options.
func NewSubmitMetricsOptionalParameters() *SubmitMetricsOptionalParameters {
	return &SubmitMetricsOptionalParameters{}
}

// WithContentEncoding sets the encoding.
func (r *SubmitMetricsOptionalParameters) WithContentEncoding(
	encoding MetricContentEncoding,
) *SubmitMetricsOptionalParameters {
	r.ContentEncoding = &encoding
	return r
}
