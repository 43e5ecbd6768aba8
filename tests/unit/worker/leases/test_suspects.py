"""A busy worker makes room for suspects now and then, and less and less often where that is in vain."""

from __future__ import annotations

import pytest

from crawler.worker.leases.suspects import LONGEST_WAIT, TURN_SECONDS, SuspectTurns
from tests.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def turns(clock: Clock) -> SuspectTurns:
    return SuspectTurns(clock, lambda low, high: 10.0)


def test_there_is_no_turn_without_suspects(turns: SuspectTurns, clock: Clock) -> None:
    turns.saw(0, taken=False, idle=False)
    clock.now += 10_000
    assert not turns.on()


def test_a_turn_comes_after_a_while_and_passes(turns: SuspectTurns, clock: Clock) -> None:
    turns.saw(3, taken=False, idle=False)
    assert not turns.on()
    clock.now += 10
    assert turns.on()
    clock.now += TURN_SECONDS + 0.1
    assert not turns.on()


def test_it_is_over_when_no_suspects_are_left(turns: SuspectTurns, clock: Clock) -> None:
    turns.saw(1, taken=False, idle=False)
    clock.now += 10
    turns.saw(0, taken=True, idle=True)
    assert not turns.on()


def test_a_turn_that_took_one_goes_on_to_its_end_and_the_next_comes_as_soon(turns: SuspectTurns, clock: Clock) -> None:
    turns.saw(3, taken=False, idle=False)
    clock.now += 10
    turns.saw(2, taken=True, idle=True)
    assert turns.on()
    clock.now += TURN_SECONDS + 0.1
    assert not turns.on()
    clock.now += 10
    assert turns.on()
    clock.now += TURN_SECONDS + 0.1  # this one was in vain
    assert not turns.on()
    clock.now += 19.9
    assert not turns.on()


def test_turns_in_vain_come_more_and_more_seldom(turns: SuspectTurns, clock: Clock) -> None:
    turns.saw(1, taken=False, idle=False)
    clock.now += 10
    turns.saw(1, taken=False, idle=True)  # it ran empty, and the suspect's host is blocked
    clock.now += 19.9
    assert not turns.on()
    clock.now += 0.1
    assert turns.on()
    clock.now += TURN_SECONDS + 0.1  # this time it did not even run empty
    assert not turns.on()
    clock.now += 39.9
    assert not turns.on()
    clock.now += 0.1
    assert turns.on()


def test_the_wait_between_turns_is_bounded(turns: SuspectTurns, clock: Clock) -> None:
    turns.saw(1, taken=False, idle=False)
    for _ in range(20):
        waited = 0
        while not turns.on():
            clock.now += 1
            waited += 1
        assert waited <= LONGEST_WAIT
        turns.saw(1, taken=False, idle=True)
    assert waited == LONGEST_WAIT
