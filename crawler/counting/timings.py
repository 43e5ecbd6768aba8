"""How long each step of a page takes in this worker: histograms that any room adds to and the metrics endpoint reads.

Adding costs about half a microsecond; everything else happens on a scrape.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler

# Seconds. Waiting in the queue may take hours; parsing and storing take under a second or something is wrong.
WAITS: Final = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 86_400.0)
FETCHES: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # up to DOWNLOAD_TIMEOUT
STEPS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class Histogram:
    """Counts of seconds by bucket; the last bucket has no upper bound. Only the event loop's thread adds."""

    __slots__ = ("bounds", "counts", "examples", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.examples: list[tuple[str, float] | None] = [None] * (len(bounds) + 1)  # request id, seconds
        self.total = 0.0

    def observe(self, seconds: float, request_id: str = "") -> None:
        """Count one value; the newest of each bucket is its exemplar, if the request is known."""
        if seconds < 0:  # different clocks on two machines
            seconds = 0.0
        place = bisect_left(self.bounds, seconds)
        self.counts[place] += 1
        self.total += seconds
        if request_id:
            self.examples[place] = (request_id, seconds)


class Timings:
    """The histograms of one worker."""

    def __init__(self) -> None:
        self.queue_wait = Histogram(WAITS)  # from queueing to the wire, first deliveries only
        self.first_byte = Histogram(FETCHES)  # from sending to the head of the response
        self.body = Histogram(FETCHES)  # from there to the end of the body
        self.parse = Histogram(STEPS)  # in the callback and the spider middlewares, until its output ended
        self.store = Histogram(STEPS)  # until an item is durable


_KNOWN: Final[WeakKeyDictionary[Crawler, Timings]] = WeakKeyDictionary()


def timings_of(crawler: Crawler) -> Timings:
    """The timings of *crawler*, created on the first call."""
    return _KNOWN.setdefault(crawler, Timings())
