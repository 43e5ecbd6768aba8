"""Whether a worker's memory stays flat over 200,000 items: read from the system while they pass."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from crawler.items import ProductItem

VISITS: Final = 4
SAMPLES: Final = 20
SETTLED: Final = 4  # samples until the caches are full
SMALLEST: Final = VISITS * SAMPLES  # items: one of each product for a sample
BAR: Final = 1.05  # times the settled memory that is still called flat

_PAGE: Final = resource.getpagesize()


@dataclass(slots=True)
class Endurance:
    """Memory of this process, in MB, at equal distances of one run."""

    items: int
    samples: list[float] = field(default_factory=list)

    @property
    def growth(self) -> float:
        """The last quarter of the run beside what it was when settled: 1 is flat."""
        last = self.samples[-SAMPLES // 4 :]
        return max(last) / self.samples[SETTLED]

    @property
    def flat(self) -> bool:
        """Whether the bar is met."""
        return self.growth <= BAR

    def watched(self, products: Iterator[ProductItem]) -> Iterator[ProductItem]:
        """*products*, with a look at the memory every twentieth of them."""
        step = self.items // SAMPLES
        for number, product in enumerate(products, 1):
            yield product
            if number % step == 0:
                self.samples.append(resident_mb())


def stream(items: int, make: Callable[[int, int], ProductItem]) -> Iterator[ProductItem]:
    """*items* observations, made one by one: every product four times, its price new each time."""
    products = items // VISITS
    return islice((make(number, visit) for visit in range(VISITS) for number in range(products)), items)


def resident_mb() -> float:
    """What this process holds in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE / 2**20
