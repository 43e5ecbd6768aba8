"""Downloader middleware that writes the attempts log. It is nearest to the wire, so it also sees the attempts that
other middlewares retry, follow, or blame on a proxy."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Any, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached

from crawler import urls
from crawler.counting.tallies import OK, UNKNOWN
from crawler.meta import BLOCK, POOL_NAME
from crawler.policy.endings.failures import FailureClass, classify
from crawler.storage import connection
from crawler.storage.attempts import AttemptsConfig, AttemptsLog
from crawler.worker.leases.held import HeldLease
from crawler.worker.lookup import worker_of
from crawler.worker.scheduler import in_use
from crawler.worker.turns.turn import TooLateError


class AttemptsMiddleware:
    """Only appends to the log: changes no request and waits for nothing."""

    def __init__(self, crawler: Crawler, client: connection.Client, config: AttemptsConfig) -> None:
        self._crawler = crawler
        self._client = client
        database = connection.database(client, crawler.settings)
        self._log = AttemptsLog(database, config, crawler.stats, random.Random())  # noqa: S311 - a sample

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off with ATTEMPTS_DAYS = 0, and where the spider does not use the shared frontier."""
        config = AttemptsConfig.from_settings(crawler.settings)
        if not config.days or not in_use(crawler.settings):
            raise NotConfigured
        middleware = cls(crawler, connection.connect(crawler.settings), config)
        crawler.signals.connect(middleware._log.open, signals.spider_opened)
        crawler.signals.connect(middleware._closed, signals.spider_closed)
        return middleware

    def process_response(self, request: Request, response: Response) -> Response:
        """Note an answer."""
        self._note(request, response.status, len(response.body))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note a failure; a request that was never sent is no attempt."""
        if not isinstance(exception, (TooLateError, IgnoreRequest)):
            self._note(request, exception, 0)

    def _note(self, request: Request, result: int | Exception, size: int) -> None:
        self._log.add(partial(self._seen, request, result, size))

    def _seen(self, request: Request, result: int | Exception, size: int) -> Callable[[], dict[str, Any]]:
        worker = worker_of(self._crawler)
        seen = {
            "at": datetime.now(UTC),
            "of": {
                "host": urlparse_cached(request).hostname or "",
                "spider": getattr(self._crawler.spider, "name", ""),
            },
            "outcome": _outcome(result),
            "url": urls.without_credentials(request.url)[: urls.MAX_URL_LENGTH],
            "worker": worker.name,
            "tier": request.meta.get("tier") or self._crawler.settings["TIER"],
            "bytes": size,
            "ms": _milliseconds(request, worker.book.of(request)),
            "request_id": request.meta.get("request_id"),
            "pool": request.meta.get(POOL_NAME),
            **({"status": result} if isinstance(result, int) else {"error": type(result).__name__}),
        }
        return partial(_document, request, seen)

    async def _closed(self) -> None:
        await self._log.close()
        await self._client.close()


def _document(request: Request, seen: dict[str, Any]) -> dict[str, Any]:
    """Built later: block pages are recognised after this middleware has run."""
    if vendor := request.meta.get(BLOCK):
        seen |= {"outcome": str(FailureClass.BLOCKED), "block": str(vendor)}
    return {name: value for name, value in seen.items() if value is not None}


def _outcome(result: int | Exception) -> str:
    found = classify(result)
    return str(found) if found is not None else OK if isinstance(result, int) else UNKNOWN


def _milliseconds(request: Request, held: HeldLease | None) -> int | None:
    """From sending to the head of the response, or to giving up."""
    latency = request.meta.get("download_latency")
    if latency is None and held is not None and held.slot.started_at is not None:
        latency = monotonic() - held.slot.started_at
    return None if latency is None else round(latency * 1000)
