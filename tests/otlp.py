"""A receiver of traces on a loopback address: OTLP over HTTP."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.serving import Handler, Served, Server


@dataclass(frozen=True)
class Seen:
    """A span as it came in."""

    name: str
    trace: str
    id: str
    parent: str
    links: tuple[str, ...]  # ids of spans
    failed: bool
    seconds: float
    attributes: dict[str, Any]


class Receiver(Served):
    """Keeps what it is sent, and answers with *status*."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.bodies: list[bytes] = []
        self.lock = threading.Lock()
        super().__init__(_Server(self))

    @property
    def url(self) -> str:
        """Where to send spans."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1/traces"

    @property
    def spans(self) -> list[Seen]:
        """All of them, in the order in which they ended."""
        with self.lock:
            requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        resources = [one for request in requests for one in request.resource_spans]
        return [_seen(span) for one in resources for scope in one.scope_spans for span in scope.spans]


def _seen(span: Any) -> Seen:
    values = {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}
    seconds = (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9
    links = tuple(link.span_id.hex() for link in span.links)
    ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
    return Seen(span.name, *ids, links, span.status.code == 2, seconds, values)


class _Server(Server):
    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(Handler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        receiver = self.server.receiver
        if receiver.status == 200:
            with receiver.lock:
                receiver.bodies.append(body)
        self.send_response(receiver.status)
        self.send_header("Content-Length", "0")
        self.end_headers()
