"""Reports events of runs: signed webhooks, and Scrapy signals, neither of which waits for the other."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from crawler import config, run_signals, urls
from crawler import stats as names
from crawler.errors import ConfigError, MessageError
from crawler.extensions.run_listening import AGAIN_MS, RunListener
from crawler.frontier.runs.run_events import GROUP, RunEvent
from crawler.frontier.runs.runs import Runs
from crawler.policy import webhooks
from crawler.utils.masking import mask
from crawler.worker.worker import Worker

ANSWER_SECONDS: Final = 10.0
SIGNALS: Final = "signals"  # their consumer group

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HooksConfig:
    """RUN_WEBHOOK_URL, RUN_WEBHOOK_SECRET, RUN_SIGNALS, RUN_FAILURE_SHARE."""

    url: str
    secret: str
    signals: bool
    failure_share: float

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError, without the URL: it may contain a token."""
        url = str(settings.get("RUN_WEBHOOK_URL") or "")
        try:
            if url:
                urls.check(url)
        except MessageError:
            raise ConfigError("RUN_WEBHOOK_URL", config.shown_uri(url), "an http or https URL") from None
        return cls(
            url=url,
            secret=str(settings.get("RUN_WEBHOOK_SECRET") or ""),
            signals=config.boolean(settings, "RUN_SIGNALS"),
            failure_share=config.number(settings, "RUN_FAILURE_SHARE"),
        )


class RunHooks(RunListener):
    """Any worker delivers due events: an event goes to one of them, then to another, until a 2xx response.

    At least once, within seconds; retried with growing waits for about a day. Receivers recognise repetitions by
    `X-Shoal-Delivery`. The URL is dialled through the guard: a private address needs GUARD_ALLOWED_NETWORKS.
    """

    def __init__(self, crawler: Crawler, hooks: HooksConfig) -> None:
        super().__init__(crawler, GROUP, webhooks.wait_ms)
        self._config = hooks

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        hooks = HooksConfig.from_settings(crawler.settings)
        if not hooks.url:
            raise NotConfigured
        return cls(crawler, hooks)

    async def before(self, worker: Worker) -> None:
        """Look for runs that fail."""
        await find_failing(worker.frontier.runs, self._config.failure_share)

    async def tell(self, event: RunEvent) -> bool:
        """Whether it is done: delivered or given up."""
        problem = await self._post(event, await self.totals(event.run))
        stats = self._crawler.stats
        if not problem:
            stats.inc_value(names.WEBHOOKS)
            return True
        stats.inc_value(names.WEBHOOKS_FAILED)
        told = f"The webhook about run {event.run.id} ({event.event}) failed: {problem}"
        if event.tries >= webhooks.MOST_TRIES:
            logger.error("%s; given up after %d tries", told, event.tries)
            return True
        logger.warning("%s; try %d, the next one in %d s", told, event.tries, webhooks.wait_ms(event.tries) // 1000)
        return False

    async def _post(self, event: RunEvent, totals: Mapping[str, float]) -> str:
        """The failure; empty for a 2xx response."""
        content = webhooks.body(run_signals.NAMES[event.event], event.id, described(event, totals))
        headers = webhooks.headers(self._config.secret, int(time.time()), event.id, content)
        request = Request(
            self._config.url, method="POST", headers=headers, body=content, meta={"download_timeout": ANSWER_SECONDS}
        )
        try:
            response = await self._crawler.engine.downloader.handlers.download_request_async(request)
        except Exception as error:  # noqa: BLE001 - whatever a handler raises, it is tried again
            # Many receivers know their callers by the URL alone, and some errors repeat it.
            return mask(f"{type(error).__name__}: {error}".strip(": "), (self._config.url, request.url))
        return "" if 200 <= response.status < 300 else f"status {response.status}"


class RunSignals(RunListener):
    """One worker sends a signal for each event; those that a killed one was given are sent by another."""

    def __init__(self, crawler: Crawler, hooks: HooksConfig) -> None:
        super().__init__(crawler, SIGNALS, lambda tries: AGAIN_MS * tries)
        self._config = hooks

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        hooks = HooksConfig.from_settings(crawler.settings)
        if not hooks.signals:
            raise NotConfigured
        return cls(crawler, hooks)

    async def before(self, worker: Worker) -> None:
        """Look for runs that fail, unless RunHooks does."""
        if not self._config.url:
            await find_failing(worker.frontier.runs, self._config.failure_share)

    async def tell(self, event: RunEvent) -> bool:
        """Send it; what a receiver raises is logged."""
        totals = await self.totals(event.run)
        await self._crawler.signals.send_catch_log_async(run_signals.BY_EVENT[event.event], run=event.run, stats=totals)
        return True


async def find_failing(runs: Runs, share: float) -> None:
    """Note an event for each unfinished run of which that *share* of ended requests is dead; for none if it is 0."""
    if share:
        for run in await runs.under_way():
            if webhooks.is_failing(run.counts.done, run.counts.dead, share):
                await runs.alarm(run.id)


def described(event: RunEvent, totals: Mapping[str, float]) -> dict[str, Any]:
    """The run as sent to receivers, with its stats; times in Unix ms."""
    fields = asdict(event.run)
    kept = ("id", "name", "spider", "state", "opened_ms", "sealed_ms", "ended_ms", "cancelled_ms", "counts")
    return {name: fields[name] for name in kept} | {"stats": totals}
