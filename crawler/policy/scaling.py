"""How many workers there is work for now: not how long the queue is, but how much of it may be fetched."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Demand:
    """One look at the frontier. *requests* wait at hosts that may be visited, which take *slots* of them at once;
    *leased* are in workers' hands, *soon* will be queued within moments, start URLs included."""

    requests: float = 0
    slots: float = 0
    leased: int = 0
    soon: int = 0

    def __add__(self, other: Demand) -> Demand:
        return Demand(
            self.requests + other.requests, self.slots + other.slots, self.leased + other.leased, self.soon + other.soon
        )


def workers_wanted(demand: Demand, per_worker: float) -> int:
    """min(requests / *per_worker*, slots), what is leased included; 0 only when nothing is to be done.

    A worker more than there are slots would find nothing: a long queue of one host that takes one request at a time is
    work for one. Known weakness: slots are of different worth, a fast host's are sooner free.
    """
    by_requests = math.ceil((demand.requests + demand.leased) / per_worker)
    wanted = min(by_requests, math.ceil(max(demand.slots, demand.leased)))
    return max(wanted, 1) if demand.leased or demand.soon or demand.requests else 0


class Hold:
    """The most that was wanted within *seconds*: a lull between two batches is no reason to leave."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._peaks: deque[tuple[float, int]] = deque()  # when, how many: falling from left to right

    def held(self, wanted: int, now: float) -> int:
        """What to have now that *wanted* are wanted."""
        while self._peaks and self._peaks[0][0] <= now - self._seconds:
            self._peaks.popleft()
        while self._peaks and self._peaks[-1][1] <= wanted:
            self._peaks.pop()
        self._peaks.append((now, wanted))
        return self._peaks[0][1]
