"""Which handler fetches a request of which tier."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotSupported

from crawler.errors import ConfigError
from crawler.handlers.tiers import TierHandlers
from tests.unit.test_settings import base


class Guarded:
    guards_addresses = True


class Unguarded:
    pass


def handlers(**settings: Any) -> TierHandlers:
    return TierHandlers(Crawler(Spider, base(**settings)))


def test_each_tier_has_the_handler_that_the_settings_name() -> None:
    tiers = handlers(TIER="http,browser", TIER_HANDLERS={"browser": Guarded, "api": "nowhere.Handler"})
    assert tiers.of(Request("http://a.example/robots.txt")) is None
    assert tiers.of(Request("http://a.example/", meta={"tier": "http"})) is None
    assert isinstance(tiers.of(Request("http://a.example/", meta={"tier": "browser"})), Guarded)
    with pytest.raises(NotSupported, match="tier api"):
        tiers.of(Request("http://a.example/", meta={"tier": "api"}))


@pytest.mark.parametrize("named", [{}, {"browser": Unguarded}, {"browser": "nowhere.Handler"}])
def test_a_tier_without_a_guarded_handler_stops_the_start(named: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="TIER_HANDLERS"):
        handlers(TIER="browser", TIER_HANDLERS=named)


@pytest.mark.parametrize("providers", ["", "{", "{}"])
def test_an_api_worker_needs_a_provider(providers: str) -> None:
    with pytest.raises(ConfigError, match="API_PROVIDERS"):
        handlers(TIER="api", API_PROVIDERS=providers)
