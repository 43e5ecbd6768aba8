"""The HTTP handler: Scrapy's own, which sends nothing that the frontier did not pace, and says when it sent.

The space between two requests to a host counts from the moment the first was written, not from the moment it was
allowed to go: in between lie the connection, TLS, and whatever else the event loop had to do.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urldefrag

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
)
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.web.client import URI

ON_WIRE: Final = "on_wire"  # in meta, for one attempt: what to call when the request has been written

Waiting = dict[bytes, deque[Callable[[], None]]]  # by URL as it is sent


class PacedHTTP11DownloadHandler(HTTP11DownloadHandler):
    """Calls `meta["on_wire"]` when the request has been written, at the latest when its answer is there.

    Does not repeat a request by itself when a kept-alive connection turns out to be closed. Twisted's pool does,
    within milliseconds and past every delay; here such a request fails as any other and comes back in its turn.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._waiting: Waiting = defaultdict(deque)
        self._pool.retryAutomatically = False
        self._pool._factory = lambda *arguments: _Factory(self._waiting, *arguments)  # type: ignore[assignment]

    async def download_request(self, request: Request) -> Response:
        """As Scrapy's."""
        on_wire = request.meta.pop(ON_WIRE, None)
        if on_wire is None:
            return await super().download_request(request)
        url = URI.fromBytes(urldefrag(request.url)[0].encode("ascii")).toBytes()  # type: ignore[no-untyped-call]
        self._waiting[url].append(on_wire)
        try:
            return await super().download_request(request)
        finally:
            on_wire()
            self._forget(url, on_wire)

    def _forget(self, url: bytes, on_wire: Callable[[], None]) -> None:
        waiting = self._waiting[url]
        if on_wire in waiting:
            waiting.remove(on_wire)
        if not waiting:
            del self._waiting[url]


class _Protocol(_LenientHTTP11ClientProtocol):
    """Tells who waits for it when a request has left: the transport writes in the loop's next round."""

    waiting: Waiting

    def request(self, request: Any) -> Any:
        sent = super().request(request)
        if waiting := self.waiting.get(request.absoluteURI):
            loop = asyncio.get_running_loop()
            loop.call_soon(loop.call_soon, waiting.popleft())
        return sent


class _Factory(_LenientHTTP11ClientFactory):
    def __init__(self, waiting: Waiting, *arguments: Any) -> None:
        super().__init__(*arguments)  # type: ignore[no-untyped-call]
        self._waiting = waiting

    def buildProtocol(self, addr: Any) -> _Protocol:  # noqa: N802 - Twisted's
        protocol = _Protocol(self._quiescentCallback)  # type: ignore[no-untyped-call]
        protocol.waiting = self._waiting
        return protocol
