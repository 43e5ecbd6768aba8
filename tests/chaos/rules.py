"""Rules change in mid-crawl: a worker with a longer delay joins, and is killed after a while."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Final

from redis.exceptions import RedisError

from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.frontier import Frontier
from demo.log import Entry
from tests.chaos import verdict
from tests.chaos.trouble import STRICT, Fleet, Freeze

TIMES: Final = 6  # factor of its delay over the others'
HOLD_SECONDS: Final = 8.0
HOLD_MOST_SECONDS: Final = 45.0  # other trouble may stop the crawl meanwhile: there is nothing to judge by then
TRIES: Final = 3
VISITS: Final = 40  # rules are judged by this many requests sent under them
JOIN_SECONDS: Final = 30.0
POLL_SECONDS: Final = 0.1
KEPT_SECONDS: Final = 7.0  # at least so long its rules outlive it: it may have been silent for a few seconds before
HELD_UP: Final = 1.3  # a gap of this many delays was caused by the delay
PROOF: Final = 4  # this many such gaps show that it is in force
SILENCE_SECONDS: Final = 4.5  # STEP_AFTER_MS of the frontier
FALL_SECONDS: Final = 15.0  # and at most so long, give or take what a host's turn took under them


@dataclass(frozen=True, slots=True)
class Stricter:
    """A worker with a longer delay was seen at work from *began* to *ended*, seconds since the epoch."""

    delay: float
    began: float
    ended: float


async def state(
    frontier: Frontier, fleet: Fleet, delay: float, joined: Callable[[], None], visits_since: Callable[[float], int]
) -> Stricter | None:
    """Let one join, which *joined* is told, and be killed; None when it did not come to work.

    *visits_since*: how many requests have reached the site since a time, seconds since the epoch.
    """
    worker = fleet.add(STRICT)
    began = ended = 0.0
    joining = time.monotonic() + JOIN_SECONDS
    while worker.status is None and time.monotonic() < joining and not (began and _held(began, visits_since)):
        try:
            names = [one.name for one in await frontier.workers.alive(60_000)]
        except (RedisError, OSError, FrontierUnavailableError):  # a moment ago it was killed
            names = []
        if any(name.rsplit("-", 2)[1] == str(worker.pid) for name in names):
            began, joining = began or time.time(), time.monotonic() + JOIN_SECONDS
            joined()
        if began and worker.status is None:
            ended = time.time()
        await asyncio.sleep(POLL_SECONDS)
    if worker.status is None:
        ended = time.time() if began else ended  # up to now, or the time that it has to hold is never over
        fleet.end(worker)
    return Stricter(delay, began, ended) if began else None


def _held(began: float, visits_since: Callable[[float], int]) -> bool:
    """Whether its rules were in force for long enough to be judged, or for as long as anybody waits for that."""
    age = time.time() - began
    seen_at_work = age > HOLD_SECONDS and visits_since(began + HOLD_SECONDS / 2) >= VISITS
    return seen_at_work or age > HOLD_MOST_SECONDS


@dataclass(frozen=True, slots=True)
class Seen:
    """How the hosts were treated under the stricter rules, and after them."""

    wire: verdict.Wire
    fell: float | None  # seconds from the end of its worker to the first gap of the others' delay; None: never


def seen(entries: Sequence[Entry], one: Stricter, freezes: Sequence[Freeze], settled: float) -> Seen:
    """*settled*: seconds after which everything in flight before has left its worker."""
    during = [entry for entry in entries if one.began + settled <= entry.at <= one.ended]
    before = one.delay - verdict.TOLERANCE
    later = sorted((entry for entry in entries if entry.at > one.ended), key=attrgetter("at"))
    short = [gap.later.at - one.ended for gap in verdict.gaps(later) if gap.seconds < before]
    return Seen(verdict.wire(during, one.delay, freezes), min(short, default=None))


def violations(
    entries: Sequence[Entry], one: Stricter, freezes: Sequence[Freeze], settled: float, lost: Sequence[float] = ()
) -> list[str]:
    """What did not hold; *lost*: when Redis began to lose all statements."""
    found = seen(entries, one, freezes, settled)
    short = [f"{gap.seconds:.4f} s at {gap.later.host} at {gap.later.at:.3f}" for gap in found.wire.too_short]
    lines = [f"too close under a delay of {one.delay:g} s: {gap}" for gap in short]
    if not found.wire.requests:
        lines.append("no host was visited under the stricter rules")
    if found.fell is not None and found.fell < KEPT_SECONDS and not were_lost(one, found.fell, lost):
        lines.append(f"the delay fell {found.fell:.1f} s after the end of its worker, before {KEPT_SECONDS:g} s")
    latest = _silent_until(entries, one.ended) + FALL_SECONDS + 2 * one.delay
    still = [gap for gap in verdict.gaps(entries) if gap.later.at > latest and 0.9 < gap.seconds / one.delay < HELD_UP]
    if len(still) >= PROOF and (found.fell is None or one.ended + found.fell > latest):
        lines.append(f"the delay of a dead worker was in force for longer than {FALL_SECONDS:g} s")
    return lines


def _silent_until(entries: Sequence[Entry], ended: float) -> float:
    """When the fleet was last heard again in the time that statements live: those of before a silence count on, as
    nobody could state anything meanwhile (a busy machine stood still)."""
    for earlier, later in pairwise(sorted(entry.at for entry in entries)):
        if later - earlier >= SILENCE_SECONDS and earlier - FALL_SECONDS <= ended < later:
            ended = later
    return ended


def were_lost(one: Stricter, fell: float, lost: Sequence[float]) -> bool:
    """Whether one of the times *lost* was before its delay fell, *fell* seconds after the end of its worker."""
    return any(0 <= at - one.ended <= fell for at in lost)
