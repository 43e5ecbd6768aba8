"""What is said of requests that no host holds back."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.commands.views.status_snapshot import _held_up
from crawler.frontier.inspection.held_back import held_back
from crawler.frontier.inspection.inspection import FrontierStats
from crawler.frontier.messages import SpiderStats, WorkerState
from crawler.frontier.runs.control import ControlState
from crawler.frontier.state.budgets import Closed


def stats(**queued: int) -> FrontierStats:
    """How much is queued of each stream, as `shop_browser`."""
    tiers: Any = {tuple(name.split("_")): SpiderStats(queued=count) for name, count in queued.items()}
    spiders: dict[str, SpiderStats] = {}
    for (spider, _), counters in tiers.items():
        spiders[spider] = spiders.get(spider, SpiderStats()) + counters
    return FrontierStats(spiders, {}, tiers, 0, 0, 0, evicted=0, now_ms=0, dead_by={}, mark=())


def worker(spider: str, tiers: str, **info: Any) -> WorkerState:
    return WorkerState("w", 0, {"spider": spider, "tiers": tiers} | info)


def test_a_tier_that_no_worker_serves_is_named_with_its_cure() -> None:
    found = stats(shop_http=4, shop_browser=1, other_http=2, over_http=0)
    assert held_back(found, [worker("shop", "http,api")], ControlState()) == [
        "other: 2 pages wait for a worker of tier http (`scrapy crawl other`)",
        "shop: 1 page waits for a worker of tier browser (`scrapy crawl shop -s TIER=browser`)",
    ]
    assert held_back(found, [], ControlState()) == []


def test_what_operators_have_paused_is_named_with_its_cure() -> None:
    fields = {"pause spider shop", "pause spider absent", "pause host a.example", "pause run shop:20261122000003"}
    fields |= {"cancel run shop:20261122000004", "noise"}
    assert held_back(stats(shop_http=1), [], ControlState(frozenset(fields))) == [
        "a.example is paused (`scrapy control resume --host a.example`)",
        "run 20261122-3 is paused (`scrapy control resume --run 20261122-3`)",
        "shop is paused (`scrapy control resume --spider shop`)",
    ]


def test_a_paused_host_holds_nothing_back_where_nothing_is_to_go() -> None:
    """A worker without work said that it was idle for the sake of a host that somebody had misspelt."""
    said = ControlState(frozenset({"pause host a.example"}))
    assert held_back(stats(shop_http=0), [], said) == []


def test_budgets_and_hours_are_named_with_their_end_and_those_of_other_spiders_are_not() -> None:
    closed = [
        Closed("s:shop", "requests", 3_600_000),
        Closed("s:other", "requests", 1),
        Closed("d:a.example", "hours", 60_000),
    ]
    told = held_back(stats(shop_http=1), [], ControlState(), closed)
    assert [one.partition(" ")[0] for one in told] == ["the", "a.example"]
    assert all(one.endswith(" more") for one in told)


def test_a_run_that_has_dropped_what_was_left_holds_nothing_back() -> None:
    spent = [Closed("r:shop:20261122000001", "requests", 1)]
    assert held_back(stats(shop_http=0), [], ControlState(), spent) == []
    assert len(held_back(stats(shop_http=1), [], ControlState(), spent)) == 1


def test_a_store_that_is_away_is_told_beside_a_full_redis() -> None:
    ours = [worker("shop", "http", slowed="Redis is full", store_away=1, spool_bytes=1_234), worker("shop", "http")]
    assert _held_up(ours) == [
        "Leasing is slowed to one request at a time: Redis is full",
        "MongoDB stores nothing from 1 of 2 workers: 1,234 bytes of items wait on disk",
    ]


def test_changes_that_mongodb_refuses_are_told() -> None:
    [told] = _held_up([worker("shop", "http", changes_refused=3), worker("shop", "http")])
    assert told.startswith("MongoDB refuses changes of items from 1 of 2 workers")


@pytest.mark.parametrize(
    ("name", "of_s", "of_t"),
    [
        ("s:s", True, False),
        ("r:s:20231114000001", True, False),
        ("r:t:20231114000001", False, True),
        ("d:a.example", True, True),
        ("*:a.example", True, True),
        ("v:a.example", True, True),
    ],
)
def test_a_budget_concerns_its_spider_or_all_that_visit_its_hosts(name: str, of_s: bool, of_t: bool) -> None:
    closed = Closed(name, "requests", 1)
    assert (closed.concerns({"s"}), closed.concerns({"t"})) == (of_s, of_t)
    assert (closed.governs("a.example", "s"), closed.governs("a.example", "t")) == (of_s, of_t)
