"""What a re-parse has in common with the crawl before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.replay.downloader import ReplayDownloader


class Old:
    """A spider middleware of an older release."""

    def process_spider_output(self, response: Response, result: Any) -> Iterator[Any]:
        yield from result


def test_it_takes_the_spider_middlewares_that_a_crawl_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It did not start with an old one, which the crawl had run with."""
    method = "_get_process_spider_output"
    monkeypatch.setattr(SpiderMiddlewareManager, method, staticmethod(getattr(SpiderMiddlewareManager, method)))
    ReplayDownloader(crawler := get_crawler())
    assert SpiderMiddlewareManager(Old(), crawler=crawler)
