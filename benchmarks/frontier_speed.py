"""How fast a worker is served, and what that costs Redis.

Leased and acknowledged are batches of 16 through the frontier's own face, each request decoded while the next batch
is leased, as a worker's tasks do it; popped are single requests through scrapy-redis' own queue, which acknowledges
nothing. The whole cycle is dedupe, push (48 at a time), lease, and in one call, as a worker's outbox sends them:
start of a batch, report of the one before and ack of the one before that (16 each) there; dedupe, push and pop here.
Short turns of the two alternate on one server over the same standing queue, and each turn is compared with its
neighbour: what else the machine does weighs on both.
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
from benchmarks.frontier_bed import BATCH, DOCUMENT, Ours, Stock, cpu_seconds

TURN: Final = 2_000  # requests
RATE_BAR: Final = 2.0
CPU_BAR: Final = 1.0
US: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Turn:
    """One pair of neighbours: requests per second, and Redis CPU per request of the whole cycle in us."""

    our_rate: float
    stock_rate: float
    our_cpu: float
    stock_cpu: float

    @property
    def rate(self) -> float:
        """How many times faster ours is."""
        return self.our_rate / self.stock_rate

    @property
    def cpu(self) -> float:
        """How many times the CPU of scrapy-redis ours takes."""
        return self.our_cpu / self.stock_cpu


async def measure(ours: Ours, stock: Stock, rounds: int) -> list[Turn]:
    """*rounds* turns of each; the standing queues hold ours.shape, and shrink a little."""
    size = min(TURN, ours.shape.urls // (2 * rounds) // BATCH * BATCH)
    return [await _turn(ours, stock, ours.shape.urls + number * size, size) for number in range(rounds)]


async def _turn(ours: Ours, stock: Stock, first: int, size: int) -> Turn:
    numbers = range(first, first + size)
    messages = [ours.message(number) for number in numbers]
    requests = [stock.shape.request(number) for number in numbers]
    gc.collect()
    before = cpu_seconds(stock.client)
    done = await ours.cycle(messages)
    between = cpu_seconds(stock.client)
    popped = stock.pop(stock.push(requests))
    after = cpu_seconds(stock.client)
    began = time.perf_counter()
    leased = await ours.lease_and_ack(size)
    middle = time.perf_counter()
    taken = stock.pop(size)
    ended = time.perf_counter()
    if not done == popped == leased == taken == size:
        raise LookupError(f"of {size} requests {done}, {popped}, {leased}, {taken} came through")
    return Turn(
        size / (middle - began), size / (ended - middle), (between - before) / size * US, (after - between) / size * US
    )


def publish(turns: Sequence[Turn], shape: object) -> list[str]:
    """Write the section of the document; returns the bars that were missed."""
    middle = {
        name: statistics.median(getattr(turn, name) for turn in turns) for name in (*Turn.__slots__, "rate", "cpu")
    }
    body = [
        [SHOAL, f"{middle['our_rate']:,.0f}", f"{middle['our_cpu']:.1f}"],
        [STOCK, f"{middle['stock_rate']:,.0f}", f"{middle['stock_cpu']:.1f}"],
        ["Shoal / scrapy-redis", f"{middle['rate']:.2f}", f"{middle['cpu']:.2f}"],
        ["bar", f"at least {RATE_BAR:.1f}", f"at most {CPU_BAR:.1f}"],
        ["met", _word(middle["rate"] >= RATE_BAR), _word(middle["cpu"] <= CPU_BAR)],
    ]
    head = ("", "requests/s (leased and acked; popped)", "Redis CPU us per request, whole cycle")
    about = (
        f"Standing queue: {shape}, no delays, one request per host at a time. Medians of {len(turns)} pairs of turns."
    )
    text = f"## Speed and Redis CPU\n\n{(__doc__ or '').strip()}\n\n{about}\n\n{document.rows(head, body)}"
    document.write("speed", text, DOCUMENT)
    missed = []
    if middle["rate"] < RATE_BAR:
        missed.append(f"leased and acked {middle['rate']:.2f} times as fast as popped, at least {RATE_BAR} is wanted")
    if middle["cpu"] > CPU_BAR:
        missed.append(f"the cycle costs {middle['cpu']:.2f} times the Redis CPU, at most {CPU_BAR} is wanted")
    return missed


def _word(is_met: bool) -> str:
    return "yes" if is_met else "no"
