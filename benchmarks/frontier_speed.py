"""How fast a worker is served, and what that costs Redis.

Leased and acknowledged are batches of 16 through the `Frontier` class, each request decoded while the next batch is
leased, as in a worker; popped are single requests through scrapy-redis' queue, which acknowledges nothing. The whole
cycle of the frontier is dedupe, push (48 at a time), lease, and in one call, as a worker's outbox sends them, the start
of a batch, the report of the one before and the ack of the one before that (16 each); scrapy-redis' cycle is dedupe,
push and pop.

Redis CPU is that of the server's main thread. It has two parts. One is spent inside commands and depends on little but
the processor. The other is spent on round trips: waking up, reading, writing, appending to the journal. A round trip
takes 5 us on one machine and 30 us on another, or on the same one at another time. scrapy-redis makes three per
request, the frontier one for many requests. So the ratio of the sums says more about the machine than about the two: it
is given with its parts, and with the cost of a round trip at which both are equal. If round trips are cheaper than
that, the frontier costs Redis more. What that buys: hosts in turn, each at its pace and under the strictest rule in
force, for the whole fleet at once; leases that outlive their workers; reports that find the pace and open breakers;
counters by run. scrapy-redis' queue does none of this, and requests it has handed out are lost with their worker.

Short turns of the two alternate on one server over the same standing queue, and adjacent turns are compared, so that
other load affects both.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks import document
from benchmarks.crawl import SHOAL, STOCK
from benchmarks.frontier_bed import BATCH, DOCUMENT, Ours, Stock
from benchmarks.frontier_meter import Cost

TURN: Final = 2_000  # requests
RATE_BAR: Final = 2.0
TRIPS_BAR: Final = 0.1
OUR_COMMANDS: Final = ("evalsha", "eval")
STOCK_COMMANDS: Final = ("sadd", "zadd", "multi", "exec")


@dataclass(frozen=True, slots=True)
class Turn:
    """One pair of neighbours: requests per second, and what a request costs Redis in the whole cycle."""

    our_rate: float
    stock_rate: float
    ours: Cost
    stock: Cost

    @property
    def rate(self) -> float:
        """How many times faster ours is."""
        return self.our_rate / self.stock_rate

    @property
    def cpu(self) -> float:
        """How many times the CPU of scrapy-redis ours takes."""
        return self.ours.cpu / self.stock.cpu

    @property
    def even(self) -> float:
        """Us of a round trip at which both cost the same."""
        return (self.ours.commands - self.stock.commands) / (self.stock.trips - self.ours.trips)


async def measure(ours: Ours, stock: Stock, rounds: int) -> list[Turn]:
    """*rounds* turns of each; the standing queues hold ours.shape, and shrink a little."""
    size = min(TURN, ours.shape.urls // (2 * rounds) // BATCH * BATCH)
    return [await _turn(ours, stock, ours.shape.urls + number * size, size) for number in range(rounds)]


async def _turn(ours: Ours, stock: Stock, first: int, size: int) -> Turn:
    numbers = range(first, first + size)
    messages = [ours.message(number) for number in numbers]
    requests = [stock.shape.request(number) for number in numbers]
    gc.collect()
    before = Cost.so_far(stock.client, OUR_COMMANDS)
    done = await ours.cycle(messages)
    our_cost = Cost.so_far(stock.client, OUR_COMMANDS).per_request(before, size)
    before = Cost.so_far(stock.client, STOCK_COMMANDS)
    popped = stock.pop(stock.push(requests))
    stock_cost = Cost.so_far(stock.client, STOCK_COMMANDS).per_request(before, size)
    began = time.perf_counter()
    leased = await ours.lease_and_ack(size)
    middle = time.perf_counter()
    taken = stock.pop(size)
    ended = time.perf_counter()
    if not done == popped == leased == taken == size:
        raise LookupError(f"of {size} requests {done}, {popped}, {leased}, {taken} came through")
    return Turn(size / (middle - began), size / (ended - middle), our_cost, stock_cost)


def publish(turns: Sequence[Turn], shape: object) -> list[str]:
    """Write the section of the document; returns the bars that were missed."""
    ours, stock = (_middle([getattr(turn, side) for turn in turns]) for side in ("ours", "stock"))
    rates = [statistics.median(getattr(turn, name) for turn in turns) for name in ("our_rate", "stock_rate", "rate")]
    cpu, even = (statistics.median(getattr(turn, name) for turn in turns) for name in ("cpu", "even"))
    trips = ours.trips / stock.trips
    body = [
        [SHOAL, f"{rates[0]:,.0f}", *_cells(ours)],
        [STOCK, f"{rates[1]:,.0f}", *_cells(stock)],
        [
            "Shoal / scrapy-redis",
            f"{rates[2]:.2f}",
            f"{trips:.2f}",
            f"{ours.traffic / stock.traffic:.2f}",
            f"{ours.commands / stock.commands:.2f}",
            f"{cpu:.2f}",
        ],
        ["bar", f"at least {RATE_BAR:.1f}", f"at most {TRIPS_BAR:.1f}", "", "", ""],
        ["met", _word(rates[2] >= RATE_BAR), _word(trips <= TRIPS_BAR), "", "", ""],
    ]
    head = ("", "requests/s (leased and acked; popped)", "round trips", "bytes", "us in commands", "us of Redis CPU")
    about = (
        f"Standing queue: {shape}, no delays, one request per host at a time. Medians of {len(turns)} pairs of turns; "
        "all but the first column for one request through the whole cycle."
    )
    equal = (
        f"A round trip of scrapy-redis cost {stock.trip:.1f} us here beside its command. At {even:.1f} us both cost "
        f"Redis the same; the frontier cost it {'less' if cpu < 1 else 'more'} here."
    )
    text = f"## Speed and Redis CPU\n\n{(__doc__ or '').strip()}\n\n{about}\n\n{document.rows(head, body)}\n\n{equal}"
    document.write("speed", text, DOCUMENT)
    missed = []
    if rates[2] < RATE_BAR:
        missed.append(f"leased and acked {rates[2]:.2f} times as fast as popped, at least {RATE_BAR} is wanted")
    if trips > TRIPS_BAR:
        missed.append(f"the cycle takes {trips:.2f} times the round trips, at most {TRIPS_BAR} is wanted")
    return missed


def _middle(costs: Sequence[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def _cells(cost: Cost) -> list[str]:
    return [f"{cost.trips:.2f}", f"{cost.traffic:.0f}", f"{cost.commands:.1f}", f"{cost.cpu:.1f}"]


def _word(is_met: bool) -> str:
    return "yes" if is_met else "no"
