"""Keeps an idle worker waiting for work, logs what it waits for, and closes it after MAX_IDLE_TIME_BEFORE_CLOSE."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from math import ceil
from time import monotonic
from typing import Final, Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider, NotConfigured

from crawler import config, scrapy_hooks
from crawler import stats as names
from crawler.frontier.errors import FrontierError
from crawler.frontier.frontier import Frontier
from crawler.frontier.inspection.held_back import held_back
from crawler.frontier.inspection.waiting import WaitingHost, last_lease_ms
from crawler.frontier.server import server_check
from crawler.utils.durations import in_words
from crawler.utils.plural import several
from crawler.worker.lookup import worker_of
from crawler.worker.scheduler import in_use
from crawler.worker.upkeep.seed_reader import start_key
from crawler.worker.worker import Worker

TELL_SECONDS: Final = 60.0  # between looks at what an idle worker waits for
REPEAT_SECONDS: Final = 600.0  # between log lines about it, while it is the same
LOOK_SECONDS: Final = 0.5  # until the next check, while there is nothing to log
LOOKS: Final = 10  # checks that do not wait for the engine's heartbeat: what has just ended is on its way to Redis
MOST_TOLD: Final = 5  # hosts

logger = logging.getLogger(__name__)


class IdleExtension:
    """A spider with a start-URLs key waits for work; any other ends once the fleet has nothing left for it.

    MAX_IDLE_TIME_BEFORE_CLOSE as in scrapy-redis, but a worker also waits while others still hold work.

    Leases of killed workers come back and delayed retries come due: a worker that left earlier would leave them behind.
    """

    def __init__(self, crawler: Crawler, max_idle_seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._crawler = crawler
        self._max_idle = max_idle_seconds
        self._clock = clock
        self._said = False
        self._told_at = -TELL_SECONDS
        self._logged: tuple[object, float] | None = None  # what was waited for, and when that was said
        self._looks = LOOKS
        self._telling: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off where the spider does not use the shared frontier."""
        if not in_use(crawler.settings):
            raise NotConfigured
        extension = cls(crawler, config.number(crawler.settings, "MAX_IDLE_TIME_BEFORE_CLOSE"))
        crawler.signals.connect(extension._idle, signals.spider_idle)
        return extension

    def _idle(self, spider: Spider) -> None:
        worker = worker_of(self._crawler)
        key, finished = start_key(spider), worker.idleness.seconds()
        longest = getattr(spider, "max_idle_time", None) or self._max_idle  # scrapy-redis' name
        if (longest or not key) and finished and finished >= longest:
            return  # the engine may close
        if not self._said and finished and key:
            self._said = True
            self._say_how_to_push(spider.name, key, server_check.redis_cli(worker.frontier.client))
        if not finished and self._clock() - self._told_at >= TELL_SECONDS:
            self._told_at = self._clock()
            self._telling = asyncio.get_running_loop().create_task(self._tell(worker, spider.name))
        raise DontCloseSpider

    def _say_how_to_push(self, spider: str, key: str, redis_cli: str) -> None:
        how = f"`scrapy push {spider} URL...` or `{redis_cli} LPUSH {key} URL`"
        logger.info("Waiting for work: nothing is queued for %s. Push URLs with %s", spider, how)
        count = self._crawler.stats.get_value
        if count(names.DUPLICATES) and not count(names.PUSHED) and not count(names.LEASED):
            how = f"`scrapy push {spider} URL --recrawl` crawls them, and all they lead to, again"
            logger.info("The start requests of %s are known to its crawl: %s", spider, how)

    async def _tell(self, worker: Worker, spider: str) -> None:
        """Log which hosts the crawl waits for."""
        try:
            hosts = await worker.frontier.inspection.waiting(spider, MOST_TOLD)
            told = [f"{one.host} ({several(one.pages, 'page')}, {_when(one)}: {one.why})" for one in hosts]
            back = await _held_back(worker, spider)
            if not told and not back and not self._looks and not worker.outbox.ending():  # that is on its way to Redis
                told = await leased_elsewhere(worker.frontier, spider)
                told = [] if worker.book.in_hand() else told  # this worker leases meanwhile
        except FrontierError as error:
            logger.debug("Redis did not answer what the crawl waits for: %s", error)
            return
        if self._is_news(([one.host for one in hosts], bool(told), len(back))):
            if told:
                logger.info("Idle, waiting for %s", "; ".join(told))
            if back:
                logger.info("Idle, as requests are held back: %s", "; ".join(back))
        if not told and not back:
            self._told_at = self._clock() - TELL_SECONDS + LOOK_SECONDS
            self._look_soon()

    def _is_news(self, what: object) -> bool:
        """Whether *what* is waited for is to be said: it has changed, or was said long ago."""
        now = self._clock()
        if self._logged and self._logged[0] == what and now - self._logged[1] < REPEAT_SECONDS:
            return False
        self._logged = what, now
        return True

    def _look_soon(self) -> None:
        if self._looks:
            self._looks -= 1
            asyncio.get_running_loop().call_later(LOOK_SECONDS, scrapy_hooks.wake, self._crawler.engine)


def _when(one: WaitingHost) -> str:
    ends = "" if one.given_up_ms is None else f", given up in {in_words(one.given_up_ms / 1000)}"
    return f"next try in {in_words(one.until_ms / 1000)}{ends}"


async def _held_back(worker: Worker, spider: str) -> list[str]:
    """What holds back requests of *spider* that their hosts do not."""
    frontier, pauses = worker.frontier, worker.pauses
    stats, workers = await frontier.inspection.stats(spider), await frontier.workers.alive()
    told = held_back(stats, workers, await frontier.control.said(), await frontier.budgets.closed(stats.now_ms))
    here = [f"leasing is paused: {pauses.reason}"] if pauses.reason else []
    return here + told[:MOST_TOLD]


async def leased_elsewhere(frontier: Frontier, spider: str) -> list[str]:
    """What other workers have leased, which may have been killed; while counters are damaged, that nobody knows."""
    stats = await frontier.inspection.stats(spider)
    if stats.uncounted:
        return ["counters in Redis that were damaged: within a minute they are counted again"]
    if (pages := stats.total.leased) <= 0:
        return []
    live = [one for one in await frontier.workers.alive() if one.info.get("spider") == spider]
    seconds = ceil(await last_lease_ms(frontier.shards, stats.now_ms) / 1000)
    held = "a page that another worker has" if pages == 1 else f"{pages} pages that other workers have"
    return [f"{held} leased ({len(live) - 1} live); what a killed one had comes back in {seconds} s at the latest"]
