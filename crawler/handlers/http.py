"""The HTTP handler: Scrapy's own, which sends nothing that the frontier did not pace, and says when it sent.

The space between two requests to a host counts from the moment the first was written, not from the moment it was
allowed to go: in between lie the connection, TLS, and whatever else the event loop had to do. So the last look at the
clock, the writing and the note of it follow each other without a break.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urldefrag

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
)
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.internet.abstract import FileDescriptor
from twisted.internet.defer import Deferred, fail
from twisted.internet.interfaces import IHandshakeListener, ISSLTransport
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from twisted.web.client import URI, ResponseNeverReceived
from zope.interface import implementer  # type: ignore[import-untyped]

from crawler.frontier.pacing import MissedError

DEPARTURE: Final = "departure"  # in meta, for one attempt


@dataclass(frozen=True, slots=True, eq=False)
class Departure:
    """What is called around the writing of a request: whether it is still *allowed*, and that it was *sent*.

    A handler that sees the writing only afterwards calls *leaving* before it, and *sent* with how many seconds ago.
    """

    allowed: Callable[[], bool]
    sent: Callable[..., None]
    leaving: Callable[[], None] = lambda: None


Waiting = dict[bytes, deque[Departure]]  # by URL as it is sent


class PacedHTTP11DownloadHandler(HTTP11DownloadHandler):
    """Calls `meta["departure"]` right before and right after the request is written; raises MissedError if too late.

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
        departure = request.meta.pop(DEPARTURE, None)
        if departure is None:
            return await super().download_request(request)
        url = URI.fromBytes(urldefrag(request.url)[0].encode("ascii")).toBytes()  # type: ignore[no-untyped-call]
        self._waiting[url].append(departure)
        try:
            return await super().download_request(request)
        finally:
            self._forget(url, departure)

    def _forget(self, url: bytes, departure: Departure) -> None:
        waiting = self._waiting[url]
        if departure in waiting:
            waiting.remove(departure)
        if not waiting:
            del self._waiting[url]


@implementer(IHandshakeListener)
class _Protocol(_LenientHTTP11ClientProtocol):
    """Checks, writes and notes in one go, once there is a connection that lets the request out."""

    waiting: Waiting
    _secured = False
    _held_back: Deferred[None] | None = None

    def request(self, request: Any) -> Any:
        if self._secured or not ISSLTransport.providedBy(self.transport):
            return self._depart(request)
        self._held_back = Deferred(lambda _: cast("Any", self.transport).abortConnection())
        return self._held_back.addCallback(lambda _: self._depart(request))

    def handshakeCompleted(self) -> None:  # noqa: N802 - Twisted's
        self._secured = True
        if held_back := self._take_held_back():
            held_back.callback(None)

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's
        if held_back := self._take_held_back():
            held_back.errback(ResponseNeverReceived([reason]))  # type: ignore[no-untyped-call]
        super().connectionLost(reason)  # type: ignore[no-untyped-call]

    def _take_held_back(self) -> Deferred[None] | None:
        held_back, self._held_back = self._held_back, None
        return held_back

    def _depart(self, request: Any) -> Any:
        if not (waiting := self.waiting.get(request.absoluteURI)):
            return super().request(request)
        departure, transport = waiting.popleft(), cast("Any", self.transport)
        if not departure.allowed():
            transport.loseConnection()
            return fail(MissedError())
        response = super().request(request)
        _flush(transport)
        departure.sent()
        return response


def _flush(transport: Any) -> None:
    """Send now what Twisted would send in the event loop's next round, or with TLS in the one after that."""
    if (gathered := getattr(transport, "_aggregator", None)) is not None:
        gathered.flush()
        transport = transport.transport
    if isinstance(transport, FileDescriptor):
        transport.doWrite()  # type: ignore[no-untyped-call]  # an error is met again by the loop


class _Factory(_LenientHTTP11ClientFactory):
    def __init__(self, waiting: Waiting, *arguments: Any) -> None:
        super().__init__(*arguments)  # type: ignore[no-untyped-call]
        self._waiting = waiting

    def buildProtocol(self, addr: Any) -> _Protocol:  # noqa: N802 - Twisted's
        protocol = _Protocol(self._quiescentCallback)  # type: ignore[no-untyped-call]
        protocol.waiting = self._waiting
        return protocol
