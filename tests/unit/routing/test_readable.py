"""What people are shown of a stored request."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request

from crawler.meta import PARENT_ID
from crawler.routing import codec
from crawler.routing.readable import readable
from tests.integration.crawl.spiders import WalkSpider


def shown(request: Request) -> dict[str, Any]:
    found = readable(codec.encode(request, WalkSpider))
    assert isinstance(found, dict)
    json.dumps(found, default=str)
    return found


def test_a_request_is_shown_by_the_names_that_people_know() -> None:
    request = FormRequest("https://shop.example/buy", formdata={"q": "1"}, priority=3, meta={"depth": 2})
    request.meta[PARENT_ID] = "0:17"
    found = shown(request)
    assert found["parent_id"] == "0:17"
    assert found["url"] == "https://shop.example/buy"
    assert (found["method"], found["body"], found["meta"], found["priority"]) == ("POST", "q=1", {"depth": 2}, 3)


@pytest.mark.parametrize(
    "name", ["Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "x-session-id", "Apikey", "X-Amz-Signature"]
)
def test_what_proves_who_we_are_is_hidden(name: str) -> None:
    found = shown(Request("https://me:pw-c4n@shop.example/", headers={name: "c4nary", "Accept": "text/html"}))
    assert "c4n" not in str(found)
    assert found["headers"]["Accept"] == "text/html"


def test_cookies_are_hidden() -> None:
    assert shown(Request("https://shop.example/", cookies={"sid": "c4nary"}))["cookies"] == "***"


@pytest.mark.parametrize("key", [1, b"a"])
def test_keys_that_are_no_text_are_shown_as_text(key: object) -> None:
    """Such a request was shown whole, its secrets too, or ended the listing."""
    found = shown(Request("https://shop.example/", headers={"Cookie": "c4nary"}, meta={"prices": {key: 2}}))
    assert (found["headers"], found["meta"]) == ({"Cookie": "***"}, {"prices": {"1" if key == 1 else "a": 2}})


@given(st.binary(max_size=200))
def test_anything_else_is_shown_as_text(body: bytes) -> None:
    assert isinstance(readable(body), dict | str)
