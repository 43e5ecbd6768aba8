"""Which pool a request belongs to, and its credentials."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request

from crawler.errors import ConfigError
from crawler.meta import POOL_PROXY
from crawler.policy.proxies.health import State
from crawler.proxies.choice import Attempt, Chooser
from crawler.proxies.pools import PoolSource, ProxyConfig
from crawler.routing.host_rules import HostRules
from tests.unit.proxies.test_pools import settings

POOLS = {
    "homes": {"proxies": ["http://u-{session}-{country}:pw@gate.test:1"], "country": "us"},
    "fixed": {"proxies": ["http://a.test:1", "http://b.test:1"]},
}
DOMAINS = """
["shop.com"]
proxy_pool = "homes"
proxy_country = "de"
proxy_session = "session"
["direct.com"]
proxy_pool = ""
"""


class Health:
    """What a pool's proxies are, and which trials are claimed."""

    def __init__(self) -> None:
        self.states: dict[str, State] = {}
        self.claims: list[str] = []

    async def sick(self, pool: str) -> dict[str, State]:
        return self.states

    async def claim(self, pool: str, proxy: str) -> bool:
        self.claims.append(proxy)
        self.states[proxy] = State.QUARANTINED  # others were faster
        return False

    def wait_ms(self, pool: str, proxies: Any) -> int:
        return 1_234


@pytest.fixture
def health() -> Health:
    return Health()


@pytest.fixture
def chooser(tmp_path: Path, health: Health) -> Chooser:
    (tmp_path / "domains.toml").write_text(DOMAINS)
    made = settings(PROXY_POOLS=POOLS, DOMAINS_FILE=str(tmp_path / "domains.toml"))
    rules, shared = HostRules.from_settings(made), health
    source = PoolSource(ProxyConfig.from_settings(made), rules.domains)
    build: Any = Chooser
    chooser: Chooser = build(source, rules, shared, "fixed", random.Random(1), lambda: 0.0)
    return chooser


@pytest.mark.parametrize(
    ("url", "meta", "pool"),
    [
        ("https://other.com/", {}, "fixed"),
        ("https://www.shop.com/", {}, "homes"),
        ("https://www.shop.com/", {"proxy_pool": "fixed"}, "fixed"),
        ("https://www.shop.com/", {"proxy_pool": ""}, None),
        ("https://direct.com/", {}, None),
        ("https://other.com/", {"proxy": "http://mine:1"}, None),
        ("https://other.com/", {"proxy": None}, None),
        ("https://other.com/", {"proxy": "http://a.test:1", POOL_PROXY: "http://a.test:1"}, "fixed"),
        ("https://other.com/", {"tier": "api"}, None),
    ],
)
def test_the_pool_of_a_request(chooser: Chooser, url: str, meta: dict[str, Any], pool: str | None) -> None:
    found = chooser.pool(Request(url, meta=meta))
    assert (found.name if found else None) == pool


def test_an_unknown_pool_is_refused(chooser: Chooser) -> None:
    with pytest.raises(ConfigError, match="proxy_pool = 'x' is invalid: expected one of the pools homes, fixed"):
        chooser.pool(Request("https://other.com/", meta={"proxy_pool": "x"}))


async def credentials(chooser: Chooser, **meta: Any) -> str:
    request = Request("https://shop.com/", meta=meta)
    pool = chooser.pool(request)
    assert pool is not None
    attempt = await chooser.choose(request, pool)
    assert isinstance(attempt, Attempt)
    if meta.get("fails"):
        chooser.leave_session(attempt)
    return chooser.credentials(attempt)[0]


async def test_long_names_of_sessions_leave_nothing_behind(chooser: Chooser) -> None:
    long = "x" * 100_000
    first = await credentials(chooser, session=long)
    await credentials(chooser, session=long, fails=True)
    assert await credentials(chooser, session=long) != first
    assert sum(len(session) for _, session in chooser._salts) < 1_000


async def test_a_session_keeps_its_user_name_until_its_proxy_fails(chooser: Chooser) -> None:
    first = await credentials(chooser, session="a")
    assert first.endswith("-de")
    assert await credentials(chooser, session="a") == first != await credentials(chooser, session="b")
    assert (await credentials(chooser, session="a", country="SE")).endswith("-se")
    await credentials(chooser, session="a", fails=True)
    assert await credentials(chooser, session="a") != first


async def test_a_country_nobody_serves_is_refused(chooser: Chooser) -> None:
    request = Request("https://other.com/", meta={"country": "fr"})
    pool = chooser.pool(request)
    assert pool is not None
    with pytest.raises(ConfigError, match="country = 'fr' is invalid: expected a country that a proxy of pool 'fixed'"):
        await chooser.choose(request, pool)


async def test_a_trial_that_others_have_is_left_to_them_and_without_any_proxy_there_is_a_wait(
    chooser: Chooser, health: Health
) -> None:
    request = Request("https://other.com/")
    pool = chooser.pool(request)
    assert pool is not None
    health.states["a.test:1"] = State.DUE
    attempt = await chooser.choose(request, pool)
    assert isinstance(attempt, Attempt)
    assert (health.claims, attempt.endpoint.name) == (["a.test:1"], "b.test:1")
    health.states["b.test:1"] = State.QUARANTINED
    assert await chooser.choose(request, pool) == 1_234
