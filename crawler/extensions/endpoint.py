"""A small HTTP server in its own threads, so that it answers while the event loop is busy or stuck."""

from __future__ import annotations

import json
import logging
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, Self
from urllib.parse import parse_qs

from crawler.utils.lookups import ipv4_address

logger = logging.getLogger(__name__)

LOOKUP_SECONDS = 5.0  # the start waits no longer for a name server
CLIENT_SECONDS = 5  # a client that sends no request for this long is cut off
MOST_CLIENTS = 64  # at once: each has a thread and an open file
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """A route's answer."""

    status: int
    body: bytes
    content_type: str = TEXT

    @classmethod
    def unless(cls, reason: str) -> Self:
        """503 with *reason*, unless it is empty."""
        return cls(503, f"{reason}\n".encode()) if reason else cls(200, b"ok\n")

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """JSON; 503 unless `ready`."""
        return cls(200 if told["ready"] else 503, json.dumps(told).encode() + b"\n", "application/json")


Routes = Mapping[str, Callable[[str], ProbeAnswer]]  # by path, or "path?verbose"; given what the client accepts
VERBOSE = "?verbose"


class ProbeServer:
    """Serves GET requests for *routes*; each is called in a thread of its own and must not touch the event loop."""

    def __init__(self, host: str, port: int, routes: Routes) -> None:
        """Listens at once; port 0 lets the system choose. *host* is a name, an IPv4 or an IPv6 address.

        Raises OSError when the port is taken or *host* is not this machine's, or no name server says whose it is.
        """
        if host and ":" not in host:
            host = ipv4_address(host, LOOKUP_SECONDS)
        self._server = _Server((host, port), routes)
        self._thread = threading.Thread(target=self._server.serve_forever, name="endpoint", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The URL it listens on, without a path."""
        host, port = self._server.server_address[:2]
        return f"http://[{host!s}]:{port}" if ":" in str(host) else f"http://{host!s}:{port}"

    def close(self) -> None:
        """Stop listening. Waits up to half a second for the thread."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingTCPServer):  # http.server's own class looks up its host name in DNS, which may be slow
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False  # a slow client does not delay the worker's exit

    def __init__(self, address: tuple[str, int], routes: Routes) -> None:
        self.routes = routes
        self._clients: dict[Any, None] = {}  # the oldest first
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """The oldest client makes room for one too many: those that send a byte now and then hold up nobody."""
        self._clients[request] = None
        if len(self._clients) > MOST_CLIENTS and (oldest := next(iter(self._clients), None)) is not None:
            self._clients.pop(oldest, None)
            with suppress(OSError):  # it has ended just now
                oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """It is answered, or has given up."""
        self._clients.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away, or a bug in a route."""
        logger.warning("Request from %s could not be answered", client_address, exc_info=sys.exception())


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "shoal"
    sys_version = ""
    timeout = CLIENT_SECONDS

    def do_GET(self) -> None:
        routes = self.server.routes
        path, _, query = self.path.partition("?")
        told = routes.get(path + VERBOSE) if "verbose" in parse_qs(query, keep_blank_values=True) else None
        route = told or routes.get(path)
        known = ", ".join(name for name in routes if VERBOSE not in name)
        answer = route(self.headers.get("Accept", "")) if route else ProbeAnswer(404, f"try {known}\n".encode())
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class' name
        """Probes come every few seconds and say nothing new."""
