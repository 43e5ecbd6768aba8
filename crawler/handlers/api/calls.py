"""Calls to one scraping API: concurrency, rate, and the pause after a failure."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final

from scrapy import Request
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.policy.backoff import full_jitter, retry_after
from crawler.policy.providers import FAULTS, Call, Provider

REST_SECONDS: Final = 5.0  # pause after the first fault, doubled with each further one
REST_MAX_SECONDS: Final = 300.0

logger = logging.getLogger(__name__)


class ProviderDownError(Exception):
    """The provider is down. Its message may contain the key, so only the kind of failure is reported."""


class ProviderCalls:
    """*fetch* downloads; *key* is the account's secret. Limits apply per worker."""

    def __init__(
        self,
        provider: Provider,
        key: str,
        fetch: Callable[[Request], Awaitable[Response]],
        stats: StatsCollector,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.provider = provider
        self._key = key
        self._fetch = fetch
        self._stats = stats
        self._clock = clock
        self._slots = asyncio.Semaphore(provider.concurrency)
        self._next = 0.0
        self._faults = 0
        self._rest_until = 0.0

    def rest(self) -> float:
        """Seconds until the provider may be called again."""
        return max(0.0, self._rest_until - self._clock())

    async def send(self, call: Call, values: Mapping[str, Any], leaving: Callable[[], None]) -> Response:
        """The answer to *call*; raises ProviderDownError. *leaving* is called right before the call, and may raise."""
        async with self._slots:
            await self._spaced()
            if self.rest():
                raise ProviderDownError
            leaving()
            self._stats.inc_value(names.API_CALLS.format(self.provider.name))
            try:
                response = await self._fetch(self._request(call.filled({**values, "key": self._key})))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is about the provider
                raise self._down(type(error).__name__, 0.0) from None
        if response.status in FAULTS or response.status >= 500:
            header = (response.headers.get("Retry-After") or b"").decode("latin-1")
            raise self._down(f"status {response.status}", retry_after(header, datetime.now(UTC)))
        self._faults = 0
        return response

    async def _spaced(self) -> None:
        now = self._clock()
        start = max(now, self._next)
        self._next = start + 1 / self.provider.per_second
        if start > now:
            await asyncio.sleep(start - now)

    def _down(self, reason: str, asked: float) -> ProviderDownError:
        self._faults += 1
        jittered = full_jitter(self._faults, REST_SECONDS, REST_MAX_SECONDS, random.uniform)
        self._rest_until = self._clock() + max(asked, jittered, 1.0)
        self._stats.inc_value(names.API_FAULTS.format(self.provider.name))
        logger.warning("API %s is paused for %.0f s: %s", self.provider.name, self.rest(), reason)
        return ProviderDownError(reason)

    def _request(self, call: Call) -> Request:
        body = "" if call.json is None else json.dumps(call.json)
        kind = {"Content-Type": "application/json"} if body else {}
        meta = {"download_timeout": self.provider.timeout_seconds}
        return Request(call.url, method=call.method, headers=kind | dict(call.headers), body=body, meta=meta)
