"""HTTP in a thread with an event loop of its own: it answers while the work's loop is busy or stuck."""

from __future__ import annotations

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

from crawler.errors import ConfigError

CLOSE_SECONDS: Final = 2.0  # for requests that are being answered
IDLE_SECONDS: Final = 15  # for which a connection without a request is kept
CONNECTIONS: Final = 200  # at once; beyond that the answer is 503

Endpoint = Callable[[Request], Response]
Routes = Mapping[str, Endpoint]


class WebServer:
    """Serves GET requests of *routes*: functions that read memory, each called in a thread."""

    def __init__(self, host: str, port: int, routes: Routes) -> None:
        """Listens at once, on a port of the system's choice for 0. Raises ConfigError where it cannot."""
        self._socket = _listening(host, port)
        app = Starlette(
            routes=[Route(path, endpoint, methods=["GET"]) for path, endpoint in routes.items()],
            exception_handlers={404: _missing(routes)},
        )
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=int(CLOSE_SECONDS),
            limit_concurrency=CONNECTIONS,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="web", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def close(self) -> None:
        """Stop listening; waits for what is being answered, for a few seconds at most."""
        self._server.should_exit = True
        self._thread.join(2 * CLOSE_SECONDS)
        self._socket.close()


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError("SERVE_HOST", host, f"an address or a host name of this machine ({reason})") from None
    try:
        return socket.create_server(address[:2], family=family, backlog=128)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        allowed = f"a port of {host} that can be listened on ({reason}); 0 lets the system choose"
        raise ConfigError("SERVE_PORT", port, allowed) from None


def _missing(routes: Routes) -> Callable[[Request, Exception], Response]:
    words = f"try {', '.join(sorted(routes))}\n"
    return lambda _request, _error: PlainTextResponse(words, 404)
