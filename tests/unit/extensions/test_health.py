"""When a worker counts as alive and as ready."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy.crawler import Crawler

from crawler import stats as names
from crawler.extensions.health import WorkerHealth
from crawler.worker.upkeep import watchdog
from tests.clock import Clock


def _health(clock: Clock, stats: dict[str, Any] | None = None, **engine: Any) -> WorkerHealth:
    slot = SimpleNamespace(closing=engine.pop("closing", None))
    crawler = SimpleNamespace(
        engine=SimpleNamespace(**{"paused": False, "scheduler": object(), "_slot": slot} | engine),
        stats=SimpleNamespace(get_value=(stats or {}).get),
    )
    return WorkerHealth(cast("Crawler", crawler), max_lag_seconds=30, callback_seconds=900, clock=clock)


def test_a_loop_that_comes_round_in_time_is_alive() -> None:
    clock = Clock()
    health = _health(clock)
    clock.now += 30
    assert health.stuck() == ""
    clock.now += 1
    assert health.stuck() == "the event loop has not run for 31 s (limit 30 s)"
    health.beat()
    assert health.stuck() == ""


def test_a_callback_has_the_time_for_which_its_page_stays_leased(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "running", lambda thread: "ShopSpider.parse (shop.py:12)")
    clock = Clock()
    health = _health(clock)
    health.opened()
    clock.now += 900
    assert health.stuck() == ""
    assert health.unready() == "ShopSpider.parse (shop.py:12) has blocked the event loop for 900 s (limit 900 s)"
    clock.now += 1
    assert health.stuck() == "ShopSpider.parse (shop.py:12) has blocked the event loop for 901 s (limit 900 s)"


def test_a_loop_that_has_just_left_its_callback_is_not_blamed_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    running = "ShopSpider.parse (shop.py:12)"
    monkeypatch.setattr(watchdog, "running", lambda thread: running)
    clock = Clock()
    health = _health(clock)
    health.opened()
    clock.now += 800
    assert health.stuck() == ""
    running = ""
    clock.now += 30
    assert (health.stuck(), health.unready()) == ("", "")
    clock.now += 1
    assert health.stuck() == "the event loop has not run for 831 s (limit 30 s)"


def test_it_is_not_ready_before_the_spider_is_open() -> None:
    health = _health(Clock())
    assert health.unready() == "starting"
    assert health.worker is None
    health.opened()
    assert health.unready() == ""


@pytest.mark.parametrize(
    ("engine", "stats", "reason"),
    [
        ({"closing": object()}, {}, "closing: it finishes what it has started"),
        ({"paused": True}, {}, "paused"),
        ({}, {names.STORE_AWAY: 1}, "MongoDB does not store"),
        ({}, {names.STORE_AWAY: 0}, ""),
    ],
)
def test_what_keeps_it_from_leasing_is_said(engine: dict[str, Any], stats: dict[str, Any], reason: str) -> None:
    health = _health(Clock(), stats, **engine)
    health.opened()
    assert health.unready() == reason


def test_a_stuck_worker_is_not_ready() -> None:
    clock = Clock()
    health = _health(clock)
    health.opened()
    clock.now += 31
    assert "has not run" in health.unready()


def test_another_scheduler_has_no_worker() -> None:
    health = _health(Clock())
    health.opened()
    assert health.worker is None
