"""errorsink on the wire of Datadog Error Tracking."""
