"""A misspelt setting or argument is named, one of somebody else's is not."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawler.commands.misspelt import hints, unread
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
