"""Crawls against the shared frontier: how to start them, and what they left in Redis."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

import redis.asyncio
from scrapy import Request

from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import DeadLetter, Message, PushOutcome, SpiderStats
from crawler.routing import codec
from tests.effort import PATIENCE
from tests.integration.crawl.spiders import WalkSpider
from tests.servers import ScrapyRunner
from tests.zygote import PROJECT_DIR, Forked, Zygote

FAST: dict[str, Any] = {
    "METRICS_PORT": -1,
    "ROBOTSTXT_OBEY": False,
    "DOWNLOAD_DELAY": 0.01,
    "AUTOTHROTTLE_ENABLED": False,
    "RETRY_BASE_SECONDS": 0.02,
    "RETRY_CLASSES": {},
    "FRONTIER_POLL_SECONDS": 0.1,  # while a test waits, half of that takes twice the CPU
    "MAX_IDLE_TIME_BEFORE_CLOSE": 0.1,
    "SHOAL_STORE": False,
}
WORKER: dict[str, Any] = FAST | {
    "SPIDER_MODULES": "tests.integration.crawl.spiders",
    "SHOAL_STORE": True,
    "FRONTIER_ITEM_PIPELINES": {"crawler.pipelines.mongodb.MongoPipeline": 1},
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS": 4,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
}
SHORT_LEASE: dict[str, Any] = {"FRONTIER_LEASE_SECONDS": 1.5, "FRONTIER_START_WITHIN_SECONDS": 1}


@dataclass(frozen=True)
class Left:
    """What a crawl left in the frontier."""

    counters: SpiderStats
    letters: list[DeadLetter]
    in_flight: int  # slots held at all hosts
    gone: list[DeadLetter]  # pages that are not there
    leases: int  # entries of the lease index, slots beside the queue included

    @property
    def states(self) -> dict[str, int]:
        """Where the accepted requests are; missing states are 0."""
        names = ("queued", "delayed", "leased", "dead", "done", "dropped")
        return {name: value for name in names if (value := getattr(self.counters, name))}

    @property
    def reasons(self) -> list[str]:
        """Why there are dead letters."""
        return sorted(letter.reason for letter in self.letters)


@asynccontextmanager
async def open_frontier(redis_url: str, key: str) -> AsyncIterator[Frontier]:
    """The frontier of that name."""
    async with redis.asyncio.from_url(redis_url) as client:
        yield Frontier(client, FrontierConfig(key=key))


async def left(redis_url: str, key: str, spider: str) -> Left:
    """What is in the frontier now."""
    async with open_frontier(redis_url, key) as frontier:
        shards = frontier.shards
        hosts = [name.decode() for name in await shards.client.hkeys(shards.key(0, "hosts"))]
        in_flight = [(await frontier.inspection._host(0, name, 0, 0)).in_flight for name in hosts]
        return Left(
            counters=(await frontier.inspection.stats(spider)).total,
            letters=await frontier.dead.find(spider),
            gone=await frontier.gone.find(spider),
            in_flight=sum(in_flight),
            leases=await shards.client.zcard(shards.key(0, "lease")),
        )


def options(settings: Mapping[str, Any]) -> list[str]:
    """*settings* as `scrapy` takes them."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
    return [part for name, text in texts.items() for part in ("-s", f"{name}={text}")]


def crawl_side_by_side(
    zygote: Zygote, env: Mapping[str, str], settings: Mapping[str, Any], crawls: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, dict[str, Any]], str]:
    """Run *crawls* (spider, settings and arguments of each) in one process; their stats, and the log of all."""
    plan = json.dumps({"settings": dict(settings), "crawls": crawls})
    with closing(zygote.fork([], env, PROJECT_DIR, plan, module="tests.integration.crawl.side_by_side")) as process:
        stats, log = process.communicate(2 * PATIENCE)
        assert process.returncode == 0, log
    return json.loads(stats), log


@dataclass
class Fleet:
    """Workers of the `walk` spider (tests/integration/crawl/spiders.py) on one frontier."""

    runner: ScrapyRunner
    redis_url: str
    key: str
    settings: Mapping[str, Any] = field(default_factory=dict)  # of all its workers, beside those of this module

    def start(self, spider: str = "walk", **settings: Any) -> Forked:
        """One more worker; FAST settings, MongoDB pipeline, 8 requests at once to any host."""
        return self.runner.fork("crawl", spider, *self.options(**settings))

    def options(self, **settings: Any) -> list[str]:
        """Arguments of `scrapy crawl`."""
        return options(WORKER | {"FRONTIER_KEY": self.key} | dict(self.settings) | settings)

    async def push(
        self,
        *urls: str,
        spider: str = "walk",
        stream: str = "",
        hosts: int = 0,
        cap: int = 8,
        delay_ms: int = 0,
        burst: int = 1,
        meta: Mapping[str, Any] | None = None,
        dedupe: bool = True,
        generation: str = "0",
    ) -> None:
        """Queue *urls*, as of that many hosts in turn where *hosts* is given."""
        messages = [
            Message(
                host=f"host-{place % hosts}" if hosts else urlsplit(url).hostname or "",
                stream=stream or spider,
                spider=spider,
                body=codec.encode(Request(url, meta=dict(meta or {})), WalkSpider),
                fingerprint=crc32(url.encode()),
                cap=cap,
                delay_ms=delay_ms,
                burst=burst,
                dedupe=dedupe,
                generation=generation,
            )
            for place, url in enumerate(urls)
        ]
        async with open_frontier(self.redis_url, self.key) as frontier:
            outcomes = await frontier.push(messages)
        assert set(outcomes) == {PushOutcome.ACCEPTED}

    async def left(self, spider: str = "walk") -> Left:
        """What is in the frontier now."""
        return await left(self.redis_url, self.key, spider)

    async def workers(self, number: int) -> None:
        """Return when that many have given a sign of life."""
        async with open_frontier(self.redis_url, self.key) as frontier:
            while len(await frontier.workers.alive(60_000)) < number:  # noqa: ASYNC110 - they are other processes
                await asyncio.sleep(0.05)

    async def until(self, condition: Callable[[Left], bool], spider: str = "walk", seconds: float = PATIENCE) -> Left:
        """The state of the frontier as soon as it fulfils *condition*."""
        deadline = time.monotonic() + seconds
        while not condition(found := await self.left(spider)):
            assert time.monotonic() < deadline, found
            await asyncio.sleep(0.05)
        return found


async def ended(worker: Forked, seconds: float = PATIENCE) -> tuple[int, str]:
    """Exit status and log of *worker*, once it has ended."""
    _, log = await asyncio.to_thread(worker.communicate, timeout=seconds)
    return worker.wait(), log


async def said(worker: Forked, words: str, times: int = 1, seconds: float = PATIENCE) -> None:
    """Return when the log of *worker* has *words* that often."""
    deadline = time.monotonic() + seconds
    while worker.log.count(words) < times:
        assert time.monotonic() < deadline, worker.log
        await asyncio.sleep(0.02)


def count(log: str, stat: str) -> int:
    """A number of the stats at the end of *log*, 0 when it is not there."""
    found = re.search(rf"'{re.escape(stat)}': (\d+)", log)
    return int(found[1]) if found else 0
