"""Histograms that cost a page next to nothing."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from scrapy.crawler import Crawler
from scrapy.spiders import Spider

from crawler.counting.timings import FETCHES, STEPS, WAITS, Histogram, timings_of


@given(st.lists(st.floats(min_value=-1, max_value=200)))
def test_each_observation_is_in_one_bucket(seconds: list[float]) -> None:
    seen = Histogram(FETCHES)
    for one in seconds:
        seen.observe(one)
    assert sum(seen.counts) == len(seconds)
    assert math.isclose(seen.total, sum(max(one, 0) for one in seconds))
    for place, bound in enumerate(FETCHES):
        assert sum(seen.counts[: place + 1]) == sum(max(one, 0) <= bound for one in seconds)


def test_a_bucket_names_the_request_that_was_last_counted_there() -> None:
    seen = Histogram(STEPS)
    for request_id in ("0:1", "0:2", ""):
        seen.observe(0.002, request_id)
    seen.observe(99, "0:3")
    named = [example[0] if example else "" for example in seen.examples]
    assert named == ["", "0:2", *[""] * (len(STEPS) - 2), "0:3"]


def test_bounds_rise_and_a_crawler_has_one_set() -> None:
    assert all(list(bounds) == sorted(set(bounds)) for bounds in (WAITS, FETCHES, STEPS))
    one, two = Crawler(Spider), Crawler(Spider)
    assert timings_of(one) is timings_of(one)
    assert timings_of(one) is not timings_of(two)
