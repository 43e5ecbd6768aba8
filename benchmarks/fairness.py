"""`make bench-fairness`: does one slow host, a far Redis or a huge site slow down everything else?

Five parts, each beside stock scrapy-redis in the same run; writes docs/benchmarks-fairness.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Final

from rich.console import Console

from benchmarks import (
    bed,
    document,
    fairness_crowd,
    fairness_latency,
    fairness_many,
    fairness_sick,
    fairness_tarpit,
)
from demo.arguments import add_parts, whole


def _tarpit(rounds: int, console: Console) -> list[str]:
    return fairness_tarpit.publish(fairness_tarpit.measure(rounds, console))


def _latency(rounds: int, console: Console) -> list[str]:
    return fairness_latency.publish(fairness_latency.measure(rounds, console), rounds)


def _crowd(rounds: int, console: Console) -> list[str]:
    return fairness_crowd.publish(fairness_crowd.measure(rounds, console))


def _sick(rounds: int, console: Console) -> list[str]:
    return fairness_sick.publish(fairness_sick.measure(rounds, console))


def _many(rounds: int, console: Console) -> list[str]:
    return fairness_many.publish(fairness_many.measure(rounds, console))


PARTS: Final[dict[str, Callable[[int, Console], list[str]]]] = {
    "tarpit": _tarpit,
    "latency": _latency,
    "crowd": _crowd,
    "sick": _sick,
    "many": _many,
}


def main() -> int:
    """Exit status 1 when a bar is missed or a round does not come to its end."""
    parser = argparse.ArgumentParser(prog="benchmarks.fairness", description="What hosts cost each other")
    add_parts(parser, PARTS)
    parser.add_argument("--rounds", type=whole(1), default=3)
    given = parser.parse_args()
    missed: list[str] = []
    try:
        for part in given.parts:
            missed += PARTS[part](given.rounds, Console())
    except (TimeoutError, ChildProcessError) as error:
        sys.stderr.write(f"bench-fairness: {error}\n")
        return 1
    document.write("machine", f"{document.machine('scrapy', 'scrapy-redis', 'redis')}.", bed.DOCUMENT)
    for line in missed:
        sys.stderr.write(f"bench-fairness: {line}\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
