"""What a robots.txt costs its host's first visitor: one worker visits hosts in blocks, and asks for it in half of them.

Between two rounds, each a process of its own that runs for a quarter of a minute, the machine changes by more than a
robots.txt costs. Blocks take a second or two, and those beside each other are compared, in the order asked, unasked,
unasked, asked: what drifts, drifts for both.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.httpobj import urlparse_cached

from benchmarks import wide_site

HOSTS: Final = 100  # in a block; all are leased at once, and the last of them should not wait for long
SETTLE_SECONDS: Final = 0.3  # then the ends of a block's last pages are with Redis
SIZE: Final = "BENCH_BLOCK"  # the setting that says to the worker how many hosts a block has


def settings(hosts: int) -> dict[str, object]:
    """Of a worker that visits blocks of *hosts*: `Exempt` comes before robots.txt is asked for."""
    return {"DOWNLOADER_MIDDLEWARES": '{"benchmarks.wide_robots.Exempt": 50}', SIZE: hosts}


class Exempt:
    """Downloader middleware: pages of every other block need no robots.txt."""

    def __init__(self, hosts: int) -> None:
        self._hosts = hosts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As large as the setting says."""
        return cls(crawler.settings.getint(SIZE))

    def process_request(self, request: Request) -> None:
        """Exempt it, or not."""
        if not is_asked(wide_site.number(urlparse_cached(request).hostname or "") // self._hosts):
            request.meta["dont_obey_robotstxt"] = True


def is_asked(block: int) -> bool:
    """Whether the hosts of *block* are asked for their robots.txt."""
    return block % 4 in (0, 3)


class Cost(NamedTuple):
    """CPU-ms for one robots.txt: the median of *pairs*, and between what half of them lie."""

    median: float
    low: float
    high: float
    pairs: int

    @classmethod
    def of(cls, blocks: Sequence[float]) -> Cost:
        """*blocks*: CPU-ms per host of each block. The first pair, in which the worker gets warm, does not count."""
        found = [
            one - other if is_asked(place) else other - one
            for place, (one, other) in enumerate(pairwise(blocks))
            if place % 2 == 0 and place > 0
        ]
        low, middle, high = statistics.quantiles(found, n=4, method="inclusive")
        return cls(middle, low, high, len(found))

    def __str__(self) -> str:
        within = f"half of them between {self.low:.2f} and {self.high:.2f}"
        return f"A robots.txt costs {self.median:.2f} CPU-ms: median of {self.pairs} pairs of blocks, {within}."
