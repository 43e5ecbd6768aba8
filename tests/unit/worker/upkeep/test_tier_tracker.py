"""One worker's part in learning: what it tells, when, and what it is told."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request

from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.state.tiers import Spent
from crawler.meta import REQUEST_ID
from crawler.policy.tiers import UNKNOWN, LearnedTier, Tier
from crawler.routing.host_rules import HostRules
from crawler.routing.tier_routing import TierRouting
from crawler.worker.upkeep.tier_tracker import TierConfig, TierTracker
from tests.clock import Clock
from tests.unit.frontier.fakes import Outage, Stats
from tests.unit.test_settings import base

PAGE = Request("http://a.example/")
HOST = "a.example"


class Fleet:
    """Stands in for Redis: one host map, one purse."""

    def __init__(self) -> None:
        self.now_ms = 1_000
        self.known: dict[str, LearnedTier] = {}
        self.requests: dict[Tier, int] = {}
        self.cost: dict[Tier, float] = {}
        self.serving: frozenset[Tier] = frozenset({"http", "browser"})
        self.forgotten = 0
        self.away = 0  # calls that fail yet

    async def learn(self, host: str, lesson: Callable[[LearnedTier], LearnedTier]) -> LearnedTier:
        self._call()
        lesson(LearnedTier("api"))  # another worker was faster: the lesson is applied again
        self.known[host] = lesson(self.known.get(host, UNKNOWN))
        return self.known[host]

    async def changes(self) -> dict[str, LearnedTier]:
        return dict(self.known)

    def forget(self) -> None:
        self.forgotten += 1

    async def served(self, spider: str) -> frozenset[Tier]:
        return self.serving

    async def spend(self, requests: Mapping[Tier, int], cost: Mapping[Tier, float]) -> Spent:
        self._call()
        for tier, count in requests.items():
            self.requests[tier] = self.requests.get(tier, 0) + count
        for tier, amount in cost.items():
            self.cost[tier] = self.cost.get(tier, 0.0) + amount
        return Spent(self.requests, self.cost)

    def _call(self) -> None:
        if self.away:
            self.away -= 1
            raise FrontierUnavailableError("away")


class Desk:
    def __init__(self, **settings: Any) -> None:
        project = base(**settings)
        self.fleet, self.tier_routing, self.stats, self.outage = Fleet(), TierRouting(["http"]), Stats(), Outage()
        self.lost: set[str] = set()  # hosts of shards that are away
        rules, config = HostRules.from_settings(project), TierConfig.from_settings(project)
        around: Any = (
            SimpleNamespace(count=1, serves=lambda host: host not in self.lost),
            self.tier_routing,
            rules,
            config,
            self.stats,
            "shop",
            self.outage,
            Clock(),
        )
        self.tracker = TierTracker(*around)
        self.tracker.tiers = self.fleet  # type: ignore[assignment]


async def test_the_guide_knows_what_the_fleet_knows() -> None:
    desk = Desk(TIERS_SERVED="api")
    desk.fleet.known[HOST] = LearnedTier("browser", until_ms=10**15)
    await desk.tracker.refresh()
    assert desk.tier_routing.hosts == desk.fleet.known
    assert desk.tier_routing.served == {"http", "browser", "api"}  # its own, the fleet's, and those that are to come
    assert desk.tier_routing.now_ms() == 1_000


async def test_what_was_known_before_a_loss_is_forgotten_and_all_is_asked_for_again() -> None:
    desk = Desk()
    desk.fleet.known[HOST] = LearnedTier("browser", until_ms=10**15)
    await desk.tracker.refresh()
    del desk.fleet.known[HOST]
    desk.tracker.forget()
    assert desk.tier_routing.hosts == {}
    desk.tier_routing.hosts[HOST] = LearnedTier("browser")  # a refresh in progress stores what it had read before
    await desk.tracker.refresh()
    assert (desk.tier_routing.hosts, desk.fleet.forgotten) == ({}, 1)


async def test_a_host_that_fails_often_enough_is_lifted_and_that_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk()
    await desk.tracker.refresh()
    with caplog.at_level(logging.WARNING):
        steps = [await desk.tracker.failed(PAGE, "http") for _ in range(5)]
    assert steps == [("browser", "")] * 5
    assert desk.tier_routing.hosts[HOST].tier == desk.fleet.known[HOST].tier == "browser"
    assert [record.getMessage() for record in caplog.records] == [
        "a.example is fetched by tier browser for 6 h: in tier http its pages are blocked or empty"
    ]


async def test_a_page_teaches_once_however_often_it_fails_at_a_tier() -> None:
    """Of 200 hosts that block one page in twelve, 128 were "fetched by browser"."""
    desk = Desk()
    await desk.tracker.refresh()
    page = PAGE.replace(meta={REQUEST_ID: "0:1"})
    for _ in range(5):
        await desk.tracker.failed(page, "http")
    assert desk.fleet.known[HOST].failed == 1


async def test_a_failure_waits_for_redis() -> None:
    desk = Desk()
    desk.fleet.away = 2
    desk.tier_routing.served = frozenset({"http"})
    assert await desk.tracker.failed(PAGE, "http") == (None, "no worker serves browser")
    assert (desk.outage.waited, desk.fleet.known[HOST].failed) == (2, 1)


async def test_hosts_of_a_shard_that_is_away_hold_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    for host in ("lost.example", HOST):
        desk.tier_routing.hosts[host] = LearnedTier("http", failed=1)
        desk.tracker.good(host, PAGE, "http")
    desk.lost.add("lost.example")
    learned: list[str] = []

    async def learn(host: str, lesson: Callable[[LearnedTier], LearnedTier]) -> LearnedTier:
        learned.append(host)
        return LearnedTier("http", failed=1)

    monkeypatch.setattr(desk.fleet, "learn", learn)
    await desk.tracker.refresh()
    assert learned == [HOST]
    desk.lost.clear()
    await desk.tracker.refresh()
    assert learned == [HOST, "lost.example"]


async def test_good_pages_count_for_known_hosts_only_and_in_one_call() -> None:
    desk = Desk()
    for _ in range(5):
        desk.tracker.good(HOST, PAGE, "http")
    await desk.tracker.refresh()
    assert desk.fleet.known == {}
    desk.fleet.known[HOST] = LearnedTier(failed=1)
    await desk.tracker.refresh()
    for _ in range(5):
        desk.tracker.good(HOST, PAGE, "http")
    await desk.tracker.refresh()
    await desk.tracker.refresh()
    assert desk.fleet.known[HOST] == LearnedTier(failed=1, ok=5)


async def test_what_was_spent_is_counted_once_whatever_fails() -> None:
    desk = Desk()
    desk.tracker.spend("api", cost=2.5)
    desk.tracker.spend("browser")
    desk.fleet.away = 1
    with pytest.raises(FrontierUnavailableError):
        await desk.tracker.refresh()
    desk.tracker.spend("api", requests=0, cost=0.5)
    await desk.tracker.refresh()
    await desk.tracker.refresh()
    assert (desk.fleet.requests, desk.fleet.cost["api"]) == ({"api": 1, "browser": 1}, 3.0)
    assert desk.stats.counts == {"tiers/requests/api": 1, "tiers/requests/browser": 1}


async def test_a_spent_budget_is_said_and_so_is_the_next_day(caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk(TIER_DAILY_COST={"api": 2})
    desk.tracker.spend("api", cost=2)
    with caplog.at_level(logging.WARNING):
        await desk.tracker.refresh()
        assert desk.tier_routing.spent == {"api"}
        await desk.tracker.refresh()
        desk.fleet.cost.clear()
        await desk.tracker.refresh()
    assert desk.tier_routing.spent == frozenset()
    assert [record.getMessage() for record in caplog.records] == [
        "The daily budget of tier api is spent: its queue waits until midnight UTC",
        "A new day: tier api has budget again",
    ]


async def test_a_known_need_is_worth_waiting_for_and_a_single_page_is_not() -> None:
    desk = Desk()
    await desk.tracker.refresh()
    desk.tier_routing.spent = frozenset({"browser"})
    steps = [await desk.tracker.failed(PAGE, "http") for _ in range(3)]
    assert steps == [(None, "the daily budget of browser is spent")] * 2 + [("browser", "")]


async def test_a_tier_that_no_worker_serves_is_said_to_wait_for_one(caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk()
    desk.tier_routing.served = frozenset({"http"})
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            await desk.tracker.failed(PAGE, "http")
    [record] = caplog.records
    assert record.getMessage().startswith("a.example is fetched by tier browser for 6 h, once a worker serves it: ")
