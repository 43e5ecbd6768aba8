"""The worker's short memory of what the frontier knows."""

from __future__ import annotations

import pytest
from scrapy import Request, Spider
from scrapy.settings import Settings

from crawler.worker.dupefilter import FrontierDupeFilter
from tests.clock import Clock


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


def test_a_plain_link_is_known_as_long_as_its_fingerprint(known: FrontierDupeFilter, clock: Clock) -> None:
    link = ("0", "http://a.example/menu")
    known.confirm_link(link, ("s", "0", 1))  # the frontier did not
    assert not known.confirmed_link(link)
    known.confirm(("s", "0", 1))
    clock.now += 30
    known.confirm_link(link, ("s", "0", 1))
    assert known.confirmed_link(link)
    assert not known.confirmed_link(("1", link[1]))
    clock.now += 30
    assert not known.confirmed_link(link)


def test_links_are_bounded_in_number_and_bytes(known: FrontierDupeFilter) -> None:
    known.confirm(("s", "0", 1))
    for number in range(10):
        known.confirm_link(("0", f"http://a.example/{number}"), ("s", "0", 1))
    assert len(known._links) <= 3
    endless = ("0", "http://a.example/" + "x" * 4_000)
    known.confirm_link(endless, ("s", "0", 1))
    assert not known.confirmed_link(endless)
    known.clear()
    assert not known._links


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


@pytest.mark.parametrize(("mode", "window", "life"), [("compact", 5, 60), ("window", 5, 0.5), ("window", 86_400, 60)])
def test_a_known_url_is_not_remembered_for_longer_than_a_part_of_its_window(
    mode: str, window: int, life: float
) -> None:
    now = 0.0
    spider = Spider("s")
    spider.settings = Settings({"FRONTIER_DEDUPE": mode, "FRONTIER_WINDOW_SECONDS": window})
    made = FrontierDupeFilter.from_spider(spider)
    made._clock = lambda: now
    made.confirm(("s", "0", 1))
    now = life - 0.01
    assert made.confirmed(("s", "0", 1))
    now = life
    assert not made.confirmed(("s", "0", 1))
