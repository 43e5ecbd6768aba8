"""`make alert-mutants`: plants faults in the alerts, one at a time; at least nine of ten must be found by the cases."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.integration.monitoring.cases import of
from tests.integration.monitoring.rules import failures, mutants

LEAST = 0.9


def main() -> int:
    """Names those that live; the exit status is 1 when too many do."""
    planted, living = 0, 0
    with tempfile.TemporaryDirectory() as directory:
        for mutant in mutants():
            planted += 1
            if not failures(Path(directory), mutant.alert, of(mutant.alert), mutant.rule):
                living += 1
                print(f"lives: {mutant.alert}: {mutant.fault}", flush=True)
    share = 1 - living / planted
    print(f"{planted} faults planted, {planted - living} found ({share:.0%}); at least {LEAST:.0%}")
    return int(share < LEAST)


if __name__ == "__main__":
    sys.exit(main())
