"""Urgent URLs into a backlog.

1,000 URLs of priority 10 for 100 of the backlog's hosts are pushed while a worker takes what it gets, 16 at a time.
Each host has a delay, which nothing hurries: what the last urgent page has to wait for at least is its host's delay
times the urgent pages before it. The hosts of the backlog that have nothing urgent go on meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import Final

from benchmarks import document
from benchmarks.frontier_bed import BATCH, DOCUMENT, PIPELINED, SPIDER, WAIT_SECONDS, Ours, Shape
from crawler.frontier.messages import Report

URGENT: Final = 1_000
HOSTS: Final = 100
PRIORITY: Final = 10
DELAY_MS: Final = 500
FIRST_BAR_SECONDS: Final = 2.0
LAST_BAR: Final = 1.5  # of what the delays allow
GIVE_UP: Final = 20  # times what the delays allow
RUN: Final = "20261122000001"


@dataclass(frozen=True, slots=True)
class Urgent:
    """Seconds from the push to the first and the last urgent page, and what was done of the backlog until the last."""

    first: float
    last: float
    allowed: float  # least seconds that the hosts' delays allow
    backlog: int
    left: int  # of the backlog

    def missed(self) -> list[str]:
        """The bars that it misses."""
        found = [f"the first urgent page took {self.first:.1f} s"] if self.first > FIRST_BAR_SECONDS else []
        if self.last > LAST_BAR * self.allowed:
            found.append(f"the last urgent page took {self.last:.1f} s, the delays allow {self.allowed:.1f} s")
        return found + ([] if self.backlog else ["the backlog stood still"])


async def fill(ours: Ours) -> None:
    """Queue the backlog."""
    shape = ours.shape
    for at in range(0, shape.urls, PIPELINED):
        numbers = range(at, min(at + PIPELINED, shape.urls))
        await ours.push([replace(ours.message(number), delay_ms=DELAY_MS) for number in numbers])


async def measure(ours: Ours) -> Urgent:
    """On the backlog that stands there. Raises TimeoutError where the urgent pages do not end."""
    shape = ours.shape
    hosts = min(HOSTS, shape.hosts // 2)
    a_host = min(URGENT, shape.urls // 20) // hosts
    urgent = [
        replace(
            ours.message(shape.urls + number),
            host=shape.host(number % hosts * shape.run),
            priority=PRIORITY,
            generation=RUN,
            delay_ms=DELAY_MS,
        )
        for number in range(a_host * hosts)
    ]
    worker = _Worker(ours)
    while len(worker.ended) < 20 * BATCH:  # it is at work before the push
        await worker.turn()
    before = len(worker.ended)
    allowed = (a_host - 1) * DELAY_MS / 1000
    began = time.monotonic()
    assert await ours.push(urgent) == len(urgent)
    while worker.urgent < len(urgent):
        if time.monotonic() > began + GIVE_UP * max(allowed, 1):
            raise TimeoutError(f"{worker.urgent} of {len(urgent)} urgent pages had ended after {allowed:.0f} s")
        await worker.turn()
    at = [moment - began for moment, is_urgent in worker.ended[before:] if is_urgent]
    done = sum(not is_urgent for _, is_urgent in worker.ended)
    during = sum(not is_urgent for _, is_urgent in worker.ended[before:])
    return Urgent(at[0], at[-1], allowed, during, shape.urls - done)


class _Worker:
    """Leases, starts, reports and acknowledges; `ended`: when, and whether it was urgent."""

    def __init__(self, ours: Ours) -> None:
        self._ours = ours
        self.ended: list[tuple[float, bool]] = []
        self.urgent = 0

    async def turn(self) -> None:
        batch = await self._ours.frontier.lease([SPIDER], BATCH, worker="benchmark")
        if not batch.leases:
            await asyncio.sleep(WAIT_SECONDS)
            return
        handles = [(lease.id, lease.token) for lease in batch.leases]
        await self._ours.frontier.settle(handles, [Report(*handle, 1, 1, 200) for handle in handles], handles)
        now = time.monotonic()
        self.ended += [(now, lease.generation == RUN) for lease in batch.leases]
        self.urgent += sum(lease.generation == RUN for lease in batch.leases)


def publish(found: Urgent, shape: Shape) -> list[str]:
    """Write the section of the document; returns the bars that were missed."""
    missed = found.missed()
    head = ("", "seconds", "bar")
    body = [
        ["the first urgent page", f"{found.first:.2f}", f"at most {FIRST_BAR_SECONDS:.0f}"],
        ["the last urgent page", f"{found.last:.2f}", f"at most {LAST_BAR} times what the delays allow"],
        ["what the delays allow", f"{found.allowed:.2f}", ""],
    ]
    text = (
        f"## Urgent work\n\n{(__doc__ or '').strip()}\n\nStanding queue: {shape}, {DELAY_MS} ms of delay each.\n\n"
        f"{document.rows(head, body)}\n\nBars: {'met' if not missed else 'not met'}. Until the last urgent page "
        f"{found.backlog:,} pages of the backlog were done, {found.left:,} were left."
    )
    document.write("urgent", text, DOCUMENT)
    return missed
