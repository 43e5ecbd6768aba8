"""`make bench-workers`: what two workers of one `scrapy crawl --workers 2` store, beside one.

Servers and site run on their own cores, each worker has one: with fewer than five cores they would disturb each other,
so that is refused. Rounds alternate; pages per second count from when a tenth of the pages is stored until all are.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks import document
from benchmarks.crawl import HOME, PROJECT, SHOAL, Bench, prepared
from benchmarks.static_shop import HOSTS
from benchmarks.worker import Worker
from crawler.supervision.cores import usable_cores
from demo.arguments import whole

CORES_NEEDED: Final = 5  # two workers, Redis, MongoDB, site
BAR: Final = 1.8
WORKERS: Final = (1, 2)
HEAD: Final = ("workers", "pages/s", "CPU-s in all, start included")


def too_few_cores() -> str:
    """Why it cannot be measured here; empty where it can."""
    found = usable_cores()
    words = "two for workers, one each for Redis, MongoDB and the site"
    return "" if found >= CORES_NEEDED else f"it takes {CORES_NEEDED} cores ({words}), here are {found}"


@contextmanager
def on_cores(cores: Sequence[int]) -> Iterator[None]:
    """What is started in this context runs on *cores*, all its life."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def one_round(bench: Bench, workers: int, number: int, cores: Sequence[int]) -> tuple[float, float]:
    """Pages per second with that many workers, and the CPU seconds of all processes of the command."""
    database = f"bench_workers_{number}_{workers}"
    bench.queue_start_urls()
    with on_cores(cores[:workers]):
        command = [*bench.command(SHOAL, database), "--workers", str(workers)]
        worker = Worker(command, PROJECT, HOME / f"{database}.log")
    try:
        first, last = bench.watch(worker, database)
    finally:
        life = worker.end()
        bench.drop(database)
    return (last.stored - first.stored) / (last.at - first.at), life


def measure(pages: int, rounds: int, console: Console) -> dict[int, list[tuple[float, float]]]:
    """By number of workers: pages per second and CPU seconds of each round."""
    cores = sorted(os.sched_getaffinity(0))
    others = cores[max(WORKERS) :] or cores
    found: dict[int, list[tuple[float, float]]] = {workers: [] for workers in WORKERS}
    with on_cores(others), prepared(pages) as bench:
        for number in range(rounds):
            for workers, results in found.items():
                results.append(one_round(bench, workers, number, cores))
                console.print(f"round {number + 1}, {workers}: {results[-1][0]:.0f} pages/s", highlight=False)
    return found


def gain(found: dict[int, list[tuple[float, float]]]) -> float:
    """How many times as many pages two store as one does; medians."""
    one, two = (statistics.median(speed for speed, _ in found[workers]) for workers in WORKERS)
    return two / one


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; exit status 1 when the bar is missed or a round does not come to its end."""
    parser = argparse.ArgumentParser(prog="benchmarks.workers", description="Two workers beside one")
    parser.add_argument("--pages", type=whole(HOSTS, multiple_of=HOSTS), default=8000, help="a multiple of 8")
    parser.add_argument("--rounds", type=whole(1), default=3)
    parser.add_argument("--anyway", action="store_true", help="also on too few cores; writes nothing, no bar")
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave docs/benchmarks.md alone")
    options = parser.parse_args(arguments)
    console = Console()
    if (why := too_few_cores()) and not options.anyway:
        console.print(f"bench-workers: skipped: {why}", highlight=False, soft_wrap=True)
        return 0
    try:
        found = measure(options.pages, options.rounds, console)
    except (TimeoutError, ChildProcessError) as error:
        sys.stderr.write(f"bench-workers: {error}\n")
        return 1
    medians = {workers: [statistics.median(part) for part in zip(*found[workers], strict=True)] for workers in WORKERS}
    body = [[str(workers), f"{speed:.0f}", f"{cpu:.1f}"] for workers, (speed, cpu) in medians.items()]
    body.append(["times", f"{gain(found):.2f}", ""])
    table = Table(*HEAD)
    for row in body:
        table.add_row(*row)
    console.print(table)
    if why:
        return 0
    if options.write:
        publish(body, options.pages, options.rounds)
    return 0 if gain(found) >= BAR else 1


def publish(body: Sequence[Sequence[str]], pages: int, rounds: int) -> None:
    """Write the section of docs/benchmarks.md."""
    text = (
        "## All cores of a machine: `make bench-workers`\n\n"
        f"`scrapy crawl products --workers N`, a core for each worker, servers and site on others; {pages} static "
        f"pages of 20 KB, medians of {rounds} rounds in turns; the bar is {BAR} times. "
        f"{document.machine('scrapy')}.\n\n{document.rows(HEAD, body)}\n"
    )
    document.write("workers", text)


if __name__ == "__main__":
    sys.exit(main())
