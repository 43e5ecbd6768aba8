"""How much the tests try, and what a piece of work costs the CPU, whatever else the machine does."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from statistics import mean
from typing import Final

# Of each property, unless it says otherwise. Each run draws others; `make properties` tries ten times as many.
EXAMPLES: Final = int(os.environ.get("EXAMPLES", "30"))
TRIES: Final = 3
# How long a test waits for what has to come, in seconds: where many share a machine that takes ten times as long, and
# who waits in vain fails anyway.
PATIENCE: Final = 240.0
# What `_yardstick` takes on the 2-core machine on which the bars were set: the least of 300 runs.
YARDSTICK_SECONDS: Final = 0.011
_WORDS: Final = "A lamp <b>of steel</b> for 48.00 EUR, in stock. " * 1_000


def cpu_seconds(work: Callable[[], object], enough: float = 0.0) -> float:
    """The least CPU time of up to three tries, in seconds of the machine on which the bars were set; *enough*: one that
    took no longer than that is the last.

    A neighbour on the same core, or a hypervisor that stopped the machine, adds to the CPU time of who runs and never
    takes from it: work that is slow is slow each time. On a core that is slow just now, fixed work takes longer, too,
    by as much. One that is faster than that machine gets no credit for it.
    """
    least = float("inf")
    for _ in range(TRIES):
        seconds = _spent(work)
        least = min(least, seconds if seconds <= enough else seconds / slowness())
        if least <= enough:
            break
    return least


def slowness() -> float:
    """How many times longer work takes here and now than on the machine on which the bars were set; at least 1."""
    return max(1.0, mean(_spent(_yardstick) for _ in range(5)) / YARDSTICK_SECONDS)


def _spent(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _yardstick() -> dict[str, int]:
    """What most of our work is: expressions, and objects made of what they find."""
    counts: dict[str, int] = {}
    for found in re.finditer(r"<?\w+|[^\w\s]", _WORDS):
        counts[found[0].lower()] = counts.get(found[0].lower(), 0) + 1
    return counts
