"""The probes of a replica: from memory, whatever Redis and the event loop do."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.frontier.state.leader import LeaderLease
from crawler.serve.health import ServiceHealth
from tests.clock import Clock

ASKED: Any = SimpleNamespace(query_params={})
VERBOSE: Any = SimpleNamespace(query_params={"verbose": ""})


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def leadership() -> Any:
    standing = LeaderLease(is_ours=False, token=3, holder="other:1", left_ms=9_000)
    return SimpleNamespace(standing=standing, silence=1.0, lead=None)


@pytest.fixture
def health(leadership: Any, clock: Clock) -> ServiceHealth:
    return ServiceHealth(leadership, max_lag_seconds=60, fresh_seconds=15, clock=clock)


def words(answer: Any) -> str:
    return bytes(answer.body).decode().strip()


def test_it_is_alive_while_its_loop_turns(health: ServiceHealth, leadership: Any, clock: Clock) -> None:
    leadership.silence = 1e9  # a Redis that is away is no reason to restart anything
    clock.now += 60
    assert health.healthz(ASKED).status_code == 200
    clock.now += 1
    answer = health.healthz(ASKED)
    assert (answer.status_code, words(answer)) == (503, "the event loop has not run for 61 s (limit 60 s)")
    health.beat()
    assert health.healthz(ASKED).status_code == 200


def test_a_replica_that_follows_is_ready_and_says_whom(health: ServiceHealth, leadership: Any) -> None:
    answer = health.readyz(ASKED)
    assert (answer.status_code, words(answer)) == (200, "ok, other:1 leads")
    leadership.lead = object()
    assert words(health.readyz(ASKED)) == "ok, this replica leads"


@pytest.mark.parametrize(
    ("changed", "why"),
    [({"standing": None}, "starting"), ({"silence": 16.0}, "Redis has not answered for 16 s")],
)
def test_one_that_does_nothing_for_the_fleet_is_not_ready(
    health: ServiceHealth, leadership: Any, changed: dict[str, Any], why: str
) -> None:
    vars(leadership).update(changed)
    answer = health.readyz(ASKED)
    assert (answer.status_code, words(answer)) == (503, why)


def test_nor_is_one_that_is_stuck_or_ends(health: ServiceHealth, clock: Clock) -> None:
    clock.now += 61
    assert words(health.readyz(ASKED)) == "the event loop has not run for 61 s"
    health.is_closing = True
    assert words(health.readyz(ASKED)) == "closing"


def test_verbose_is_json(health: ServiceHealth, leadership: Any, clock: Clock) -> None:
    answer = health.readyz(VERBOSE)
    told = json.loads(bytes(answer.body))
    assert (answer.status_code, told["ready"], told["leads"], told["leader"]) == (200, True, False, "other:1")
    assert told["checks"] == {
        "event_loop": {"ok": True, "lag_seconds": 0.0},
        "redis": {"ok": True, "silent_seconds": 1.0},
    }
    leadership.standing, leadership.silence = None, 99.0
    clock.now += 61
    answer = health.readyz(VERBOSE)
    told = json.loads(bytes(answer.body))
    assert (answer.status_code, told["reason"]) == (503, "starting")
    assert [check["ok"] for check in told["checks"].values()] == [False, False]
