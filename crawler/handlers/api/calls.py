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
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.policy.api_providers import FAULTS, Call, Provider
from crawler.policy.endings.backoff import full_jitter, retry_after
from crawler.policy.endings.shortages import shortage

REST_SECONDS: Final = 5.0  # pause after the first fault, doubled with each further one
REST_MAX_SECONDS: Final = 300.0

logger = logging.getLogger(__name__)


class ProviderDownError(Exception):
    """The provider is down, or out of reach of this machine. Its message may contain the key, so only the kind of
    failure is reported."""


class CallFailedError(ProviderDownError):
    """This very call failed, by a 5xx or without an answer, for which the page may be to blame."""


class ProviderCalls:
    """*fetch* downloads; *key* is the account's secret. Limits apply per worker."""

    def __init__(
        self, provider: Provider, key: str, fetch: Callable[[Request], Awaitable[Response]], stats: StatsCollector
    ) -> None:
        self.provider = provider
        self._key = key
        self._fetch = fetch
        self._stats = stats
        self._slots = asyncio.Semaphore(provider.concurrency)
        self._next = 0.0
        self._faults = 0
        self._rest_until = 0.0

    def rest(self) -> float:
        """Seconds until the provider may be called again."""
        return max(0.0, self._rest_until - monotonic())

    async def send(
        self, call: Call, values: Mapping[str, Any], leaving: Callable[[], None], *, suspect: bool = False
    ) -> Response:
        """The answer to *call*. Raises ProviderDownError, or DownloadCancelledError for one that is too long. *leaving*
        is called right before the call, and may raise. *suspect*: its failure is the page's, and pauses nobody else."""
        async with self._slots:
            await self._spaced()
            if self.rest():
                raise ProviderDownError
            leaving()
            self._stats.inc_value(names.API_CALLS.format(self.provider.name))
            try:
                response = await self._fetch(self._request(call.filled({**values, "key": self._key})))
            except DownloadCancelledError:
                raise DownloadCancelledError(f"API {self.provider.name}: the answer is too long") from None
            except Exception as error:  # noqa: BLE001 - its words may hold the key
                if lacks := shortage(error):
                    raise self._failed(ProviderDownError(lacks), 0.0) from None
                raise self._failed(CallFailedError(type(error).__name__), 0.0, suspect=suspect) from None
        asked = retry_after(response.headers, datetime.now(UTC))
        if response.status in FAULTS:
            raise self._failed(ProviderDownError(f"status {response.status}"), asked)
        if response.status >= 500:
            raise self._failed(CallFailedError(f"status {response.status}"), asked, suspect=suspect)
        self._faults = 0
        return response

    async def _spaced(self) -> None:
        now = monotonic()
        start = max(now, self._next)
        self._next = start + 1 / self.provider.per_second
        if start > now:
            await asyncio.sleep(start - now)

    def _failed(self, error: ProviderDownError, asked: float, *, suspect: bool = False) -> ProviderDownError:
        self._stats.inc_value(names.API_FAULTS.format(self.provider.name))
        if suspect:
            return error
        self._faults += 1
        jittered = full_jitter(self._faults, REST_SECONDS, REST_MAX_SECONDS, random.uniform)
        self._rest_until = monotonic() + max(asked, jittered, 1.0)
        logger.warning("API %s is paused for %.0f s: %s", self.provider.name, self.rest(), error)
        return error

    def _request(self, call: Call) -> Request:
        body = "" if call.json is None else json.dumps(call.json)
        kind = {"Content-Type": "application/json"} if body else {}
        meta = {"download_timeout": self.provider.timeout_seconds}
        return Request(call.url, method=call.method, headers=kind | dict(call.headers), body=body, meta=meta)
