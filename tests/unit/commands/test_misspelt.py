"""A misspelt setting or argument is named, one of somebody else's is not."""

from __future__ import annotations

import re

import pytest
from scrapy import Spider
from scrapy.settings import Settings
from scrapy.spiders import CrawlSpider, SitemapSpider, XMLFeedSpider
from scrapy_redis.spiders import RedisCrawlSpider, RedisSpider

from crawler.commands.misspelt import attributes, hints, unread
from crawler.spiders.pages import PagesSpider
from crawler.spiders.products import ProductsSpider


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("CONCURENT_REQUESTS", "CONCURRENT_REQUESTS"),
        ("DOWNLOAD_DELEY", "DOWNLOAD_DELAY"),
        ("log_level", "LOG_LEVEL"),
        ("MONGODB_URL", "MONGODB_URI"),
        ("FRONTIER_LEASE_SECOND", "FRONTIER_LEASE_SECONDS"),
    ],
)
def test_what_is_misspelt_is_named_with_what_was_meant(name: str, meant: str) -> None:
    assert list(hints(Settings(), [name])) == [f"there is no setting {name}, did you mean {meant}?"]


def test_what_is_known_or_like_nothing_is_let_pass() -> None:
    of_the_project = "LOG_LEVELS"
    settings = Settings({of_the_project: 1})
    assert list(hints(settings, ["LOG_LEVEL", of_the_project, "FRONTIER_KEY", "MYSQL_PORT"])) == []


def test_arguments_that_a_bundled_spider_does_not_take_are_named() -> None:
    """`-a start_url=...` was passed over: the worker waited for URLs."""
    assert list(unread(ProductsSpider, ["start_url", "redis_key"])) == [
        "products has no argument -a start_url: it takes none; URLs come by `scrapy push products URL`"
    ]
    assert list(unread(PagesSpider, ["follow", "with", "link"])) == [
        "pages has no argument -a link: it takes follow and with; URLs come by `scrapy push pages URL`"
    ]


def test_a_spider_of_a_project_may_read_what_it_likes() -> None:
    class Own(ProductsSpider):
        name = "own"

    assert list(unread(Own, ["start_url"])) == []


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"start_urls": "http://me:secret@a.example/"}, "start_urls = .*: Scrapy takes each letter for an entry"),
        ({"allowed_domains": "a.example"}, "allowed_domains = 'a.example': Scrapy takes each letter for an entry"),
        ({"allowed_domains": ["http://a.example"]}, "'http://a.example' in allowed_domains, which is not a host name"),
        ({"allowed_domains": ["b.example", "a.example:80"]}, "'a.example:80' in allowed_domains, which is not a host"),
    ],
)
def test_an_attribute_of_the_wrong_form_is_named(wrong: dict[str, object], line: str) -> None:
    [told] = attributes(type("Own", (Spider,), {"name": "own", "parse": id} | wrong))
    assert re.match(f"own has {line}", told)
    assert "secret" not in told


@pytest.mark.parametrize("domains", [["a.example", "::1", None], filter(None, ["a:1"]), None, ()])
def test_attributes_as_scrapy_takes_them_are_let_pass(domains: object) -> None:
    assert not list(attributes(type("Own", (Spider,), {"name": "own", "allowed_domains": domains})))


STARTS = {"name": "own", "start_urls": ["http://a.example/"]}


@pytest.mark.parametrize(("kind", "own"), [(Spider, STARTS), (RedisSpider, {"name": "own"})])
def test_a_spider_that_reads_no_page_is_named(kind: type[Spider], own: dict[str, object]) -> None:
    """Its first page ended in a traceback of Scrapy's, and in a dead letter."""
    [told] = attributes(type("Own", (kind,), own))
    assert told.startswith("own has no method parse, the callback of requests that name none: ")


@pytest.mark.parametrize(
    ("kind", "own"),
    [
        (Spider, STARTS | {"parse": id}),
        (Spider, STARTS | {"start": id}),  # its requests may name their callbacks
        (Spider, {"name": "own"}),
        (RedisSpider, {"name": "own", "make_request_from_data": id}),
        (CrawlSpider, STARTS),
        (RedisCrawlSpider, STARTS),
        (SitemapSpider, STARTS),
        (XMLFeedSpider, STARTS),
    ],
)
def test_a_spider_that_reads_its_pages_in_a_way_of_its_own_is_let_pass(
    kind: type[Spider], own: dict[str, object]
) -> None:
    assert not list(attributes(type("Own", (kind,), own)))
