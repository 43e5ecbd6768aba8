"""Spider middleware that writes on each item when and by which worker its page was fetched."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Self
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.items import Item
from crawler.meta import RUN_ID
from crawler.middlewares.outputs import OutputMiddleware
from crawler.storage.items import origin
from crawler.storage.items.origin import Origin
from crawler.urls import without_credentials
from crawler.worker.leases.held import HeldLease
from crawler.worker.lookup import worker_if_any


class ProvenanceMiddleware(OutputMiddleware[Response]):
    """Fills `fetched_at` and `source` of our items; for items of other classes storage gets them beside the item.

    Under a lease the time is Redis' clock at the lease plus this worker's monotonic clock since then, so a worker with
    a wrong clock, or one that was frozen, cannot make an old page look new.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """For every crawl; without a lease it uses the local clock."""
        return cls(crawler)

    def begin(self, response: Response) -> Response:
        """Every page."""
        return response

    def each(self, output: Any, page: Response) -> Any:
        """Stamp items, pass everything on."""
        if isinstance(output, Request):
            return output
        found = origin.of(page) or self._note(page)
        if isinstance(output, Item):
            if output.fetched_at is None:
                output.fetched_at = found.fetched_at
            if isinstance(output.source, dict):  # anything else is rejected by name
                output.source = found.source | output.source
        return output

    def _note(self, response: Response) -> Origin:
        worker = worker_if_any(self._crawler)
        held = worker.book.behind(response) if worker is not None else None
        source = {
            "spider": getattr(self._crawler.spider, "name", ""),
            "worker": worker.name if worker is not None else "",
            "request_id": held.lease.id if held is not None else response.meta.get("request_id", ""),
            "tier": response.meta.get("tier", "http"),
            "generation": held.lease.generation if held is not None else "",
            "run": held.run_id if held is not None else response.meta.get(RUN_ID) or "",
        }
        found = Origin(without_credentials(response.url), fetched_at(held, response), source)
        origin.note(response, found)
        return found


def fetched_at(held: HeldLease | None, response: Response) -> datetime:
    """When the page was fetched; the same for every caller with the same response."""
    return _unleased.setdefault(response, datetime.now(UTC)) if held is None else held.fetched_at


_unleased: WeakKeyDictionary[Response, datetime] = WeakKeyDictionary()
