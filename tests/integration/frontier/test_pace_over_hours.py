"""The pace finds what a site allows: minutes and hours of simulated time on the shipped Lua text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis

from tests.integration.frontier.pace_simulation import Run, Site, simulate

MINUTE_MS = 60_000
pytestmark = pytest.mark.one_server


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    with redis.Redis.from_url(redis_url, socket_timeout=60) as client:
        yield client


def worst(runs: list[Run], fleet: int = 1) -> tuple[float, float]:
    """The least good answers per second, and the largest share refused, after the first minute."""
    told = [run.after(60, fleet) for run in runs]
    return min(good for good, _ in told), max(bad for _, bad in told)


@pytest.mark.parametrize("retry_after_ms", [0, 1_000])
@pytest.mark.parametrize("cap", [1, 8])
@pytest.mark.parametrize("rate", [1, 5, 20, 100])
def test_it_finds_what_the_site_allows(client: Any, rate: int, cap: int, retry_after_ms: int) -> None:
    path_ms, latency_ms = (1.0, 2.0) if rate == 100 else (6.0, 5.0)
    floor, minutes = min(500 / rate, 100), 3 if rate > 5 else 10
    site = Site(rate, retry_after_ms, 0, 429, 0, 0, floor, cap, latency_ms, path_ms, run_ms=minutes * MINUTE_MS)
    good, refused = worst([simulate(client, site, seed) for seed in (1, 2)])
    assert good >= 0.85 * rate
    assert refused <= 0.03


@pytest.mark.parametrize("rate", [5, 20])
@pytest.mark.parametrize("retry_after_ms", [0, 1_000])
def test_two_fleets_share_a_site(client: Any, rate: int, retry_after_ms: int) -> None:
    site = Site(rate, retry_after_ms, floor=500 / rate, fleets=2, apart_ms=5_000, run_ms=15 * MINUTE_MS)
    for seed in (1, 2):
        run = simulate(client, site, seed)
        shares = [run.after(60, fleet)[0] for fleet in (1, 2)]
        assert sum(shares) >= 0.85 * rate
        assert min(shares) >= 0.3 * sum(shares)


@pytest.mark.parametrize(("status", "least"), [(403, 0.8), (429, 0.6)])
def test_refusals_that_are_not_about_the_pace_cost_little_of_it(client: Any, status: int, least: float) -> None:
    site = Site(noise=0.05, noise_status=status, floor=100, run_ms=60 * MINUTE_MS)
    free = simulate(client, Site(floor=100, run_ms=10 * MINUTE_MS)).after(60)[0]
    paces = [good / (1 - bad) for good, bad in (simulate(client, site, seed).after(60) for seed in range(1, 6))]
    assert sum(paces) / len(paces) >= least * free
    assert min(paces) >= 0.75 * least * free


@pytest.mark.parametrize("status", [429, 403])
def test_a_site_that_refuses_everything_is_asked_less_and_less(client: Any, status: int) -> None:
    run = simulate(client, Site(refuse_all=status, floor=10, cap=8, run_ms=180 * MINUTE_MS))
    asked = [bad for _, (_, bad, _) in sorted(run.bins[1].items())]
    assert sum(asked) < 25
    assert max(list(run.bins[1])) * 10 > 3_600, "but it is asked again"


def test_a_limit_that_is_lifted_is_found(client: Any) -> None:
    """Memory of the limit ages: after ten minutes of 429s at 1 a second, and none any more, the pace is back."""
    limited = simulate(client, Site(1, floor=50, run_ms=20 * MINUTE_MS, lifted_ms=10 * MINUTE_MS))
    assert limited.after(18 * 60)[0] > 10
