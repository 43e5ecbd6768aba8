"""Crawls against the shared frontier: how to start them, and what they left in Redis."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import redis.asyncio

from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import DeadLetter, SpiderStats
from tests.servers import PROJECT_DIR

FAST: dict[str, Any] = {
    "METRICS_PORT": -1,
    "ROBOTSTXT_OBEY": False,
    "DOWNLOAD_DELAY": 0.01,
    "RETRY_BASE_SECONDS": 0.02,
    "FRONTIER_POLL_SECONDS": 0.05,
    "MAX_IDLE_TIME_BEFORE_CLOSE": 1,
    "ITEM_PIPELINES": {},
}


@dataclass(frozen=True)
class Left:
    """What a crawl left in the frontier."""

    counters: SpiderStats
    letters: list[DeadLetter]
    in_flight: int  # slots held at all hosts
    leases: int  # entries of the lease index, slots beside the queue included

    @property
    def states(self) -> dict[str, int]:
        """Where the accepted requests are; what is not named there is 0."""
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
        hosts = [name async for name in shards.client.scan_iter(shards.key(0, "h:*"))]
        in_flight = [
            (await frontier.census._host(0, name.decode().partition(":h:")[2], 0, 0)).in_flight for name in hosts
        ]
        return Left(
            counters=(await frontier.census.stats(spider)).total,
            letters=await frontier.dead.find(spider),
            in_flight=sum(in_flight),
            leases=await shards.client.zcard(shards.key(0, "lease")),
        )


def options(settings: Mapping[str, Any]) -> list[str]:
    """*settings* as `scrapy` takes them."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
    return [part for name, text in texts.items() for part in ("-s", f"{name}={text}")]


def crawl_side_by_side(
    env: Mapping[str, str], settings: Mapping[str, Any], crawls: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, dict[str, Any]], str]:
    """Run *crawls* (spider, settings and arguments of each) in one process; their stats, and the log of all."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.crawl.side_by_side"],
        cwd=PROJECT_DIR,
        env=dict(env),
        input=json.dumps({"settings": dict(settings), "crawls": crawls}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr
