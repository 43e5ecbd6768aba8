"""`make operate`: the long proofs of operating it, one by one, each with a limit; exit status 1 when one fails.

Writes docs/operate.md, and the figures of the failovers into docs/production.md.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from demo.alone import TakenError, alone_in
from tests.crawling import Fleet
from tests.operate import mongodb, redis_failover, report, rolling
from tests.operate.load import Told, standalone
from tests.operate.report import Outcome
from tests.zygote import PROJECT_DIR

LINES: Final = 40  # of a failed command's output
SKIPPED: Final = "Skipped: "  # how the last line of one begins that lacks a program
SKIPS: Final = re.compile(r"\b\d+ skipped\b")  # in the last line of pytest, which ends with 0 all the same
MONITORING: Final = "tests/integration/monitoring/test_alertmanager.py"
Scenario = Callable[[], Told]


@dataclass(frozen=True, slots=True)
class Part:
    """*commands*, given up after *limit* seconds, or *scenarios*, each on servers of its own and with its own limit."""

    about: str
    limit: float
    commands: tuple[tuple[str, ...], ...] = ()
    scenarios: tuple[Scenario, ...] = ()


def on_servers(
    crawl: Callable[[Fleet, str], Awaitable[Told]], limit: float, *, redis: bool = True, mongodb: bool = True
) -> Scenario:
    """A scenario that begins with servers of its own and ends within *limit* seconds."""

    async def bounded(fleet: Fleet) -> Told:
        async with asyncio.timeout(limit):
            return await crawl(fleet, fleet.runner.env["MONGODB_URI"])

    def run() -> Told:
        with standalone("operate", redis=redis, mongodb=mongodb) as fleet:
            return asyncio.run(bounded(fleet))

    return run


def _of_mongodb(name: str, *, spool: bool) -> Scenario:
    return on_servers(lambda fleet, _: mongodb.fail_over(fleet, name, spool=spool), 400, mongodb=False)


LAGGING: Final = redis_failover.LAG_SECONDS
PARTS: Final = {
    "alerts": Part(
        "Faults planted in the alerts, of which `promtool test rules` must find nine of ten; and the shipped routes in "
        "a real Alertmanager.",
        300,
        commands=(("-m", "tests.integration.monitoring"), ("-m", "pytest", "-q", MONITORING)),
    ),
    "rolling": Part(
        "Four workers under load are replaced one by one by those of the next release, as a rolling update of pods "
        "does it: SIGTERM, its end, a new one, and the next when that is ready. Old ones leave a new callback to new "
        "ones.",
        300,
        scenarios=(on_servers(rolling.roll, 400),),
    ),
    "mongodb": Part(
        "A replica set of three under the writes of four workers: its primary steps down, or is killed with -9, with a "
        "spool and without one.",
        720,
        scenarios=(
            _of_mongodb("steps down", spool=True),
            _of_mongodb("killed with -9", spool=True),
            _of_mongodb("killed with -9", spool=False),
        ),
    ),
    "redis": Part(
        "The primary is killed with -9 under four workers while somebody pushes single URLs. Pages that were done in "
        "the time that the replica lacks are fetched again, and with them their links are found again; what was pushed "
        "in that time is gone.",
        720,
        scenarios=(
            on_servers(redis_failover.sentinel, 400, redis=False),
            on_servers(lambda fleet, uri: redis_failover.sentinel(fleet, uri, LAGGING), 400, redis=False),
            on_servers(redis_failover.cluster, 400, redis=False),
        ),
    ),
    "scaling": Part(
        "0 to 6 real workers after the scaling signal of a real `scrapy serve`: 100,000 URLs of one host are work for "
        "one, 500 hosts for the most; up once, down once, to zero and back.",
        600,
        commands=(("-m", "tests.integration.serve.scaling"),),
    ),
    "restore": Part(
        "A fleet goes on from last night's copies of Redis and MongoDB.",
        120,
        commands=(("-m", "pytest", "-q", "tests/integration/crawl/test_restore.py"),),
    ),
    "image": Part(
        "The image is built, or without a container engine its steps are run in a throwaway root; it starts.",
        600,
        commands=(("-m", "tests.image"),),
    ),
    "dashboards": Part(
        "A crawl of two minutes; each expression of the dashboards is drawn from a real Prometheus' answers.",
        300,
        commands=(("-m", "tests.integration.monitoring.pictures"),),
    ),
}


def main() -> int:
    """A quarter of an hour in all; exit status 2 while another one is under way here."""
    parser = argparse.ArgumentParser(prog="tests.operate", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave docs/ alone")
    parser.add_argument("--home", type=Path, default=Path(".demo/operate"), help="where it keeps others out")
    given = parser.parse_args()
    try:
        with alone_in(given.home):
            return _run_all(given.parts, write=given.write)
    except TakenError as error:
        sys.stderr.write(f"operate: {error}\n")
        return 2


def _run_all(parts: Sequence[str], *, write: bool) -> int:
    outcomes = []
    for name in parts:
        print(f"{name} ...", flush=True)
        outcomes.append(run(name, PARTS[name]))
        print("\n".join(report.lines(outcomes[-1])), flush=True)
        if write:
            report.write(outcomes[-1:])
    failed = [outcome.name for outcome in outcomes if outcome.wrong]
    verdict = f"failed: {', '.join(failed)}" if failed else "all held"
    print(f"operate: {sum(one.seconds for one in outcomes):.0f} s; {verdict}")
    return 1 if failed else 0


def run(name: str, part: Part) -> Outcome:
    """A part that fails is told, and the next one goes on."""
    began = time.monotonic()
    outcome = Outcome(name, part.about, 0.0)
    for scenario in part.scenarios:
        try:
            outcome.told.append(scenario())
            outcome.wrong += outcome.told[-1].wrong
        except pytest.skip.Exception as reason:  # a laptop lacks a server
            outcome.skipped.append(str(reason))
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # told, and the next part is tried
            outcome.wrong.append(f"{type(error).__name__}: {str(error)[-2_000:]}")
    for command in part.commands:
        _run(command, max(1.0, part.limit - (time.monotonic() - began)), outcome)
    outcome.seconds = time.monotonic() - began
    return outcome


def _run(command: Sequence[str], limit: float, outcome: Outcome) -> None:
    """To its end, or to that of *limit*."""
    with subprocess.Popen(
        [sys.executable, *command], cwd=PROJECT_DIR, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
            said += f"\ngiven up after {limit:.0f} s"
    last = (said.strip().splitlines() or [""])[-1]
    print(f"  {' '.join(command)}: {last}", flush=True)
    if SKIPPED in last:
        outcome.skipped.append(last.partition(SKIPPED)[2])
    elif process.returncode:
        outcome.wrong.append("\n".join([" ".join(command), *said.splitlines()[-LINES:]]))
    elif skips := SKIPS.search(last):
        outcome.skipped.append(f"{skips[0]} of {command[-1]}")


if __name__ == "__main__":
    sys.exit(main())
