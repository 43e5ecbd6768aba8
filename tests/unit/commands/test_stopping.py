"""How a crawl is asked to end by a closed terminal, and for the second time."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from queue import Queue

import pytest

from crawler.commands import stopping
from crawler.commands.terminal import INTERRUPTED


@pytest.fixture
def asked() -> Iterator[list[int]]:
    """The SIGTERMs that arrive; as if no nohup had ignored SIGHUP."""
    numbers: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGTERM)}
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, lambda number, _: numbers.append(number))
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_closed_terminal_asks_once_however_often_it_tells(asked: list[int]) -> None:
    stopping.hang_up_asks()
    for _ in range(3):
        signal.raise_signal(signal.SIGHUP)
    assert asked == [signal.SIGTERM]


def test_nohup_is_kept(asked: list[int]) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stopping.hang_up_asks()
    signal.raise_signal(signal.SIGHUP)
    assert asked == []


def test_who_forces_the_end_waits_for_no_callback(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    statuses: Queue[int] = Queue()
    monkeypatch.setattr(stopping, "FORCED_SECONDS", 0)
    monkeypatch.setattr(os, "_exit", statuses.put)
    forced = stopping.ForcedStop()
    states = [forced.so]
    forced()
    assert [*states, forced.so] == [False, True]
    assert statuses.get(timeout=60) == INTERRUPTED
    assert capfd.readouterr().err.count("\n") == 1
