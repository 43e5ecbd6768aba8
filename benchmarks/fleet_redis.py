"""What a Redis shard pays with as many hosts as the largest crawls have: the shipped scripts on a real server."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

import redis

from benchmarks.frontier_bed import BATCH, Ours, Shape, emptied
from benchmarks.frontier_meter import Cost
from benchmarks.frontier_size import used_memory

PAGES: Final = 2_000  # of a round
ROUNDS: Final = 5
NOBODY: Final = "nobody"  # a stream without work
COMMANDS: Final = ("evalsha", "eval")


@dataclass(frozen=True, slots=True)
class Paid:
    """With *hosts* hosts: bytes for a host with one URL, seen and queued; us of the main thread for a page's whole
    cycle in batches, for a page that is leased alone, and for a call that finds nothing."""

    hosts: int
    bytes_of_one: float
    page_us: float
    alone_us: float
    nothing_us: float


async def measure(url: str, hosts: int) -> Paid:
    """On the server at *url*, which is emptied before and after."""
    client = redis.Redis.from_url(url)
    emptied(client)
    try:
        ours = Ours(url, Shape(hosts, hosts, run=1))
        async with aclosing(ours.client):
            await ours.frontier.open()
            before = used_memory(client)
            await ours.fill(0, hosts)
            size = (used_memory(client) - before) / hosts
            return Paid(hosts, size, *await _costs(ours, client, hosts))
    finally:
        emptied(client)
        client.close()


async def _costs(ours: Ours, client: redis.Redis, hosts: int) -> tuple[float, float, float]:
    """Medians of a few rounds would say the same: the server counts its own CPU time."""
    size = min(PAGES, hosts // BATCH * BATCH)
    pages = alone = nothing = 0.0
    for number in range(ROUNDS):
        messages = [ours.message(hosts + number * size + at) for at in range(size)]
        before = Cost.so_far(client, COMMANDS)
        await ours.cycle(messages)
        middle = Cost.so_far(client, COMMANDS)
        for _ in range(size // BATCH):
            await ours.frontier.settle(acks=await ours.lease(1))
        after = Cost.so_far(client, COMMANDS)
        for _ in range(size // BATCH):
            await ours.frontier.lease([NOBODY], BATCH, worker="benchmark")
        end = Cost.so_far(client, COMMANDS)
        pages += (middle.cpu - before.cpu) / size
        alone += (after.cpu - middle.cpu) / (size // BATCH)
        nothing += (end.cpu - after.cpu) / (size // BATCH)
    return pages / ROUNDS, alone / ROUNDS, nothing / ROUNDS
