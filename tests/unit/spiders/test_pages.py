"""`pages`: what it yields, which links it follows, its arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler

from crawler.errors import ConfigError
from crawler.items import PageItem
from crawler.spiders.pages import CHARACTERS, MANY_TAGS, PagesSpider
from crawler.spiders.sandbox import CROWD

URL = "https://site.example/docs/"
TEXT = "A sentence of the text that is long enough to be taken for it, with a dot at its end. " * 4
BODY = f"""<main><h1>On x</h1><p>{TEXT}<a href="/c/more">more</a> <a href="https://other.example/p/1">elsewhere</a></p>
<p>{TEXT}<img src=/i.png></p></main><footer><a href="/cart">cart</a> <a href="/p/12345">a page</a></footer>"""
Spider = Callable[..., PagesSpider]


@pytest.fixture
def spider(tmp_path: Path) -> Spider:
    """Makes one with these arguments."""
    rules = tmp_path / "domains.toml"
    rules.write_text('["ruled.example"]\nfollow = "/only/"\n')

    def make(**arguments: str) -> PagesSpider:
        crawler = get_crawler(PagesSpider, {"DOMAINS_FILE": str(rules)})
        return PagesSpider.from_crawler(crawler, **arguments)

    return make


def read(spider: PagesSpider, body: str = BODY, url: str = URL) -> tuple[PageItem, list[str]]:
    item, *requests = spider.parse(HtmlResponse(url, body=body.encode(), encoding="utf-8"))
    assert isinstance(item, PageItem)
    return item, [each.url for each in requests if isinstance(each, Request)]


def test_it_follows_what_products_follow(spider: Spider) -> None:
    item, followed = read(spider())
    assert item.title == "On x"
    assert (item.links, item.images) == (None, None)
    assert sorted(followed) == ["https://site.example/c/more", "https://site.example/p/12345"]
    ruled = read(spider(), '<a href="/p/12345">x</a><a href="/only/1">x</a>', "https://ruled.example/")[1]
    assert ruled == ["https://ruled.example/only/1"]


def test_arguments(spider: Spider) -> None:
    assert read(spider(follow="no"))[1] == []
    item = read(spider(**{"with": "links, images"}))[0]
    assert item.links == ["https://site.example/c/more", "https://other.example/p/1"]
    assert item.images == ["https://site.example/i.png"]


@pytest.mark.parametrize(("name", "value"), [("follow", "maybe"), ("with", "links,tables")])
def test_bad_arguments(spider: Spider, name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"-a {name}"):
        spider(**{name: value})


@pytest.mark.parametrize(
    ("body", "is_long"),
    [
        ("<b>" * (MANY_TAGS * 9 // 10), False),
        ("<b>" * (MANY_TAGS + 10), True),
        ("a word " * (MANY_TAGS * CHARACTERS // 7 + 100), True),
        ("<b>" * (MANY_TAGS // 2 + 100) + "a word " * (MANY_TAGS * CHARACTERS // 14), True),
        ("<script>" + "<b>" * (MANY_TAGS + 10) + "</script><p>x", False),  # nobody reads what is in there
    ],
    ids=["few tags", "many tags", "much text", "both", "a script"],
)
def test_pages_that_take_long_are_read_apart(spider: Spider, body: str, is_long: bool) -> None:
    assert spider().reading(HtmlResponse(URL, body=body.encode(), encoding="utf-8")).long == is_long


def test_a_crowded_page_is_not_even_taken_apart_here(spider: Spider, monkeypatch: pytest.MonkeyPatch) -> None:
    """10 MB of `<b>` take a second."""
    monkeypatch.setattr("crawler.extraction.source.source.read", lambda html: pytest.fail("taken apart"))
    assert spider().reading(HtmlResponse(URL, body=b"<b>" * 2 * CROWD, encoding="utf-8")).long


def test_what_is_no_text_yields_nothing(spider: Spider) -> None:
    assert list(spider().parse(Response(URL, body=b"\x89PNG"))) == []
