"""Pools as people write them, and errors that do not show passwords."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.errors import ConfigError
from crawler.policy.proxies.tables import parse_pools, parse_pools_text

TEXT = """
[homes]
proxies = ["http://user-{session}-{country}:p%40ss@gate.example:8000"]
country = "DE"
session_seconds = 600
cost_per_gb = 3.5

[fixed]
proxies = ["http://10.0.0.1:3128", { url = "http://u:w@10.0.0.2:3128", country = "se" }]
"""


def test_a_file() -> None:
    pools = parse_pools_text(TEXT, "pools.toml")
    [gate] = pools["homes"].endpoints
    assert (gate.name, gate.url) == ("gate.example:8000", "http://gate.example:8000")
    assert gate.credentials("s1", "fr") == ("user-s1-fr", "p@ss")
    assert (pools["homes"].country, pools["homes"].session_seconds, pools["homes"].cost_per_gb) == ("de", 600, 3.5)
    assert [one.country for one in pools["fixed"].endpoints] == ["", "se"]


def test_accounts_at_one_address_are_told_apart_without_telling_them() -> None:
    table = {"proxies": ["http://alice:1@g.example:80", "http://bob:2@g.example:80", "https://[::1]:80"]}
    names = [one.name for one in parse_pools({"p": table}, "PROXY_POOLS")["p"].endpoints]
    assert len(set(names)) == 3
    assert all(name.startswith("g.example:80#") for name in names[:2])
    assert names[2] == "[::1]:80"
    assert not [name for name in names if "alice" in name or "bob" in name]


def pool(*proxies: Any, **keys: Any) -> dict[str, Any]:
    return {"p": {"proxies": list(proxies)} | keys}


@pytest.mark.parametrize(
    ("tables", "complaint"),
    [
        ({"P": {}}, "P: pool = 'P'"),
        ({"count": {}}, "pool = 'count'"),
        ({5: {"proxies": ["http://a:1"]}}, "pool = 5"),
        ({"p": 5}, "a table with a key `proxies`"),
        (pool(), "[p] proxies = [] is invalid: expected a list"),
        (pool("http://a:1", speed=1), "[p] key = 'speed' is invalid: expected one of proxies, country"),
        (pool("http://a:1", country="Germany"), "[p] country = 'Germany' is invalid: expected a two-letter"),
        (pool("http://a:1", cost_per_gb=-1), "[p] cost_per_gb = -1"),
        (pool("http://a:1", 7), "proxies, number 2 = 'int'"),
        (pool("socks5://u:hidden@a:1"), "number 1 = 'socks5://...' is invalid: expected http://"),
        (pool("http://u:hidden@a"), "number 1 = 'http://...'"),
        (pool("http://u:hidden@a:1/path"), "number 1 = 'http://...'"),
        (pool("http://u:hidden@a:99999"), "number 1 = '...'"),
        (pool("u:hidden@a:1"), "number 1 = 'u://...'"),
        (pool({"url": "http://u:hidden@a:1", "country": 5}), "number 1 country = 5"),
        (pool({"url": "http://u:hidden@a:1", "zone": 5}), "number 1 = 'dict'"),
        (pool("http://u-{city}:hidden@a:1"), "no braces but {session} and {country}"),
        (pool("http://u-{:hidden@a:1"), "no braces but"),
        (pool("http://u-{country}:hidden@a:1"), "a `country` for the pool too"),
        (pool("http://u:hidden@a:1", "http://u:hidden2@a:1"), "each proxy only once"),
    ],
)
def test_mistakes_name_the_place_and_no_password(tables: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_pools(tables, "PROXY_POOLS" if tables.keys() != {"P"} else "P")
    assert complaint in str(refused.value)
    assert "hidden" not in str(refused.value)


PROXIES = st.sampled_from(['"http://a:1"', '"http://u:hidden@a:2"', '"http://u-{country}:p@a:3"', '"x"', "1", "]", ""])
KEYS = st.sampled_from(['country = "de"', "country = 1", "cost_per_gb = 1", "cost_per_gb = -1", "[p]", "[q]", "#", "="])


@given(
    st.text(alphabet='[]{}="\n.#ap1:/@ hidden', max_size=100)
    | st.builds(
        lambda proxies, keys: "\n".join(["[p]", f"proxies = [{', '.join(proxies)}]", *keys]),
        st.lists(PROXIES, max_size=3),
        st.lists(KEYS, max_size=2),
    )
)
@example('[p]\nproxies = ["http://a:1"]')
def test_any_text_is_pools_or_one_clear_error(text: str) -> None:
    try:
        clear = all(pool.endpoints for pool in parse_pools_text(text, "pools.toml").values())
    except ConfigError as error:
        clear = error.name.startswith("pools.toml")
    assert clear
