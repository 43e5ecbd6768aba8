"""What one page may load."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.async_api import Request as Asked
from scrapy import Request

from crawler.handlers.browser.main_frame import SCHEMES


@dataclass(frozen=True, slots=True)
class PageLimits:
    """Types of resources that a page does not load, how many it may in all, and how large a document."""

    blocked: frozenset[str]
    requests: int
    body_bytes: int  # 0: no limit

    def most_bytes(self, request: Request) -> int:
        """Of the document that *request* is for, which may set its own limit."""
        most: int = request.meta.get("download_maxsize", self.body_bytes)
        return most

    def blocks(self, asked: Asked) -> bool:
        """Whether the page does without it; what it only prefetches is for the next page, and may be that itself."""
        is_prefetched = "prefetch" in asked.headers.get("sec-purpose", "")
        return is_prefetched or asked.resource_type in self.blocked or urlsplit(asked.url).scheme not in SCHEMES
