"""HTTP in a thread with its own event loop: it answers while the main loop is busy or stuck."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from crawler.errors import ConfigError

CLOSE_SECONDS: Final = 2.0  # for requests in progress
CLIENT_SECONDS: Final = 10.0  # for a client to send its request, or to read the response
MOST_CLIENTS: Final = 256  # at once, and
BACKLOG: Final = 64  # that are accepted in one go: well below 1,024, the usual limit of open files

Endpoint = Callable[[Request], Response]
Routes = Mapping[str, Endpoint]


class WebServer:
    """Serves GET requests for *routes*: functions that read memory, each called in a thread."""

    def __init__(self, host: str, port: int, routes: Routes) -> None:
        """Listens at once; port 0 lets the system choose. Raises ConfigError if that fails."""
        self._socket = _listening(host, port)
        app = Starlette(
            routes=[Route(path, endpoint, methods=["GET"]) for path, endpoint in routes.items()],
            exception_handlers={404: _missing(routes)},
        )
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http=_Connection,  # on h11, which takes 64 KB of headers at most
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",  # what is no HTTP is a warning each: its client is told
            backlog=BACKLOG,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=int(CLIENT_SECONDS),
            timeout_graceful_shutdown=int(CLOSE_SECONDS),
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="web", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The URL it listens on, without a path."""
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def close(self) -> None:
        """Stop listening; waits a few seconds at most for requests in progress."""
        self._server.should_exit = True
        self._thread.join(2 * CLOSE_SECONDS)
        self._socket.close()


class _Connection(H11Protocol):
    """A connection that is closed if its client neither sends nor reads: uvicorn would keep it for ever. The oldest one
    makes room where there are too many: without files to open, asyncio logs thousands of errors a second."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start checking until it ends."""
        self.since = self.loop.time()
        super().connection_made(transport)
        open_ones = [one for one in self.connections if isinstance(one, _Connection) and not one.transport.is_closing()]
        if len(open_ones) > MOST_CLIENTS:
            min(open_ones, key=lambda one: one.since).transport.abort()
        self._look_later(None)

    def _look_later(self, answering: RequestResponseCycle | None) -> None:
        self.loop.call_later(CLIENT_SECONDS, self._look, answering)

    def _look(self, before: RequestResponseCycle | None) -> None:
        answering = self.cycle if self.cycle is not None and not self.cycle.response_complete else None
        if self.transport.is_closing():
            return
        if answering is None or answering is before:
            self.transport.abort()
        else:
            self._look_later(answering)


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as error:
        raise _nowhere(host, getattr(error, "strerror", None) or error) from None
    try:
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        if error.errno == errno.EADDRNOTAVAIL:
            raise _nowhere(host, reason) from None
        allowed = f"a port of {host} that can be listened on ({reason}); 0 lets the system choose"
        raise ConfigError("SERVE_PORT", port, allowed) from None


def _nowhere(host: str, reason: object) -> ConfigError:
    return ConfigError("SERVE_HOST", host, f"an address or a host name of this machine ({reason})")


def _missing(routes: Routes) -> Callable[[Request, Exception], Response]:
    words = f"try {', '.join(sorted(routes))}\n"
    return lambda _request, _error: PlainTextResponse(words, 404)
