"""How many workers there is work for now: not the queue's length, but how much of it may be fetched."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Demand:
    """A snapshot of the frontier. *requests* wait at hosts that may be crawled, which take *slots* of them at once;
    *leased* are at workers, *soon* will be queued in moments, including start URLs."""

    requests: float = 0
    slots: float = 0
    leased: int = 0
    soon: int = 0

    def __add__(self, other: Demand) -> Demand:
        return Demand(
            self.requests + other.requests, self.slots + other.slots, self.leased + other.leased, self.soon + other.soon
        )


def workers_wanted(demand: Demand, per_worker: float) -> int:
    """min(requests / *per_worker*, slots), including leased ones; 0 only if nothing is left to do.

    More workers than slots would find nothing: a long queue of one host that takes one request at a time is work for
    one. Known weakness: slots differ, a fast host's are free sooner.
    """
    by_requests = math.ceil((demand.requests + demand.leased) / per_worker)
    wanted = min(by_requests, math.ceil(max(demand.slots, demand.leased)))
    return max(wanted, 1) if demand.leased or demand.soon or demand.requests else 0


class Hold:
    """The maximum wanted within *seconds*: a lull between batches is no reason to scale down."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._peaks: deque[tuple[float, int]] = deque()  # when, how many: descending

    def held(self, wanted: int, now: float) -> int:
        """How many to have, given *wanted* now."""
        while self._peaks and self._peaks[0][0] <= now - self._seconds:
            self._peaks.popleft()
        while self._peaks and self._peaks[-1][1] <= wanted:
            self._peaks.pop()
        self._peaks.append((now, wanted))
        return self._peaks[0][1]
