"""Tells storage which page each item is from, whatever its class and however it reaches the pipelines."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.python.failure import Failure

from crawler import scrapy_hooks
from crawler.meta import RUN_ID
from crawler.storage.items import origin
from crawler.storage.items.origin import Origin
from crawler.urls import without_credentials


def follow(crawler: Crawler) -> None:
    """Make `origin.current` available to the pipelines of *crawler* and its handlers of item signals.

    All items pass through the scraper's `start_itemproc_async`, the only place that knows both item and page.
    """
    engine = scrapy_hooks.engine_of(crawler)  # None in pipelines that run without a crawl
    if engine is None:
        return
    start = engine.scraper.start_itemproc_async

    async def started(item: Any, *, response: Response | Failure | None) -> None:
        with origin.being(_origin(crawler, response)):
            await start(item, response=response)

    engine.scraper.start_itemproc_async = started  # type: ignore[method-assign]


def _origin(crawler: Crawler, response: Response | Failure | None) -> Origin:
    """What the middleware noted; less for items that passed none: those of errbacks and of `start`."""
    if isinstance(response, Response) and (noted := origin.of(response)) is not None:
        return noted
    request = getattr(response, "request", None)  # a Failure has one too
    meta = request.meta if isinstance(request, Request) else {}
    url = response.url if isinstance(response, Response) else request.url if isinstance(request, Request) else ""
    ids = {"request_id": meta.get("request_id", ""), "run": meta.get(RUN_ID) or ""}
    source = {"spider": getattr(crawler.spider, "name", "")} | ids
    return Origin(without_credentials(url), datetime.now(UTC), source)
