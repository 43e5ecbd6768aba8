"""`make bench-fleet`: 1,000,000 hosts and 100,000,000 URLs in simulated time; writes docs/benchmarks-fleet.md.

No cluster of that size is at hand, so this is a simulation of measured parts. Which host is leased when is decided by
a model of the frontier's scripts, to which a test compares the scripts themselves, call by call. What a page costs a
worker is measured by `make bench-wide`, what it costs Redis here: by the shipped scripts on a real server that holds as
many hosts. A few hosts have most of the pages (a Pareto distribution). Workers are used to 60 % of a core and Redis to
50 % of its main thread, as in capacity.md. A day is simulated at the most.

Not simulated: links found on the way, failures, hosts that ask for less, the network, and a Redis that answers later
the busier it is.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Final

from rich.console import Console

from benchmarks import document
from benchmarks.crawl import PROJECT
from benchmarks.fleet_crawl import Crawl, Fleet, World, simulate
from benchmarks.fleet_policy import Kind
from benchmarks.fleet_redis import Paid, measure
from benchmarks.frontier_bed import directory
from crawler import embedded
from demo.arguments import whole
from docs.capacity import BUSY, REDIS_BUSY, Measured

DOCUMENT: Final = PROJECT / "docs" / "benchmarks-fleet.md"
CORES: Final = 2
KINDS: Final = ((Kind(1_000, 250), 0.80), (Kind(5_000, 1_000), 0.15), (Kind(30_000, 2_000), 0.05))
# Workers, slots each, shards: for 100 and 1,000 million pages a day, with too little of something, and with more.
FLEETS: Final = ((9, 128, 1), (88, 32, 4), (88, 128, 1), (88, 128, 5), (440, 128, 25))


def crawls(world: World, measured: Measured, paid: Paid, fleets: Sequence[tuple[int, int, int]]) -> list[Crawl]:
    """Each fleet crawls the same world; two at a time."""
    worker, shard = 1000 * BUSY / measured.wide_ms, 1e6 * REDIS_BUSY / paid.page_us
    made = [Fleet(*fleet, worker, shard) for fleet in fleets]
    if world.hosts < 100_000:  # no process is worth its start
        return [simulate(world, fleet) for fleet in made]
    world.made()
    with ProcessPoolExecutor(CORES) as pool:
        return list(pool.map(simulate, [world] * len(made), made))


def publish(world: World, measured: Measured, paid: Paid, found: Sequence[Crawl]) -> None:
    """Write the document."""
    kinds = "; ".join(
        f"{share:.0%} with a delay of {kind.delay_ms / 1000:g} s and answers after {kind.latency_ms / 1000:g} s"
        for kind, share in world.kinds
    )
    about = f"{world.hosts:,} hosts ({kinds}), {world.urls:,} URLs, all queued at first."
    head = f"## A large fleet: `make bench-fleet`\n\n{_about()}\n\n{about}"
    document.write("fleet", f"{head}\n\n{document.rows(HEAD, list(map(_row, found)))}", DOCUMENT)
    _, each, url = memory(measured, paid, world)
    text = f"""## What a shard pays

Us of Redis' main thread, with {paid.hosts:,} hosts on one server.

{document.rows(REDIS_HEAD, [_paid(paid, each, url)])}"""
    document.write("redis", text, DOCUMENT)
    document.write("machine", document.machine("redis"), DOCUMENT)


HEAD: Final = (
    *("workers", "slots each", "Redis shards", "pages/s at first", "most pages limited by", "90 % done after"),
    *("done in a day", "of what is allowed", "hosts left", "lease calls/s", "Redis busy"),
)
REDIS_HEAD: Final = (
    *("hosts", "page, in batches", "page leased alone", "call that finds nothing", "bytes of a host", "bytes of a URL"),
)


def _about() -> str:
    return (__doc__ or "").partition("\n\n")[2].strip()


def _row(crawl: Crawl) -> list[str]:
    fleet = crawl.fleet
    ninety = f"{crawl.ninety_ms / 3_600_000:.1f} h" if crawl.ninety_ms else "not in a day"
    return [
        *(f"{fleet.workers:,}", str(fleet.slots), str(fleet.shards), f"{crawl.rate:,.0f}"),
        *(crawl.limit, ninety, f"{crawl.done / crawl.urls:.1%}", f"{crawl.done / crawl.allowed:.1%}"),
        *(f"{crawl.hosts_left:,}", f"{crawl.rate / fleet.batch:,.0f}"),
        f"{crawl.rate / fleet.shards / fleet.shard_pages * REDIS_BUSY:.0%}",
    ]


def _paid(paid: Paid, each: float, url: float) -> list[str]:
    costs = (paid.page_us, paid.alone_us, paid.nothing_us)
    return [f"{paid.hosts:,}", *(f"{cost:.1f}" for cost in costs), f"{each:.0f}", f"{url:.1f}"]


def memory(measured: Measured, paid: Paid, world: World) -> tuple[float, float, float]:
    """Bytes of all shards, of a host, and of a URL queued and seen: of one URL on a host, and of a hundred."""
    each = (paid.bytes_of_one - measured.whole_bytes) / (1 - 1 / 100)
    url = paid.bytes_of_one - each
    return world.hosts * each + world.urls * url, each, url


def main() -> int:
    """Some minutes, of which most are real: a million hosts are pushed into a real server."""
    parser = argparse.ArgumentParser(prog="benchmarks.simulate_fleet", description="A large fleet in simulated time")
    parser.add_argument("--hosts", type=whole(1_000), default=1_000_000)
    parser.add_argument("--urls", type=whole(10_000), default=100_000_000)
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave docs/ alone")
    given = parser.parse_args()
    console, measured = Console(), Measured.read()
    url = embedded.ensure(directory("fleet"), mongodb=False, preferred_ports=False).redis_url
    paid = asyncio.run(measure(url, given.hosts))
    console.print(f"measured: {paid}", highlight=False)
    world = World(given.hosts, given.urls, KINDS)
    found = crawls(world, measured, paid, FLEETS)
    for crawl in found:
        console.print(dict(zip(HEAD, _row(crawl), strict=True)), highlight=False)
    if given.write:
        publish(world, measured, paid, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
