"""Which queue a request goes to."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.utils.request import RequestFingerprinter

from crawler.errors import ConfigError
from crawler.frontier.streams import stream_of, tier_of
from crawler.policy.tiers import TIERS, LearnedTier
from crawler.routing.encoder import Encoder
from crawler.routing.tier_routing import TierRouting
from tests.shipped import shipped

RULES = """
["hard.example"]
tier = "browser"

["cheap.example"]
max_tier = "http"
"""
LATER = 10**15


@pytest.fixture
def encoder(tmp_path: Any) -> Encoder:
    rules = tmp_path / "domains.toml"
    rules.write_text(RULES)
    settings = shipped()
    settings.set("DOMAINS_FILE", str(rules), priority="cmdline")
    return Encoder(Spider("shop"), settings, RequestFingerprinter(), TierRouting(["http"]))


def stream(encoder: Encoder, url: str, **meta: Any) -> str:
    return encoder.message(Request(url, meta=meta), generation="0", dedupe=True).stream


@pytest.mark.parametrize("name", ["a:b", "a!", "a\nb", "", "a\tb", "a\x00", "\udc80", "a" * 241])
def test_a_spider_whose_name_parts_a_queues_name_is_refused_by_name(encoder: Encoder, name: str) -> None:
    spider = Spider("shop")
    spider.name = name
    with pytest.raises(ConfigError, match=r"name of the spider = .* expected a name without ':'"):
        Encoder(spider, shipped(), RequestFingerprinter(), TierRouting(["http"]))


def test_streams_and_tiers_are_inverse() -> None:
    assert [tier_of(stream_of("shop", tier)) for tier in TIERS] == list(TIERS)
    assert stream_of("shop") == "shop"


@pytest.mark.parametrize(
    ("url", "meta", "expected"),
    [
        ("http://any.example/", {}, "shop"),
        ("http://hard.example/", {}, "shop:browser"),
        ("http://hard.example/", {"min_tier": "api"}, "shop:api"),
        ("http://any.example/", {"min_tier": "browser"}, "shop:browser"),
        ("http://any.example/", {"min_tier": "carrier pigeon"}, "shop"),
        ("http://cheap.example/", {"min_tier": "browser"}, "shop"),
    ],
)
def test_rules_and_requests_decide_before_the_first_fetch(
    encoder: Encoder, url: str, meta: dict[str, Any], expected: str
) -> None:
    assert stream(encoder, url, **meta) == expected


def test_a_learned_tier_counts_while_it_is_served_and_its_term_lasts(encoder: Encoder) -> None:
    tier_routing = encoder.tier_routing
    tier_routing.hosts["any.example"] = LearnedTier("browser", until_ms=LATER)
    assert stream(encoder, "http://any.example/") == "shop"  # no worker serves it
    tier_routing.served = frozenset({"http", "browser"})
    assert stream(encoder, "http://any.example/") == "shop:browser"
    assert stream(encoder, "http://other.example/") == "shop"
    tier_routing.now_ms = lambda: LATER
    assert stream(encoder, "http://any.example/") == "shop"


@pytest.mark.parametrize(
    ("url", "at", "known", "expected"),
    [
        ("http://any.example/", "http", None, None),
        ("http://any.example/", "browser", None, None),  # another worker may know more
        ("http://any.example/", "browser", LearnedTier(), "http"),
        ("http://any.example/", "http", LearnedTier("browser", until_ms=LATER), "browser"),
        ("http://any.example/", "browser", LearnedTier("browser", until_ms=LATER), None),
        ("http://any.example/", "browser", LearnedTier("browser"), "http"),  # its term is over
        ("http://hard.example/", "http", None, "browser"),
        ("http://cheap.example/", "browser", None, "http"),
    ],
)
def test_what_is_queued_follows_its_host(
    encoder: Encoder, url: str, at: Any, known: LearnedTier | None, expected: str | None
) -> None:
    tier_routing, request = encoder.tier_routing, Request(url)
    tier_routing.served = frozenset({"http", "browser"})
    rule = encoder.rules.of(request)
    if known is not None:
        tier_routing.hosts[rule.group] = known
    assert tier_routing.elsewhere(request, rule, at) == expected


def test_a_fleet_of_browsers_queues_for_browsers(encoder: Encoder) -> None:
    encoder.tier_routing.served = frozenset({"browser"})
    assert stream(encoder, "http://any.example/") == "shop:browser"
    assert stream(encoder, "http://cheap.example/") == "shop"  # max_tier is the last word


def test_hosts_unchanged_for_longest_are_forgotten_beyond_the_most_that_redis_keeps() -> None:
    tier_routing = TierRouting()
    learned = LearnedTier("browser")
    tier_routing.keep({"a.example": learned, "b.example": learned}, 2)
    tier_routing.keep({"a.example": learned}, 2)
    tier_routing.keep({"c.example": learned}, 2)
    assert list(tier_routing.hosts) == ["a.example", "c.example"]
