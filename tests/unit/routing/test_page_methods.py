"""scrapy-playwright's meta keys in the queue."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest
from scrapy import Request, Spider
from scrapy_playwright.page import PageMethod

from crawler.errors import CodecError
from crawler.routing import codec
from crawler.routing.page_methods import CODE
from crawler.routing.tier_routing import min_tier

SPIDER = Spider("shop")


def through(**meta: Any) -> Request:
    """A request with *meta*, queued and read again."""
    return codec.decode(codec.encode(Request("http://a.example/", meta={"playwright": True} | meta), SPIDER), SPIDER)


def test_such_a_request_needs_a_browser() -> None:
    assert min_tier(through()) == "browser"
    assert min_tier(Request("http://a.example/", meta={"playwright": False})) == "http"
    assert min_tier(Request("http://a.example/", meta={"playwright": True, "min_tier": "api"})) == "api"


@pytest.mark.parametrize("kind", [list, dict])
def test_page_methods_come_back(kind: type[Any]) -> None:
    methods: Any = [PageMethod("wait_for_selector", "div.quote", timeout=5), PageMethod("screenshot", full_page=True)]
    given = {"a": methods[0], "b": methods[1]} if kind is dict else methods
    found = through(playwright_page_methods=given).meta["playwright_page_methods"]
    assert type(found) is kind
    told = [(one.method, one.args, one.kwargs) for one in (found.values() if kind is dict else found)]
    assert told == [("wait_for_selector", ("div.quote",), {"timeout": 5}), ("screenshot", (), {"full_page": True})]


@pytest.mark.parametrize(
    "method",
    [
        PageMethod("goto", "http://b.example/"),
        PageMethod("set_input_files", "input", "/etc/passwd"),
        PageMethod("screenshot", path="/tmp/x.png"),
        PageMethod(print),
        "click",
    ],
)
def test_what_reads_writes_or_goes_elsewhere_is_refused_by_name(method: Any) -> None:
    with pytest.raises(CodecError, match=r"cannot be queued: .*playwright_page_methods"):
        through(playwright_page_methods=[method])


def test_an_open_page_cannot_be_handed_to_a_callback() -> None:
    with pytest.raises(CodecError, match=r"playwright_include_page.*playwright_page_methods"):
        through(playwright_include_page=True)


def test_what_somebody_wrote_into_redis_is_not_called() -> None:
    evil = msgpack.ExtType(CODE, msgpack.packb(["set_input_files", ["input", "/etc/passwd"], {}]))
    body = msgpack.packb({"u": "http://a.example/", "d": {"playwright_page_methods": [evil]}})
    with pytest.raises(CodecError, match="is not allowed"):
        codec.decode(body, SPIDER)
