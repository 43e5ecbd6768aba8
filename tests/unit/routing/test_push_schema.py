"""The message schema of `scrapy push`."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scrapy import Spider
from scrapy.spiders import CrawlSpider

from crawler.errors import MessageError
from crawler.frontier.messages import MAX_PRIORITY
from crawler.meta import RESERVED
from crawler.routing.push_schema import MAX_LINE, callbacks, external_meta, parse_line
from crawler.spiders.base import FrontierSpider
from tests.zygote import PROJECT_DIR


class Shop(Spider):
    name = "shop"

    def parse_item(self, response: Any) -> None: ...


def line(**fields: Any) -> str:
    return json.dumps({"url": "https://shop.example/a"} | fields)


def test_a_plain_url_is_a_message() -> None:
    request = parse_line("https://shop.example/a", Shop, priority=7)
    assert (request.url, request.method, request.priority, request.dont_filter) == (
        "https://shop.example/a",
        "GET",
        7,
        False,
    )
    assert request.meta == {}


def test_the_readme_has_a_row_for_each_key() -> None:
    table = (PROJECT_DIR / "README.md").read_text().partition("| key | type | meaning |")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    with pytest.raises(MessageError) as refused:
        parse_line(line(nope=1), Shop)
    assert named == set(str(refused.value).partition("one of ")[2].split(", "))


def test_every_key_of_the_schema_reaches_the_request() -> None:
    request = parse_line(
        line(
            method="post",
            headers={"Accept": "text/html"},
            body="größe",
            meta={"job": 1},
            callback="parse_item",
            priority=-3,
            dont_filter=True,
            not_before="2027-01-31T06:00:00Z",
            country="se",
            proxy_pool="home",
            tier="browser",
        ),
        Shop,
        priority=7,
    )
    assert (request.method, request.body, request.priority, request.dont_filter) == ("POST", "größe".encode(), -3, True)
    assert request.headers["Accept"] == b"text/html"
    assert request.meta == {
        "job": 1,
        "not_before": 1801375200.0,
        "country": "se",
        "proxy_pool": "home",
        "min_tier": "browser",
    }
    assert getattr(request.callback, "__name__", "") == "parse_item"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[" * 5, "no scheme"),
        ('{"a": ' * 3000, "not JSON"),
        (line(colour="red"), "unknown key 'colour': expected one of url, method, "),
        ('{"method": "GET"}', "no 'url'"),
        (line(url=5), "url = 5 is invalid: expected a non-empty string"),
        (line(url="gopher://x/"), "unknown scheme 'gopher'"),
        (line(method="BREW"), "method = 'BREW' is invalid: expected one of GET, POST"),
        (line(headers=["a"]), "headers"),
        (line(headers={"A": "b\r\nC: d"}), "without line breaks"),
        (line(body=5), "body = 5 is invalid"),
        (line(body="x" * 140_000), "at most 131072 bytes"),
        (line(meta=5), "meta = 5 is invalid"),
        (line(meta={"proxy": "http://evil/"}), "meta = 'proxy' is invalid: expected a key that"),
        (line(**{"x" * 10_000: 1}), "characters): expected one of url, method, "),
        (line(callback="x" * 10_000), "characters) is not a callback of spider 'shop'"),
        (line(callback="nope"), "callback 'nope' is not a callback of spider 'shop': it has parse_item"),
        (line(url="https://shop.example/\ud800"), "is invalid: expected valid Unicode"),
        (line(body="\udc80"), "body = "),
        (line(meta={"a": [{"b\udfff": 1}]}), "meta = "),
        (line(headers={"A": "\ud83d"}), "headers = "),
        ("https://shop.example/caf\udce9", "is invalid"),
        (line(priority=1001), "priority = 1001 is invalid: expected an integer from -1000 to 1000"),
        (line(priority=True), "priority"),
        (line(dont_filter="yes"), "true or false"),
        (line(not_before="tomorrow"), "Unix seconds, or an ISO 8601 time"),
        (line(not_before="2027-01-31T06:00:00"), "with a time zone"),
        (line(tier="rocket"), "tier = 'rocket' is invalid: expected one of http, browser, api"),
        ("https://shop.example/" + "a" * 300_000, "line has 300021 characters, more than the 262144"),
    ],
)
def test_a_bad_line_says_what_is_wrong_and_what_is_allowed(text: str, words: str) -> None:
    with pytest.raises(MessageError) as error:
        parse_line(text, Shop)
    assert words in str(error.value)
    assert len(str(error.value)) < 500


TEXTS = st.text() | st.text(st.characters(categories=["Cs", "L", "P"]))
URLS = TEXTS | st.text(max_size=20).map("https://shop.example/".__add__)
VALUES = {"meta": st.dictionaries(TEXTS, st.integers()) | st.integers(), "priority": st.integers(), "tier": TEXTS}


@given(URLS | st.fixed_dictionaries({"url": URLS | st.integers()}, optional=VALUES).map(json.dumps))
@example("https://shop.example/a")
@example(line(meta={"": 1}))
def test_no_line_breaks_it(text: str) -> None:
    try:
        request = parse_line(text, Shop)
    except MessageError:
        return
    assert request.url.startswith(("http://", "https://"))


class Base(CrawlSpider):
    """A base of the project's own."""

    def parse_shared(self, response: Any) -> None: ...

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any: ...


class Odd(FrontierSpider, Base):
    """With everything that is no callback, although it can be called or is there."""

    name = "odd"
    rules = ()
    factory = dict

    class Nested:
        """No method."""

    def parse(self, response: Any, **kwargs: Any) -> Any: ...

    async def parse_later(self, response: Any) -> None: ...

    @staticmethod
    def parse_alone(response: Any) -> None: ...

    async def start(self) -> AsyncIterator[Any]:
        yield None

    def closed(self, reason: str) -> None: ...

    def make_request_from_data(self, data: bytes) -> Any: ...

    def _parse_private(self, response: Any) -> None: ...


def test_only_what_the_spiders_own_classes_define_is_a_callback() -> None:
    assert callbacks(Odd) == ["parse", "parse_alone", "parse_later", "parse_shared"]


@pytest.mark.parametrize("name", sorted({*dir(Odd)} - {"parse", "parse_alone", "parse_later", "parse_shared"}))
def test_nothing_else_passes_as_a_callback(name: str) -> None:
    with pytest.raises(MessageError, match="is not a callback of spider 'odd'"):
        parse_line(line(callback=name), Odd)


def test_reserved_meta_is_taken_out_of_raw_entries() -> None:
    assert external_meta({"proxy": "x", "job": 1, **dict.fromkeys(RESERVED, 1)}) == {"job": 1}


@pytest.mark.parametrize("priority", [-MAX_PRIORITY, MAX_PRIORITY])
def test_the_largest_priorities_and_the_longest_line_are_taken(priority: int) -> None:
    text = line(priority=priority)
    assert parse_line(text + " " * (MAX_LINE - len(text)), Shop).priority == priority
