"""A browser handler for the tests: one real Chromium for a module, without a whole worker around it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import TextResponse
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector, StatsCollector

from crawler.errors import ConfigError
from crawler.handlers.browser import chromium, handler
from crawler.handlers.browser.egress_proxy import EgressProxy, TunnelLimits
from crawler.handlers.resolver import Resolver, ResolverConfig
from crawler.policy.address_guard import AddressPolicy
from tests.shipped import shipped

LOOPBACK = "127.0.0.1/32"  # where the sites of the tests are; the rest of 127.0.0.0/8 is refused

LIMITS = ("chromium.LAUNCH_SECONDS", "chromium.END_SECONDS", "handler.OPEN_SECONDS", "handler.CLOSE_SECONDS")


def executable() -> str:
    """The Chromium of this machine. Without one: fail where CI is set, skip on a laptop."""
    try:
        return chromium.find(os.environ.get("BROWSER_EXECUTABLE", ""))
    except ConfigError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


@asynccontextmanager
async def opened(**changed: Any) -> AsyncIterator[handler.BrowserDownloadHandler]:
    """A handler whose browser is ended afterwards, and not because the machine is busy."""
    settings = shipped("settings.test")
    settings.setdict({"BROWSER_EXECUTABLE": executable(), "BROWSER_SETTLE_SECONDS": 0.4, "DOWNLOAD_TIMEOUT": 200})
    settings.setdict({"GUARD_ALLOWED_NETWORKS": LOOPBACK} | changed, priority="cmdline")
    crawler = Crawler(Spider, settings)
    crawler.stats = MemoryStatsCollector(crawler)
    crawler.spider = Spider("browsing")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scrapy_playwright.handler.verify_installed_reactor", lambda _: None)
        for limit in LIMITS:
            patch.setattr(f"crawler.handlers.browser.{limit}", 200)
        one = handler.BrowserDownloadHandler(crawler)
        try:
            yield one
        finally:
            await one._close()
            await asyncio.sleep(0)


class Stats(StatsCollector):
    def __init__(self) -> None:
        self._stats = {}


@asynccontextmanager
async def listening(received_bytes: int = 1_000_000, idle_seconds: float = 5) -> AsyncIterator[EgressProxy]:
    """A filtering proxy by itself, which dials 127.0.0.1 only."""
    settings = Settings({"DNSCACHE_SECONDS": 60})
    resolver = Resolver(AddressPolicy((ip_network("127.0.0.1/32"),)), ResolverConfig.from_settings(settings))
    proxy = EgressProxy(resolver, TunnelLimits(received_bytes, idle_seconds), Stats())
    await proxy.start()
    yield proxy
    await proxy.close()
    resolver.close()


async def text(of: handler.BrowserDownloadHandler, request: Request) -> str:
    """The body of *request* in the browser."""
    response = await of.download_request(request)
    assert isinstance(response, TextResponse)
    return response.text
