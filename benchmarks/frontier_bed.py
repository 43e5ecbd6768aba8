"""What the frontier's benchmark works on: one queue in the frontier and the same one in scrapy-redis' classes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import redis
import redis.asyncio
from scrapy import Request, Spider
from scrapy_redis.dupefilter import RFPDupeFilter
from scrapy_redis.queue import PriorityQueue

from benchmarks.crawl import PROJECT
from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Handle, Lease, Message, Report
from crawler.frontier.server import shards
from crawler.routing import codec, fingerprint

HOME: Final = PROJECT / ".demo" / "frontier"
DOCUMENT: Final = PROJECT / "docs" / "benchmarks-frontier.md"
BATCH: Final = 16  # requests per lease, start, report and ack
PUSHED: Final = shards.BATCH  # requests per push, as the outbox sends them
PIPELINED: Final = 1_000
SPIDER: Final = "products"
TRIES: Final = 100
WAIT_SECONDS: Final = 0.01


@dataclass(frozen=True, slots=True)
class Shape:
    """Which URLs are queued: about 85 characters each, and as pages give them: runs of links of one host."""

    urls: int
    hosts: int
    run: int = 16

    @classmethod
    def of(cls, urls: int) -> Shape:
        """The shape of the bars at any size: a hundred URLs per host, and never too few hosts for a batch."""
        return cls(urls, max(4 * BATCH, urls // 100))

    def __str__(self) -> str:
        return f"{self.urls:,} URLs on {self.hosts:,} hosts"

    def host(self, number: int) -> str:
        """Where request *number* goes."""
        return f"shop-{number // self.run % self.hosts:05d}.example"

    def request(self, number: int) -> Request:
        """Request *number*; there is no end of them."""
        return Request(f"https://{self.host(number)}/category/kitchen-knives/chef-knife-{number:08d}.html?variant=2")


def spider() -> Spider:
    """Whose queue it is."""
    return Spider(SPIDER)


class Ours:
    """The frontier as a worker uses it."""

    def __init__(self, url: str, shape: Shape, config: FrontierConfig | None = None, client: Any = None) -> None:
        self.client: Any = client or redis.asyncio.Redis.from_url(url)
        self.frontier = Frontier(self.client, config or FrontierConfig())
        self.shape = shape
        self._spider = spider()
        self._fingerprinter = fingerprint.RequestFingerprinter()

    def message(self, number: int) -> Message:
        """Request *number* as the frontier takes it, without a delay: nothing here waits for a host."""
        request = self.shape.request(number)
        digest = self._fingerprinter.fingerprint(request)
        return Message(
            host=self.shape.host(number),
            stream=SPIDER,
            spider=SPIDER,
            body=codec.encode(request, self._spider),
            fingerprint=fingerprint.number(digest),
            digest=digest,
        )

    async def push(self, messages: Sequence[Message]) -> int:
        """Deduplicate and queue; returns how many were new."""
        new = 0
        for at in range(0, len(messages), PUSHED):
            new += sum(not outcome for outcome in await self.frontier.push(messages[at : at + PUSHED], forced=True))
        return new

    async def fill(self, first: int, count: int) -> None:
        """Queue *count* requests from number *first* on."""
        for at in range(first, first + count, PIPELINED):
            await self.push([self.message(number) for number in range(at, min(at + PIPELINED, first + count))])

    async def leases(self, limit: int) -> list[Lease]:
        """A batch. Raises LookupError when there is none, not even after what is being acknowledged frees its hosts."""
        for _ in range(TRIES):
            batch = await self.frontier.lease([SPIDER], limit, worker="benchmark")
            if batch.leases:
                return batch.leases
            await asyncio.sleep(WAIT_SECONDS)
        raise LookupError(f"nothing to lease, {batch.queued} requests are queued")

    async def lease(self, limit: int = BATCH) -> list[Handle]:
        """The handles of a batch. Raises LookupError when there is none."""
        return [(lease.id, lease.token) for lease in await self.leases(limit)]

    async def lease_and_ack(self, count: int) -> int:
        """Until *count* are leased; returns how many were acknowledged. As the tasks of a worker do it, the requests of
        a batch are made while the next one is leased, and then acknowledged beside the one after that."""
        done, left = 0, count
        coming = asyncio.create_task(self.leases(min(BATCH, left)))
        acking: asyncio.Task[int] | None = None
        while left > 0:
            batch = await coming
            left -= len(batch)
            if left > 0:
                coming = asyncio.create_task(self.leases(min(BATCH, left)))
            await asyncio.sleep(0)  # it is on its way
            for lease in batch:
                codec.decode(lease.body, self._spider)
            done += await acking if acking else 0
            acking = asyncio.create_task(self._acked([(lease.id, lease.token) for lease in batch]))
        return done + (await acking if acking else 0)

    async def _acked(self, leases: Sequence[Handle]) -> int:
        _, _, acked = await self.frontier.settle(acks=leases)
        return sum(acked)

    async def cycle(self, messages: Sequence[Message]) -> int:
        """All that Redis does for a request: dedupe, push, lease, start, report, ack; returns how many were acked.

        As the outbox of a worker, each call tells what one batch starts, an earlier one reports and another one ends.
        """
        left = new = await self.push(messages)
        done = 0
        started: list[Handle] = []
        reported: list[Handle] = []
        while done < new:
            leased = await self.lease(min(BATCH, left)) if left else []
            left -= len(leased)
            reports = [Report(*handle, 50, 50, 200) for handle in started]
            _, _, acked = await self.frontier.settle(leased, reports, reported)
            started, reported, done = leased, started, done + sum(acked)
        return done


class Stock:
    """scrapy-redis' own duplicate filter and priority queue, with its pickles, called as its scheduler does."""

    def __init__(self, client: redis.Redis, shape: Shape) -> None:
        self.client: Any = client
        self.shape = shape
        self.filter = RFPDupeFilter(client, f"{SPIDER}:dupefilter")
        self.queue = PriorityQueue(client, spider(), "%(spider)s:requests")

    def fill(self, first: int, count: int) -> None:
        """What `push` would store, through a pipeline: a million round trips would only take longer."""
        for at in range(first, first + count, PIPELINED):
            pipe = self.client.pipeline(transaction=False)
            for number in range(at, min(at + PIPELINED, first + count)):
                request = self.shape.request(number)
                pipe.sadd(self.filter.key, self.filter.request_fingerprint(request))
                pipe.zadd(self.queue.key, {self.queue._encode_request(request): -request.priority})
            pipe.execute()

    def push(self, requests: Sequence[Request]) -> int:
        """Deduplicate and queue; returns how many were new."""
        new = [request for request in requests if not self.filter.request_seen(request)]
        for request in new:
            self.queue.push(request)
        return len(new)

    def pop(self, count: int) -> int:
        """Returns how many there were."""
        return sum(self.queue.pop() is not None for _ in range(count))


def emptied(client: Any) -> None:
    """Empty the server, its memory freed when this returns."""
    client.execute_command("FLUSHALL", "SYNC")


def directory(name: str) -> Path:
    """Where the server of that name keeps its data."""
    return HOME / name
