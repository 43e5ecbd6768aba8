"""Downloader middleware for `allowed_domains`: Scrapy's, which looks at every request's host twice even without any."""

from __future__ import annotations

from collections.abc import Iterator

from scrapy import Request, Spider
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware as ScrapyOffsiteMiddleware


class OffsiteMiddleware(ScrapyOffsiteMiddleware):
    """Idle as long as the spider has no `allowed_domains`; they may still be set, or changed, while it runs.

    At the start they may be an iterator, as in scrapy-redis' example (`filter(None, domain.split(","))`): Scrapy reads
    them more than once, finds none the second time, and takes every request for one to another domain.
    """

    def spider_opened(self, spider: Spider) -> None:
        """Read them once."""
        if isinstance(domains := getattr(spider, "allowed_domains", None), Iterator):
            spider.allowed_domains = list(domains)  # type: ignore[attr-defined]
        super().spider_opened(spider)

    def process_request(self, request: Request) -> None:  # type: ignore[override]
        """Raises IgnoreRequest for other domains."""
        if getattr(self.crawler.spider, "allowed_domains", None):
            super().process_request(request)
