"""What every server of the tests has in common: a thread of its own for as long as the `with` block."""

from __future__ import annotations

import threading
from http.server import HTTPServer
from typing import Self


class Served:
    """Served from `_thread` inside a `with` block; a subclass makes both."""

    _server: HTTPServer
    _thread: threading.Thread

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
