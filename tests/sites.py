"""A local web site whose pages a test writes down."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

from tests.effort import PATIENCE
from tests.serving import Handler, Served, Server

LATE = 0.1  # seconds by which a request may come in after it was sent, over a busy proxy say
TICK = 0.012  # seconds by which the kernel's word on when a request came in may be off: a clock of 100 Hz, and rounding
LAST_DATA_RECEIVED = 52  # where Linux' tcp_info has the milliseconds since the last data came in


@dataclass(frozen=True)
class Page:
    """One answer. `hold`: not before this event is set."""

    body: str | bytes = "<html><title>A page</title></html>"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None


@dataclass(frozen=True)
class Received:
    """One request; `at` is when it came in, in monotonic seconds."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: str
    at: float


class Site(Served):
    """Serves *pages* by path on a loopback address, over *tls* if given, at *port* or any; other paths are 404.
    `received` lists the requests in order of arrival."""

    def __init__(
        self,
        pages: Mapping[str, Page | Callable[[], Page]],
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
        port: int = 0,
    ) -> None:
        self.pages = dict(pages)
        self.received: list[Received] = []
        self._noting = threading.Lock()
        self._scheme = "https" if tls else "http"
        server = _Server(self, host, port)
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        super().__init__(server)

    @property
    def requested(self) -> list[str]:
        """The paths that were asked for, in order."""
        return [request.path for request in self.received]

    @property
    def gaps(self) -> list[float]:
        """Seconds between consecutive requests, accurate to LATE."""
        return [after.at - before.at for before, after in pairwise(self.received)]

    def last(self, path: str) -> Received:
        """The last request for *path*."""
        return next(request for request in reversed(self.received) if request.path == path)

    def url(self, path: str = "/") -> str:
        """The address of *path*."""
        host, port = self._server.server_address[:2]
        return f"{self._scheme}://{host!s}:{port}{path}"

    def note(self, request: Received) -> None:
        """Add it to `received`; of two within a tick of the kernel's clock the one that was read first."""
        with self._noting:
            place = len(self.received)
            while place and self.received[place - 1].at > request.at + TICK:
                place -= 1
            self.received.insert(place, request)

    async def asked(self, number: int, seconds: float = PATIENCE) -> None:
        """Return when that many requests have come in."""
        deadline = time.monotonic() + seconds
        while len(self.received) < number:
            assert time.monotonic() < deadline, self.requested
            await asyncio.sleep(0.01)


class _Server(Server):
    def __init__(self, site: Site, host: str, port: int) -> None:
        self.site = site
        super().__init__((host, port), _Handler)


class _Handler(Handler):
    server: _Server

    def do_GET(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        self.server.site.note(Received(self.command, self.path, dict(self.headers), sent, came_at(self.connection)))
        found = self.server.site.pages.get(self.path, Page("not here", 404))
        page = found if isinstance(found, Page) else found()
        if page.hold is not None:
            page.hold.wait()
        body = page.body.encode() if isinstance(page.body, str) else page.body
        self.send_response(page.status)
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))} | dict(page.headers)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET


@contextmanager
def nobody() -> Iterator[str]:
    """Host and port that refuse connections, and that nobody else is given meanwhile."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{closed.getsockname()[1]}"


def came_at(connection: socket.socket) -> float:
    """When the last data came in, in monotonic seconds, however late the thread that asks had its turn."""
    while True:
        before = time.monotonic()
        known = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        if time.monotonic() - before < 0.001:  # else it was interrupted in between
            ago_ms: int = struct.unpack_from("I", known, LAST_DATA_RECEIVED)[0]
            return before - ago_ms / 1000
