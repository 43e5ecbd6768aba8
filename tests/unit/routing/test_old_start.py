"""Which method a spider starts with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.spiders import CrawlSpider, SitemapSpider
from scrapy_redis.spiders import RedisSpider

from crawler.routing.old_start import has_old_start, start


class Old:
    """What spiders have in common that were written until Scrapy 2.12."""

    start_urls = ["http://a.example/never"]

    def start_requests(self) -> Iterator[Request]:
        yield Request("http://a.example/old")


class New:
    """And after it."""

    async def start(self) -> AsyncIterator[Any]:
        yield Request("http://a.example/new")


class Listing(Old, Spider):
    """Returns what older releases took, too."""

    name = "listing"

    def start_requests(self) -> Any:
        return list(super().start_requests())


class Both(Old, New, Spider):
    """Inherits them from two classes: the nearer one counts."""


class Newer(New, Listing):
    """Of a project that has begun to change its spiders."""


@pytest.mark.parametrize("base", [Spider, CrawlSpider, SitemapSpider])
def test_a_spider_with_start_requests_alone_is_old(base: type[Spider]) -> None:
    assert has_old_start(type("Spider", (Old, base), {}))
    assert not has_old_start(type("Spider", (New, base), {}))
    assert not has_old_start(base)


def test_the_nearest_class_that_has_either_decides() -> None:
    assert has_old_start(Both)
    assert not has_old_start(Newer)
    assert not has_old_start(type("Spider", (Old, RedisSpider), {}))


@pytest.mark.parametrize(("kind", "path"), [(Listing, "old"), (Newer, "new")])
async def test_it_starts_with_that_method(kind: type[Spider], path: str) -> None:
    assert [one.url async for one in start(kind())] == [f"http://a.example/{path}"]


class Adding(Spider):
    """Adds to what the `start_requests()` of Scrapy's Spider was."""

    name = "adding"
    start_urls = ["http://a.example/1", "http://a.example/2"]

    def start_requests(self) -> Iterator[Request]:
        for request in super().start_requests():  # type: ignore[misc]
            yield request.replace(meta={"added": True})


async def test_super_is_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Spider, "start_requests", None, raising=False)  # it goes again
    monkeypatch.delattr(Spider, "start_requests")
    made = [(one.url, one.dont_filter, one.meta) async for one in start(Adding())]
    assert made == [(url, True, {"added": True}) for url in Adding.start_urls]
    assert has_old_start(Adding)
    assert not has_old_start(Spider)


async def test_what_super_was_is_not_known_of_a_spider_with_another_start() -> None:
    """SitemapSpider's requested its sitemaps; to request nothing in silence would be worse than to fail."""
    spider = type("Mapped", (Adding, SitemapSpider), {"sitemap_urls": ["http://a.example/sitemap.xml"]})()
    with pytest.raises(AttributeError, match="start_requests"):
        [request async for request in start(spider)]
