"""The caller's span as OpenTelemetry's context."""

from __future__ import annotations

from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from errorsink_otel._map import Parent

__all__ = ["parent_context", "span_context"]

_NO_SPAN = set_span_in_context(INVALID_SPAN, Context())
"""Never an empty context: that would mean the current one, of the thread that sends."""


def span_context(parent: Parent) -> SpanContext:
    """The span of a caller, who was in this process."""
    return SpanContext(parent.trace_id, parent.span_id, is_remote=False, trace_flags=TraceFlags(parent.flags))


def parent_context(parent: Parent | None) -> Context:
    """A context in which the caller's span is the active one, or none is."""
    if parent is None:
        return _NO_SPAN
    return set_span_in_context(NonRecordingSpan(span_context(parent)), Context())
