"""The scopes of a spider and of its runs."""

from __future__ import annotations

import json
import logging
import tracemalloc
from typing import Any

import pytest
from scrapy import Spider

from crawler.errors import ConfigError
from crawler.policy.rules.domains import parse_rules
from crawler.routing.scoping import Scopes
from tests.shipped import shipped

RUN = "20261122000001"


def scopes(own: Any = None, **settings: Any) -> Scopes:
    spider = Spider("shop")
    spider.crawl_scope = own  # type: ignore[attr-defined]
    return Scopes(spider, shipped(**settings), parse_rules('["a.example".scope]\ndepth = 7'))


def test_a_run_goes_before_a_domain_that_before_a_spider_that_before_the_settings() -> None:
    made = scopes({"depth": 3, "paths": "/x"}, SCOPE={"depth": 2, "paths": "/y", "query_parameters": 4})
    made.learn(RUN, '{"depth": 9}')
    for generation, url, depth in (
        ("0", "http://b.example/", 3),
        ("0", "http://a.example/", 7),
        (RUN, "http://a.example/", 9),
        ("20261122000002", "http://a.example/", 7),
    ):
        scope = made.of(generation).of(url)
        assert (scope.depth, scope.paths, scope.query_parameters) == (depth, ("/x",), 4)


def test_a_spiders_scope_may_be_given_as_text() -> None:
    assert scopes('{"depth": 5}').usual.of("http://b.example/").depth == 5


@pytest.mark.parametrize("own", ["{", "[]", 5, {"deep": 1}, '{"depth": "x"}', "[" * 100_000])
def test_a_bad_one_of_a_spider_is_named(own: Any) -> None:
    with pytest.raises(ConfigError, match="crawl_scope of spider shop"):
        scopes(own)


def test_a_run_may_bring_a_budget_along() -> None:
    made = scopes()
    given = json.dumps({"depth": 1, "budget": {"requests": 5, "mb": 2}})
    budget = made.budget_of(given)
    assert budget is not None
    assert (budget.requests, budget.mb) == (5, 2)
    made.learn(RUN, given)
    assert made.budgeted
    assert made.of(RUN).of("http://b.example/").depth == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('{"deep": 1}', "--scope['deep'] = 'deep' is invalid: expected one of within, "),
        ('{"deep": 1}', ", pages, budget"),
        ('{"budget": {"hours": "1-2"}}', "--scope['budget']['hours'] = '1-2' is invalid"),
        ('{"budget": {"hours": "01:00-02:00"}}', "no hours and no time_zone"),
        ('{"budget": 5}', "--scope['budget'] = 5"),
        ("{", "a JSON object"),
    ],
)
def test_a_bad_one_of_a_run_is_named_and_left_out_where_it_is_stored(
    given: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    made = scopes()
    with pytest.raises(ConfigError) as error:
        made.given(given)
    assert words in str(error.value)
    with caplog.at_level(logging.ERROR):
        made.learn(RUN, given)
    assert made.of(RUN) is made.usual
    assert RUN in caplog.text


def test_only_so_many_runs_are_remembered_and_those_with_pages_in_work_are() -> None:
    made = scopes(CONCURRENT_REQUESTS=32)
    made.learn(RUN, '{"depth": 1}')
    for number in range(1, 1_500):
        made.learn(str(int(RUN) + number), '{"depth": 2}')
        assert made.knows(RUN), "each batch has pages of it"
    assert made.of(RUN).of("http://b.example/").depth == 1
    assert not made.knows(str(int(RUN) + 1))
    assert made.knows(str(int(RUN) + 1_499))


def test_as_many_runs_as_a_worker_may_have_pages_of_are_remembered() -> None:
    made = scopes(CONCURRENT_REQUESTS=1_000)
    for number in range(3_000):
        made.learn(str(int(RUN) + number), f'{{"depth": {number % 7}}}')
    assert made.knows(RUN)


def test_what_is_remembered_of_the_links_of_runs_does_not_grow_with_the_runs() -> None:
    """100 runs with scopes of their own once kept 16,384 links each."""
    made = scopes()
    tracemalloc.start()
    try:
        for number in range(30):
            made.learn(RUN[:-2] + f"{number:02d}", f'{{"depth": {number + 2}}}')
            rules = made.of(RUN[:-2] + f"{number:02d}")
            for link in range(2_000):
                rules.link(f"https://shop.example/{number}/{link}/{'x' * 400}", "https://shop.example/", 1)
        grown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert grown < 20_000_000


def test_a_run_whose_number_may_be_anothers_is_asked_for_again_and_scoped_until_then() -> None:
    made = scopes()
    made.learn(RUN, '{"depth": 1}')
    before = made.of(RUN)
    made.forget()
    assert not made.knows(RUN)
    assert made.of(RUN) is before
    made.learn(RUN, "")
    assert made.knows(RUN)
    assert made.of(RUN) is made.usual
