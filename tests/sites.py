"""A local web site whose pages a test writes down."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


@dataclass(frozen=True)
class Page:
    """One answer. `hold`: not before this event is set."""

    body: str = "<html><title>A page</title></html>"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None


class Site:
    """Serves *pages* by path on 127.0.0.1; other paths are 404. `requested` lists the paths in order."""

    def __init__(self, pages: Mapping[str, Page | Callable[[], Page]]) -> None:
        self.pages = dict(pages)
        self.requested: list[str] = []
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def url(self, path: str = "/") -> str:
        """The address of *path*."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, site: Site) -> None:
        self.site = site
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        self.server.site.requested.append(self.path)
        found = self.server.site.pages.get(self.path, Page("not here", 404))
        page = found if isinstance(found, Page) else found()
        if page.hold is not None:
            page.hold.wait(30)
        body = page.body.encode()
        self.send_response(page.status)
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))} | dict(page.headers)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Tests look at `requested`."""
