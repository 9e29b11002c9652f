"""errorsink on the wire of OpenTelemetry: logs and spans."""
