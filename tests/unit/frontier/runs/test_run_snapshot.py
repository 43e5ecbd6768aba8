"""What counters tell of a run."""

from __future__ import annotations

import pytest

from crawler.frontier.run_record import Run, generation_of
from crawler.frontier.runs.run_snapshot import RunSnapshot

OPENED_MS, AGO_MS = 1_700_000_000_000, 100_000


@pytest.mark.parametrize("generation", ["0", generation_of("20261122-1")])
@pytest.mark.parametrize("row", [{}, {"queued": 1}, {"last": 0}], ids=["none", "counted again", "damaged"])
def test_a_run_of_which_nothing_tells_when_it_was_worked_on_is_quiet_since_it_was_opened(
    generation: str, row: dict[str, int]
) -> None:
    """Not since 1970, which woke somebody."""
    run = Run("1", "", "s", generation, "open", OPENED_MS)
    seen = RunSnapshot({("s", generation): {(0, "s"): row}}, OPENED_MS + AGO_MS)
    assert seen.counted(run).quiet_ms == AGO_MS


def test_a_plain_run_is_quiet_since_its_generation_was_worked_on_last() -> None:
    run = Run("1", "", "s", "0", "open", OPENED_MS)
    rows = {(0, "s"): {"last": OPENED_MS - AGO_MS}, (0, "s:browser"): {"queued": 1}}
    assert RunSnapshot({("s", "0"): rows}, OPENED_MS).counted(run).quiet_ms == AGO_MS
