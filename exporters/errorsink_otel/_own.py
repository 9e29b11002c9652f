"""A pipeline of our own: a resource, a scope, and an exporter that tells the truth. No provider, no processor.

Nothing global is set, no thread is started and nothing is registered for the exit: queueing, batching and retrying
are the core's.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any, Callable, Generic, Protocol, Sequence, TypeVar

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from errorsink.sinks import Outcome, SinkConfig
from errorsink_otel._config import SignalName, parse_pairs, resolve
from errorsink_otel._quiet import quiet

__all__ = ["Pipeline", "Wire", "resource_attributes"]

T = TypeVar("T")


@dataclass(frozen=True)
class Wire(Generic[T]):
    """How one signal is written. The two functions import the transport that is wanted, and no other."""

    readable: Callable[[T, Resource, InstrumentationScope], Any]
    """A T with its resource and scope, as the official exporters and encoders take it."""
    encode: Callable[[Sequence[Any]], Any]
    response: Callable[[], Any]
    http_exporter: Callable[[], Callable[..., Any]]
    grpc_stub: Callable[[], Callable[..., Any]]


class _Resource(Resource):
    """A resource that is hashed once: the official encoders look it up for each record, and its hash is its JSON's."""

    def __init__(self, resource: Resource) -> None:
        super().__init__(resource.attributes, resource.schema_url)
        self._hash = super().__hash__()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)


class Exporter(Protocol):
    """A transport."""

    def export(self, batch: Sequence[Any], timeout: float) -> Outcome: ...
    def close(self) -> None: ...


class Pipeline(Generic[T]):
    """What `send` needs where the application has no provider."""

    def __init__(self, signal: SignalName, wire: Wire[T], config: SinkConfig, version: str) -> None:
        self._readable = wire.readable
        self._target = resolve(config, signal)
        self._scope = InstrumentationScope("errorsink", version)
        with quiet():
            self._resource = _Resource(Resource.create(resource_attributes(config)))
            self._exporter = self._transport(wire, version)

    def _transport(self, wire: Wire[T], version: str) -> Exporter:
        if self._target.protocol == "grpc":
            from errorsink_otel._grpc import GrpcExporter  # grpcio costs 180 ms to import

            return GrpcExporter(self._target, wire.encode, wire.grpc_stub(), version)
        from errorsink_otel._http import HttpExporter  # requests costs 130 ms to import

        return HttpExporter(self._target, wire.http_exporter(), wire.response, version)

    def send(self, batch: Sequence[T], timeout: float) -> Outcome:
        """One attempt within `timeout` seconds, or within the exporter's own time-out where that is shorter."""
        readables = [self._readable(content, self._resource, self._scope) for content in batch]
        with quiet():
            return self._exporter.export(readables, min(timeout, self._target.timeout or timeout))

    def close(self) -> None:
        self._exporter.close()


def resource_attributes(config: SinkConfig) -> dict[str, str]:
    """The resource's attributes that are set, and a service's name in any case."""
    settings = config.settings
    attributes: dict[str, str] = {}
    for number, pair in enumerate(parse_pairs(settings.get("otel_resource_attributes") or ""), 1):
        if pair is None:
            config.diagnose(f"OTEL_RESOURCE_ATTRIBUTES: pair {number} is not key=value; it is left out")
        else:
            attributes[pair[0]] = pair[1]
    service = settings.get("otel_service_name") or attributes.get("service.name") or settings.get("entrypoint")
    attributes["service.name"] = service or _program()
    return attributes


def _program() -> str:
    """The name of the running program: of the package for `python -m`, else of the main script."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return str(spec.name).removesuffix(".__main__")
    script = getattr(main, "__file__", None) or (sys.argv[0] if getattr(sys, "argv", None) else "")
    name = os.path.basename("" if script == "-c" else script)  # at exit Python has taken `__file__` away already
    return os.path.splitext(name)[0] or f"unknown_service:{os.path.basename(sys.executable) or 'python'}"
