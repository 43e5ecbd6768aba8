"""The worker's short memory of what the frontier knows."""

from __future__ import annotations

import pytest
from scrapy import Request

from crawler.worker.dupefilter import FrontierDupeFilter
from tests.unit.frontier.fakes import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def known(clock: Clock) -> FrontierDupeFilter:
    return FrontierDupeFilter(None, "", entries=3, life_seconds=60.0, clock=clock)


def test_it_knows_what_was_confirmed_for_a_while(known: FrontierDupeFilter, clock: Clock) -> None:
    assert not known.confirmed(("s", "0", 1))
    known.confirm(("s", "0", 1))
    clock.now += 59.9
    assert known.confirmed(("s", "0", 1))
    clock.now += 0.2
    assert not known.confirmed(("s", "0", 1))


def test_stream_and_generation_tell_apart(known: FrontierDupeFilter) -> None:
    known.confirm(("s", "0", 1))
    assert not known.confirmed(("s:browser", "0", 1))
    assert not known.confirmed(("s", "1", 1))


def test_the_least_recently_confirmed_makes_room(known: FrontierDupeFilter) -> None:
    for number in (1, 2, 3, 1, 4):
        known.confirm(("s", "0", number))
    assert [number for number in range(1, 5) if known.confirmed(("s", "0", number))] == [1, 3, 4]


def test_it_never_decides_by_itself_and_deletes_nothing(known: FrontierDupeFilter) -> None:
    known.confirm(("s", "0", 1))
    assert known.request_seen(Request("http://a.example/")) is False
    known.close("finished")
    assert known.confirmed(("s", "0", 1))
    known.clear()
    assert not known.confirmed(("s", "0", 1))


def test_the_fingerprint_is_the_projects(known: FrontierDupeFilter) -> None:
    tracked = known.request_fingerprint(Request("http://a.example/?utm_source=x"))
    assert tracked == known.request_fingerprint(Request("http://a.example/"))
    assert len(tracked) == 40
