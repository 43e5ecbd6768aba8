"""The HTTP handler: Scrapy's own, which sends nothing that the frontier did not pace."""

from __future__ import annotations

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler


class PacedHTTP11DownloadHandler(HTTP11DownloadHandler):
    """Does not repeat a request by itself when a kept-alive connection turns out to be closed.

    Twisted's pool does, within milliseconds and past every delay; here such a request fails as any other and comes
    back through the retry middleware, in its turn.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool.retryAutomatically = False
