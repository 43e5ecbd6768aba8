"""`make bench-frontier`: the frontier beside scrapy-redis' classes, on bundled Valkeys of its own.

The same URLs are queued in both; measured are bytes per URL, requests per second, Redis CPU per request, the longest
single operation, and how soon urgent URLs are fetched. Writes docs/benchmarks-frontier.md.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import redis
from rich.console import Console
from scrapy.utils.misc import load_object

from benchmarks import document, frontier_longest, frontier_size, frontier_speed, frontier_urgent
from benchmarks.frontier_bed import DOCUMENT, Ours, Shape, Stock, directory, emptied
from benchmarks.frontier_longest import Stops
from benchmarks.frontier_size import Size
from benchmarks.frontier_speed import Turn
from benchmarks.frontier_urgent import Urgent
from crawler import defaults, embedded
from demo.arguments import add_parts, whole

REWRITE: Final = "auto-aof-rewrite-percentage"
PARTS: Final = ("speed", "longest", "urgent", "memory")
SMALLEST: Final = 6_400  # URLs: a hundred for each of the hosts of a batch
SETTINGS_TOLD: Final = ("appendonly", "appendfsync", "save", "maxmemory-policy")


@dataclass(frozen=True, slots=True)
class Found:
    """All that a run measured; empty what it was not asked for."""

    shape: Shape
    sizes: list[Size]
    turns: list[Turn]
    longest: Stops | None
    urgent: Urgent | None
    server: str

    def publish(self) -> list[str]:
        """Write the document; returns the bars that were missed."""
        missed = frontier_speed.publish(self.turns, self.shape) if self.turns else []
        missed += frontier_longest.publish(self.longest, self.shape) if self.longest else []
        missed += frontier_urgent.publish(self.urgent, self.shape) if self.urgent else []
        missed += frontier_size.publish(self.sizes) if self.sizes else []
        machine = document.machine("scrapy", "scrapy-redis", "redis")
        document.write("machine", f"{machine}. {self.server}.", DOCUMENT)
        return missed


async def run(
    urls: Sequence[str], shape: Shape, rounds: int, calls: int, console: Console, parts: Collection[str] = PARTS
) -> Found:
    """Measure *parts* on two servers at *urls*, which are emptied before and after.

    The longest operations have the second one to themselves: they leave the queue in another order than it was filled
    in, and what another queue beside it costs the allocator is none of theirs.
    """
    first, second = (redis.Redis.from_url(url) for url in urls)
    longest = None
    if "longest" in parts:
        with _emptied(second):
            longest = await _longest(urls[1], shape, calls, console)
    urgent = None
    if "urgent" in parts:
        with _emptied(second):
            urgent = await _urgent(urls[1], shape, console)
    turns: list[Turn] = []
    sizes: list[Size] = []
    if {"speed", "memory"} & set(parts):
        with _emptied(first):
            ours, stock = Ours(urls[0], shape), Stock(first, shape)
            async with aclosing(ours.client):
                await ours.frontier.open()
                sizes = [await frontier_size.of_ours(ours, first), frontier_size.of_stock(stock)]
                console.print(f"{shape} queued in both", highlight=False)
                turns = await frontier_speed.measure(ours, stock, rounds) if "speed" in parts else []
            sizes = sizes + await frontier_size.others(urls[0], first, shape.urls) if "memory" in parts else []
    return Found(shape, sizes, turns, longest, urgent, _server(first))


async def _longest(url: str, shape: Shape, calls: int, console: Console) -> Stops:
    ours = Ours(url, shape)
    async with aclosing(ours.client):
        await ours.frontier.open()
        await ours.fill(0, shape.urls)
    console.print(f"{shape} queued in the frontier alone", highlight=False)
    return await frontier_longest.measure(url, shape, calls)


async def _urgent(url: str, shape: Shape, console: Console) -> Urgent:
    ours = Ours(url, shape)
    async with aclosing(ours.client):
        await ours.frontier.open()
        await frontier_urgent.fill(ours)
        console.print(f"{shape} queued, each host with its delay", highlight=False)
        return await frontier_urgent.measure(ours)


@contextmanager
def _emptied(client: Any) -> Iterator[None]:
    """Without data before and after, and without a fork in the midst of a measurement."""
    emptied(client)
    rewritten_at = client.config_get(REWRITE)[REWRITE]
    client.config_set(REWRITE, 0)
    try:
        yield
    finally:
        client.config_set(REWRITE, rewritten_at)
        emptied(client)


def _server(client: Any) -> str:
    told = ", ".join(f"{name} {client.config_get(name)[name] or repr('')}" for name in SETTINGS_TOLD)
    server = client.info("server")
    maps = Path(f"/proc/{server['process_id']}/maps").read_text()
    allocator = "mimalloc" if "libmimalloc" in maps else client.info("memory")["mem_allocator"]
    return f"Valkey {server['valkey_version']}, {told}, allocator {allocator}"


def main() -> int:
    """Exit status 1 when a bar is missed or a measurement does not come to its end."""
    parser = argparse.ArgumentParser(prog="benchmarks.frontier", description="The frontier beside scrapy-redis")
    add_parts(parser, PARTS)
    parser.add_argument("--urls", type=whole(SMALLEST), default=1_000_000, help="queued in each (default: 1,000,000)")
    parser.add_argument("--rounds", type=whole(1), default=21, help="pairs of turns (default: 21)")
    parser.add_argument(
        "--calls", type=whole(1), default=frontier_longest.CALLS, help="of each operation (default: 1,000)"
    )
    given = parser.parse_args()
    urls = [
        embedded.ensure(directory(name), mongodb=False, preferred_ports=False).redis_url
        for name in ("services", "alone")
    ]
    loop_factory = load_object(defaults.ASYNCIO_EVENT_LOOP)  # a worker's
    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            shape = Shape.of(given.urls)
            found = runner.run(run(urls, shape, given.rounds, given.calls, Console(), given.parts))
    except (LookupError, TimeoutError) as error:
        sys.stderr.write(f"bench-frontier: {error}\n")
        return 1
    missed = found.publish()
    for line in missed:
        sys.stderr.write(f"bench-frontier: {line}\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
