"""Spiders that use the libraries which Scrapy projects use, as these show it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy_playwright.page import PageMethod
from scrapy_poet.api import DummyResponse, callback_for
from spidermon import Monitor, MonitorSuite, monitors
from web_poet import WebPage, field

SITE = os.environ["TEST_SITE"].rstrip("/")


class AuthorPage(WebPage[dict[str, Any]]):
    """A page object."""

    @field
    def name(self) -> str | None:
        return self.css("h3::text").get()

    @field
    def url(self) -> str:
        return str(self.response.url)


class ListingPage(WebPage[Any]):
    """The links of a list."""

    def author_urls(self) -> list[str]:
        return [str(self.urljoin(link)) for link in self.css(".author + a::attr(href)").getall()]


class PoetSpider(scrapy.Spider):
    """Page objects in callbacks, one of which is made by `callback_for`."""

    name = "poet"
    start_urls = [f"{SITE}/page/1/"]

    def parse(self, response: Any, page: ListingPage) -> Iterator[Any]:
        for url in page.author_urls():
            yield scrapy.Request(url, self.parse_author)

    parse_author = callback_for(AuthorPage)


class DummySpider(scrapy.Spider):
    """A callback that needs no response: nothing is fetched for it."""

    name = "dummy"
    start_urls = [f"{SITE}/page/1/"]

    def parse(self, response: DummyResponse) -> Iterator[Any]:  # type: ignore[override]
        yield {"url": response.url}


class ValidatedSpider(scrapy.Spider):
    """Items that Spidermon validates; a monitor at the end."""

    name = "validated"
    custom_settings = {
        "SPIDERMON_ENABLED": True,
        "EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500},
        "ITEM_PIPELINES": {"spidermon.contrib.scrapy.pipelines.ItemValidationPipeline": 800},
        "SPIDERMON_VALIDATION_SCHEMAS": [
            {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
        ],
        "SPIDERMON_SPIDER_CLOSE_MONITORS": ["tests.integration.crawl.library_spiders.Suite"],
    }
    start_urls = [f"{SITE}/page/1/"]

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"title": response.css("title::text").get()}
        yield {"title": None}


class JudgedSpider(ValidatedSpider):
    """More pages than one worker needs to fetch."""

    name = "judged"
    start_urls = [f"{SITE}/author/{number}" for number in range(1, 9)]

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"title": response.url}


@monitors.name("Items")
class ItemMonitor(Monitor):  # type: ignore[misc]
    """What the statistics say."""

    @monitors.name("some were scraped")  # type: ignore[untyped-decorator]
    def test_some(self) -> None:
        stats = self.data.stats
        self.data.spider.logger.info("judged %s: %d items", stats["finish_reason"], stats["item_scraped_count"])
        assert stats.get("item_scraped_count", 0) >= 1


class Suite(MonitorSuite):  # type: ignore[misc]
    monitors = [ItemMonitor]


class MediaSpider(scrapy.Spider):
    """FilesPipeline and ImagesPipeline."""

    name = "media"
    start_urls = [f"{SITE}/page/1/"]

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"file_urls": [f"{SITE}/feed.csv"], "image_urls": [f"{SITE}/dot.png"]}


class BrokenMediaSpider(scrapy.Spider):
    """Links that lead nowhere, as pages have them, beside one that is good."""

    name = "broken_media"
    start_urls = [f"{SITE}/page/1/"]

    def parse(self, response: Any) -> Iterator[Any]:
        broken = ["http://[bad", "/feed.csv", "http://x:99999/", None]
        yield {"file_urls": [*broken, f"{SITE}/feed.csv"], "image_urls": [*broken, f"{SITE}/dot.png"]}


class RenderedSpider(scrapy.Spider):
    """scrapy-playwright's settings and meta keys."""

    name = "rendered"
    custom_settings = {
        "DOWNLOAD_HANDLERS": {
            "http": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
            "https": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
        },
    }

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{SITE}/page/1/")
        methods = [PageMethod("wait_for_selector", "b"), PageMethod("evaluate", "document.title")]
        yield scrapy.Request(f"{SITE}/scripted", meta={"playwright": True, "playwright_page_methods": methods})

    def parse(self, response: Any) -> Iterator[Any]:
        called = response.meta.get("playwright_page_methods") or []
        yield {"bold": response.css("b::text").get(), "results": [one.result for one in called[1:]]}
