"""The downloader of a re-parse: refuses everything."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from twisted.internet.defer import Deferred, fail

from crawler.engine import old_output
from crawler.replay import counts


class ReplayDownloader:
    """No middleware, no handler, no socket."""

    def __init__(self, crawler: Crawler) -> None:
        old_output.install()  # as in a crawl: the engine builds spider middlewares next
        self.active: set[Request] = set()
        self._crawler = crawler

    def fetch(self, request: Request) -> Deferred[Response | Request]:
        """Fails with IgnoreRequest: a callback tried to download something directly."""
        self._crawler.stats.inc_value(counts.REFUSED)
        return fail(IgnoreRequest(f"{request} is not sent: a re-parse makes no request"))

    def needs_backout(self) -> bool:
        """Always False: nothing waits here."""
        return False

    def close(self) -> None:
        """Nothing is open."""
