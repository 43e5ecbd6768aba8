"""Downloader middleware that parses a doubtful or very large page in a child process before a callback gets it.

What a callback will do with a page is unknown, but nearly all begin with `response.css` or `response.xpath`. The child
does that first, within PARSE_MAX_SECONDS and PARSE_MAX_MB; a page that takes more reaches no callback, nor does one
that would hold up all others for too long.
"""

from __future__ import annotations

from collections.abc import Awaitable
from time import process_time
from typing import Literal

from scrapy import Request, Selector
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response, TextResponse, XmlResponse

from crawler.errors import TooCostlyError
from crawler.extraction import Document
from crawler.extraction.source import tame
from crawler.middlewares.fleet import FleetMiddleware
from crawler.spiders.reading import ReadingMixin
from crawler.spiders.sandbox import Sandbox
from crawler.worker.leases.held import HeldLease

Kind = Literal["html", "xml"]


class TrialParseMiddleware(FleetMiddleware):
    """Records on a request that its page is too costly; GateMiddleware then keeps it from the callback.

    Our spiders' default callback reads such pages in the child anyway. Known weakness: a callback that parses a page
    more than once, or with another parser than Scrapy's, is not held to the limits.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ConfigError."""
        super().__init__(crawler)
        self._sandbox = Sandbox.from_crawler(crawler)

    def process_response(self, request: Request, response: Response) -> Response | Awaitable[Response]:
        """*response*, at once unless it needs the trial parse."""
        if self._is_read_apart(request) or not isinstance(response, HtmlResponse | XmlResponse):
            return response
        held = self._worker.book.of(request)
        if held is None or not (self._sandbox.is_long(len(response.body)) or _is_doubtful(response)):
            return response
        return self._tried(response, held)

    async def _tried(self, response: HtmlResponse | XmlResponse, held: HeldLease) -> Response:
        document = Document(response.text, response.url)
        try:
            seconds = await self._sandbox.ask(select, document, _kind(response))
            self._sandbox.check_loop(seconds, len(document.html))
        except TooCostlyError as error:
            held.evidence.costly = str(error)
        return response

    def _is_read_apart(self, request: Request) -> bool:
        reading = getattr(type(self._crawler.spider), "reading", ReadingMixin.reading)
        return reading is not ReadingMixin.reading and request.callback is None


def _is_doubtful(response: TextResponse) -> bool:
    body = response.body
    if b"\0" in body[:4]:  # UTF-16: no tag looks like one
        body = response.text.encode(errors="ignore")
    return tame.tamed(body) is not body


def _kind(response: TextResponse) -> Kind:
    return "xml" if isinstance(response, XmlResponse) else "html"


def select(document: Document, kind: Kind) -> float:
    """The CPU seconds of the parse that `response.css` begins with."""
    began = process_time()
    Selector(text=document.html, type=kind)
    return process_time() - began
