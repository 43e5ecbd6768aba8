"""The arithmetic of the re-parse benchmark."""

from __future__ import annotations

import pytest

from benchmarks.reparse import Parser, Round, body


class Ended(Parser):
    """A worker whose progress is written down."""

    def __init__(self, seen: list[tuple[float, int]], stats: dict[str, int]) -> None:
        self._seen = seen
        self.stats = stats


def test_ratios_are_of_medians() -> None:
    rounds = [Round(100, {1: 300, 2: 700}), Round(200, {1: 500, 2: 900}), Round(90, {1: 200, 2: 500})]
    assert body(rounds) == [
        ["crawled again, one worker", "100", "1.0"],
        ["parsed again, workers: 1", "300", "3.0"],
        ["parsed again, workers: 2", "700", "7.0"],
    ]


def test_starting_up_is_left_out() -> None:
    ended = Ended([(9.0, 20), (10.0, 110), (11.0, 600), (12.0, 1_100)], {"any": 1})
    assert (ended.per_second(), ended.pages) == (495, 1_100)


def test_a_run_that_is_over_at_once_is_no_figure() -> None:
    with pytest.raises(ChildProcessError, match="more --pages"):
        Ended([(1.0, 10), (2.0, 1_000)], {"any": 1}).per_second()


@pytest.mark.parametrize(("seen", "stats"), [([(1.0, 10), (2.0, 20)], {}), ([(1.0, 10)], {"any": 1})])
def test_a_worker_that_did_not_end_well_is_no_figure(seen: list[tuple[float, int]], stats: dict[str, int]) -> None:
    with pytest.raises(ChildProcessError, match="did not come to its end"):
        Ended(seen, stats).per_second()
