"""Downloader middleware for `allowed_domains`: Scrapy's, which looks at every request's host twice even without any."""

from __future__ import annotations

from scrapy import Request
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware as ScrapyOffsiteMiddleware


class OffsiteMiddleware(ScrapyOffsiteMiddleware):
    """Idle as long as the spider has no `allowed_domains`; they may still be set, or changed, while it runs."""

    def process_request(self, request: Request) -> None:  # type: ignore[override]
        """Raises IgnoreRequest for other domains."""
        if getattr(self.crawler.spider, "allowed_domains", None):
            super().process_request(request)
