"""The longest single operation.

Redis does one thing at a time, so the longest script is the longest wait for everyone else. Each operation of the
frontier is called many times on the standing queue, with batches as large as a worker sends. INFO before and after each
call gives its time on the server's clock, and the CPU time of the main thread. The clock includes other work of the
machine, the CPU time other work of the server: the call itself took at most the smaller of the two.

On a virtual machine neither shows when it stood still. So there are three rounds, and the median of their longest calls
is compared with the bar: stalls of the machine affect one round, slow scripts all. A loop that touches no data, in the
last row, shows what the machine adds to a call.

The append-only file is not rewritten meanwhile. How long the fork of such a rewrite stops the server on this queue is
stated below the table: it depends on the memory in use, whatever runs on the server. Only the frontier is on this
server, as in a fleet. It uses mimalloc; packaged servers have jemalloc, which is as steady; libc's malloc is not.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import redis

from benchmarks import document
from benchmarks.frontier_bed import DOCUMENT, Ours, Shape
from benchmarks.frontier_meter import Metered, Spent, fork_ms
from benchmarks.frontier_operations import LOOP, Operations

BAR_MS: Final = 5.0
ROUNDS: Final = 3
CALLS: Final = 1_000  # per round


@dataclass(frozen=True, slots=True)
class Longest:
    """One operation, in ms: the median call, the longest one of a round (the middle of them all) and of all rounds, and
    the most of either measure."""

    name: str
    calls: int
    median: float
    most: float
    of_all: float
    cpu: float
    clock: float

    @classmethod
    def of(cls, name: str, rounds: Sequence[Sequence[Spent]]) -> Longest:
        """What its calls took in each round."""
        calls = [one for spent in rounds for one in spent]
        longest = [max(one.own for one in spent) for spent in rounds]
        return cls(
            name,
            len(calls),
            statistics.median(one.own for one in calls),
            statistics.median(longest),
            max(longest),
            max(one.cpu for one in calls),
            max(one.clock for one in calls),
        )


@dataclass(frozen=True, slots=True)
class Stops:
    """What makes everybody else wait: the operations, and the fork of a rewrite."""

    operations: list[Longest]
    fork_ms: float


async def measure(url: str, shape: Shape, calls: int) -> Stops:
    """Each operation at least *calls* times a round, or for as many requests, on the frontier that stands at *url*."""
    ours = Ours(url, shape, client=Metered.from_url(url))
    operations = Operations(ours, calls, 2 * shape.urls)
    try:
        rounds = [await operations.round() for _ in range(ROUNDS)]
    finally:
        await ours.client.aclose()
    longest = [Longest.of(name, [one[name] for one in rounds]) for name in rounds[0]]
    return Stops(longest, fork_ms(redis.Redis.from_url(url)))


def publish(stops: Stops, shape: object) -> list[str]:
    """Write the section of the document; returns the bars that were missed."""
    found = stops.operations
    head = (
        "operation", "calls", "median, ms", f"longest, middle of {ROUNDS} rounds, ms", "longest of all, ms",
        "most CPU around it, ms", "longest on the clock, ms",
    )  # fmt: skip
    body = [
        [
            "(a loop without data)" if one.name == LOOP else one.name,
            f"{one.calls:,}",
            *(f"{ms:.2f}" for ms in (one.median, one.most, one.of_all, one.cpu, one.clock)),
        ]
        for one in found
    ]
    ours = [one for one in found if one.name != LOOP]
    worst = max(ours, key=lambda one: one.most)
    verdict = "met" if worst.most <= BAR_MS else "not met"
    text = (
        f"## Longest operation\n\n{(__doc__ or '').strip()}\n\nStanding queue: {shape}.\n\n"
        f"{document.rows(head, body)}\n\nBar: no operation over {BAR_MS:.0f} ms: {verdict}, the longest is "
        f"`{worst.name}` with {worst.most:.2f} ms. Calls over {BAR_MS:.0f} ms in any round: "
        f"{', '.join(f'`{one.name}` {one.of_all:.2f} ms' for one in ours if one.of_all > BAR_MS) or 'none'}.\n\n"
        f"The fork of a rewrite of the append-only file: {stops.fork_ms:.1f} ms."
    )
    document.write("longest", text, DOCUMENT)
    return [f"{one.name} took {one.most:.2f} ms, at most {BAR_MS} are wanted" for one in ours if one.most > BAR_MS]
