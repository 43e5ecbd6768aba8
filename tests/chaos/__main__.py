"""`python -m tests.chaos`, which is what `make chaos` runs: exit status 1 on any violation."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from random import SystemRandom

from demo.alone import TakenError, alone_in
from demo.arguments import seconds, whole
from tests.chaos import report
from tests.chaos.plan import HOSTS_MOST
from tests.chaos.result import Options
from tests.chaos.run import ChaosError, Run

ABOUT = "Workers killed, frozen and replaced: two runs of two to five minutes each, given up after --limit seconds"
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "chaos.md"


def main() -> int:
    """One run for each cap; exit status 2 while another chaos is under way here."""
    given = _parser().parse_args()
    try:
        with alone_in(given.home):
            return _run(given)
    except TakenError as error:
        sys.stderr.write(f"chaos: {error}\n")
        return 2


def _run(given: argparse.Namespace) -> int:
    seed = given.seed if given.seed is not None else SystemRandom().randrange(10**6)
    print(f"chaos: seed {seed}", flush=True)
    shared = {name: value for name, value in vars(given).items() if name not in {"caps", "write"}}
    results = []
    for cap in given.caps:
        shutil.rmtree(given.home / f"cap-{cap}", ignore_errors=True)
        options = Options(cap=cap, **{**shared, "seed": seed})
        try:
            results.append(Run(options, lambda text: print(text, flush=True)).run())
        except ChaosError as error:
            sys.stderr.write(f"chaos: {error}\n")
            return 1
        print("\n".join(report.lines(results[-1])), flush=True)
    if given.write:
        report.write(DOCUMENT, results)
    violations = [line for result in results for line in report.violations(result)]
    print(f"chaos: {len(violations)} violations, seed {seed}")
    return 1 if violations else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tests.chaos", description=ABOUT)
    parser.add_argument("--seed", type=whole(0), help="of site and blows (default: a new one, printed)")
    parser.add_argument("--caps", type=whole(1), nargs="+", default=[1, 4], help="in flight per host, a run each")
    parser.add_argument("--delay", type=seconds(), default=0.15, help="seconds between two requests to a host")
    parser.add_argument("--hosts", type=whole(2, HOSTS_MOST), default=40)
    parser.add_argument("--pages", type=whole(2), default=75, help="per host")
    parser.add_argument("--fatal", type=whole(0), default=2, help="pages that kill their worker (default %(default)s)")
    parser.add_argument("--workers", type=whole(1), default=4)
    parser.add_argument("--old", type=whole(0), default=1, help="of these, of the release before, for a while")
    parser.add_argument("--kills", type=whole(0), default=30)
    parser.add_argument("--freezes", type=whole(0), default=4)
    parser.add_argument("--restarts", type=whole(0), default=1, help="of Redis, each without its last second")
    parser.add_argument("--olders", type=whole(0), default=1, help="times that Redis goes back to an older state")
    parser.add_argument("--mongo-kills", type=whole(0), default=10)
    parser.add_argument("--fills", type=whole(0), default=2, help="times that Redis is full for a while")
    parser.add_argument("--empties", type=whole(0), default=1, help="times that Redis loses everything it holds")
    parser.add_argument("--rules", type=whole(0), default=1, help="times that a worker with a longer delay joins")
    parser.add_argument("--forked", action="store_true", help="workers are forks of one loaded process")
    parser.add_argument("--lease", type=seconds(1), default=5, help="seconds a dead worker keeps its requests")
    parser.add_argument("--limit", type=seconds(1), default=420, help="seconds after which a run is given up")
    parser.add_argument("--home", type=Path, default=Path(".demo/chaos"), help="where data and logs are kept")
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave docs/chaos.md alone")
    return parser


if __name__ == "__main__":
    sys.exit(main())
