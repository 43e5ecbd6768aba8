"""The downloader of a re-parse: it answers from the archive, and refuses whatever is not from there."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from twisted.internet.defer import Deferred, fail, succeed

from crawler.replay import counts
from crawler.replay.scheduler import ReplayScheduler


class ReplayDownloader:
    """No middleware, no handler, no socket."""

    def __init__(self, crawler: Crawler) -> None:
        self.active: set[Request] = set()
        self._crawler = crawler

    def fetch(self, request: Request) -> Deferred[Response | Request]:
        """The archived page; fails with IgnoreRequest for what a callback wants to download itself."""
        assert self._crawler.engine is not None
        assert self._crawler.stats is not None
        scheduler = self._crawler.engine.scheduler
        assert isinstance(scheduler, ReplayScheduler)
        if (response := scheduler.answer(request)) is not None:
            return succeed(response)
        self._crawler.stats.inc_value(counts.REFUSED)
        return fail(IgnoreRequest(f"{request} is not sent: a re-parse makes no request"))

    def needs_backout(self) -> bool:
        """Never: nothing waits here."""
        return False

    def close(self) -> None:
        """Nothing is open."""
