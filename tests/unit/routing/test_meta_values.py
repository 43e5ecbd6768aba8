"""Values of Scrapy's own meta keys."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.utils.request import RequestFingerprinter
from scrapy_playwright.page import PageMethod

from crawler.errors import CodecError
from crawler.routing import codec
from crawler.routing.encoder import Encoder
from crawler.routing.tier_routing import TierRouting
from tests.shipped import shipped

URL = "https://a.example/"


def queued(meta: dict[str, Any], cookies: Any = None) -> dict[str, Any]:
    """*meta* as the worker has it that leases the request."""
    spider = Spider("shop")
    encoder = Encoder(spider, shipped(), RequestFingerprinter(), TierRouting(["http"]))
    message = encoder.message(Request(URL, meta=meta, cookies=cookies), generation="0", dedupe=True)
    return dict(codec.decode(message.body, spider).meta)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("bindaddress", 7, "an address, or an address and a port"),
        ("bindaddress", ["127.0.0.1"], "an address, or an address and a port"),
        ("bindaddress", ["127.0.0.1", "0"], "an address, or an address and a port"),
        ("cookiejar", {"a": 1}, "text or a number"),
        ("cookiejar", ["a"], "text or a number"),
        ("download_maxsize", "1 MB", "a number of bytes"),
        ("download_timeout", "30", "seconds"),
        ("download_timeout", [30], "seconds"),
        ("download_warnsize", {}, "a number of bytes"),
        ("handle_httpstatus_list", 404, "a list of statuses"),
        ("handle_httpstatus_list", "404", "a list of statuses"),
        ("handle_httpstatus_list", None, "a list of statuses"),
        ("playwright_page_methods", 1, "a list of page methods"),
        ("proxy", 8080, "the URL of a proxy"),
        ("proxy", ["http://p.example:1"], "the URL of a proxy"),
        ("proxy_pool", ["fast"], "the name of a pool"),
    ],
)
def test_a_value_that_would_fail_at_the_download_is_refused_by_name(key: str, value: Any, expected: str) -> None:
    with pytest.raises(CodecError) as caught:
        queued({"depth": 1, key: value})
    assert str(caught.value) == (
        f"<GET {URL}> cannot be queued: meta[{key!r}] = {value!r} is invalid: expected {expected}"
    )


@pytest.mark.parametrize("value", [Decimal("1.50"), date(2027, 1, 2), {1}, ["a"]])
def test_so_is_a_cookie_that_could_not_be_sent(value: Any) -> None:
    for cookies in ({"a": "b", "c": value}, [{"name": "a", "value": "b"}, {"name": "c", "value": value}]):
        with pytest.raises(CodecError) as caught:
            queued({}, cookies)
        name = "c" if isinstance(cookies, dict) else "value"
        assert str(caught.value) == (
            f"<GET {URL}> cannot be queued: cookies[{name!r}] = {value!r} is invalid: expected text or a number"
        )


def test_cookies_may_be_what_scrapy_takes_and_have_what_it_does_not_read() -> None:
    given = {"name": "a", "value": b"b", "domain": None, "secure": True, "expires": [1], "sameSite": "Lax"}
    assert queued({}, {"a": 1, "b": 1.5, "c": None, "d": True}) == queued({}, [given]) == {}


@pytest.mark.parametrize(
    "meta",
    [
        {"bindaddress": "127.0.0.2"},
        {"bindaddress": ("127.0.0.2", 0)},
        {"cookiejar": 3},
        {"cookiejar": ("de", 1)},
        {"cookiejar": ("de", ("shop.example", 1))},
        {"cookiejar": None, "proxy": None, "download_timeout": None},
        {"download_timeout": 0.5, "download_maxsize": 0, "download_warnsize": 10},
        {"handle_httpstatus_list": [404, 410]},
        {"proxy": "http://p.example:1", "proxy_pool": "fast"},
    ],
)
def test_what_scrapy_takes_arrives_as_it_was(meta: dict[str, Any]) -> None:
    assert queued(meta) == meta


def test_page_methods_are_a_list_or_a_dict_of_them() -> None:
    for methods in ([PageMethod("click", "a")], {"first": PageMethod("click", "a")}):
        arrived = queued({"playwright": True, "playwright_page_methods": methods})["playwright_page_methods"]
        first = arrived["first"] if isinstance(arrived, dict) else arrived[0]
        assert (first.method, first.args) == ("click", ("a",))
