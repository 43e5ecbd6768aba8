"""A pytest plugin for Scrapy's own tests: every crawler that they make crawls on the fleet.

Each gets a frontier of its own. What Scrapy leaves at its default and the add-on does not (pace, robots.txt, waiting
retries) is put back to Scrapy's value, so that only what differs by design shows.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest
import scrapy.utils.test
from scrapy import Spider
from scrapy.crawler import Crawler

REDIS_URL = "--redis-url"
FLEET: dict[str, Any] = {
    "ADDONS": {"crawler.addon.Shoal": 500},
    "FRONTIER_ENABLED": True,
    "SHOAL_STORE": False,
    "METRICS_PORT": -1,
    "GC_THRESHOLD": 0,
    "GUARD_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128",
    "FRONTIER_POLL_SECONDS": 0.05,
    "ROBOTSTXT_OBEY": False,
    "DOWNLOAD_VERIFY_CERTIFICATES": False,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "AUTOTHROTTLE_ENABLED": False,
    "RETRY_BASE_SECONDS": 0.01,
    "RETRY_CLASSES": {},
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(REDIS_URL)


def pytest_configure(config: pytest.Config) -> None:
    """Before the tests are imported, which take the function by name."""
    stock, url = scrapy.utils.test.get_crawler, config.getoption(REDIS_URL)

    def get_crawler(
        spidercls: type[Spider] | None = None, settings_dict: dict[str, Any] | None = None, **more: Any
    ) -> Crawler:
        own = {"REDIS_URL": url, "FRONTIER_KEY": f"compat-{uuid.uuid4().hex}"}
        return stock(spidercls, FLEET | own | (settings_dict or {}), **more)

    scrapy.utils.test.get_crawler = get_crawler  # type: ignore[assignment]
