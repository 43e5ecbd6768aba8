"""The download handlers of the tiers beyond http, built when a worker of such a tier starts."""

from __future__ import annotations

import asyncio
from typing import cast

from scrapy import Request, signals
from scrapy.core.downloader.handlers import DownloadHandlerProtocol
from scrapy.crawler import Crawler
from scrapy.exceptions import NotSupported
from scrapy.utils.misc import build_from_crawler

from crawler import config
from crawler.errors import ConfigError
from crawler.handlers import guard_check
from crawler.policy.tiers import TIERS
from crawler.worker.lease_queue import served_tiers


class TierHandlers:
    """One handler per tier in TIER, by TIER_HANDLERS; raises ConfigError for one that is unusable or has no guard."""

    def __init__(self, crawler: Crawler) -> None:
        paths = config.mapping(crawler.settings, "TIER_HANDLERS")
        self._handlers: dict[str, DownloadHandlerProtocol] = {}
        for tier in served_tiers(crawler.settings):
            if tier == TIERS[0]:
                continue
            if tier not in paths:
                raise ConfigError("TIER_HANDLERS", paths, f"a dict that names a download handler for tier {tier}")
            self._handlers[tier] = cast(
                "DownloadHandlerProtocol",
                build_from_crawler(guard_check.guarded("TIER_HANDLERS", paths[tier]), crawler),
            )
        crawler.signals.connect(self._close, signals.engine_stopped)

    def of(self, request: Request) -> DownloadHandlerProtocol | None:
        """The handler for the request's tier, `meta["tier"]`; None for http and for requests without a lease
        (robots.txt)."""
        tier = request.meta.get("tier", TIERS[0])
        if tier == TIERS[0]:
            return None
        if (handler := self._handlers.get(tier)) is None:
            raise NotSupported(f"{request} is for tier {tier}, which is not in this worker's TIER")
        return handler

    async def _close(self) -> None:
        await asyncio.gather(*(handler.close() for handler in self._handlers.values()))
