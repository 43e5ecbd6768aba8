"""Progress is one living line on a terminal and a line every two seconds elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from demo.progress import Counts, Living, Plain, Rate, display

COUNTS = Counts(queued=7, leased=2, delayed=1, done=40, stored=33)


def test_waiting_is_all_that_is_not_done() -> None:
    assert COUNTS.waiting == 10


def test_rate_is_of_the_last_seconds_only() -> None:
    rate = Rate()

    assert rate.at(0.0, 0) == 0.0
    assert rate.at(1.0, 10) == pytest.approx(10)
    assert rate.at(10.0, 100) == 0.0  # nothing recent to compare with
    assert rate.at(12.0, 140) == pytest.approx(20)


def test_plain_lines_come_every_two_seconds() -> None:
    out = io.StringIO()
    with display(Console(file=out, width=120)) as screen:
        assert isinstance(screen, Plain)
        for elapsed in (0.0, 0.5, 1.9, 2.1, 3.0):
            screen.show(COUNTS, elapsed)
        screen.note("Killed worker-1")

    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    assert "queued    7" in lines[0]
    assert "stored   33" in lines[1]
    assert max(map(len, lines)) <= 80
    assert lines[2] == "Killed worker-1"


def test_a_terminal_gets_a_bar() -> None:
    out = io.StringIO()
    with display(Console(file=out, force_terminal=True, width=140)) as screen:
        assert isinstance(screen, Living)
        screen.show(COUNTS, 1.0)
        screen.note("Killed worker-1")

    assert "Killed worker-1" in out.getvalue()
    assert "done   40" in out.getvalue()


def test_a_bar_with_all_its_figures_fits_a_terminal_of_80_columns() -> None:
    out = io.StringIO()
    with display(Console(file=out, force_terminal=True, width=80, color_system=None)) as screen:
        screen.show(Counts(queued=1234, leased=64, delayed=123, done=1234, stored=1234), 1.0)

    assert "stored 1234   0/s 0:00:0" in out.getvalue()
    assert "…" not in out.getvalue()
