"""OTLP over gRPC."""

# grpcio has no types of its own, and its stubs leave these partly open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Sequence

import grpc
from google.protobuf.message import Message

from errorsink.cli.receiver._body import MAX_BODY
from errorsink.cli.receiver._decode import SIGNALS, Malformed, Signal
from errorsink.cli.receiver._records import Received

_OPTIONS = (
    # Without this a second server would take the same port unnoticed, and each would get half of the calls.
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MAX_BODY),
)
_WORKERS = 8


class GrpcReceiver:
    """A server that hands every call's records to `deliver` before it answers.

    Raises:
        OSError: the address can't be listened on.
    """

    def __init__(self, host: str, port: int, deliver: Callable[[Sequence[Received]], None]) -> None:
        self._deliver = deliver
        self._server = grpc.server(
            ThreadPoolExecutor(_WORKERS, "errorsink-otlp-grpc"),
            handlers=[self._service(signal) for signal in SIGNALS],
            options=_OPTIONS,
        )
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        try:
            self.port = self._server.add_insecure_port(address)
        except RuntimeError as error:
            raise OSError(str(error)) from None
        if self.port == 0:
            raise OSError(f"can't listen on {address}")

    def start(self) -> None:
        """Serves on threads of its own."""
        self._server.start()

    def stop(self, grace: float) -> None:
        """Takes no more; what is being answered has `grace` seconds."""
        self._server.stop(grace).wait()

    def _service(self, signal: Signal) -> grpc.GenericRpcHandler[Any, Any]:
        def export(body: bytes, context: grpc.ServicerContext) -> Message:
            try:
                records = signal.from_protobuf(body)
            except Malformed as error:
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            self._deliver(records)
            return signal.response()

        # The body arrives as bytes: what a deserialiser raises would be answered with INTERNAL.
        method = grpc.unary_unary_rpc_method_handler(export, response_serializer=signal.response.SerializeToString)
        return grpc.method_handlers_generic_handler(signal.service, {"Export": method})
