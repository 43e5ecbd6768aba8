"""Links that can be followed again without their page."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from scrapy import FormRequest, Request, Spider

from crawler.middlewares.conditional import page_links


class Shop(Spider):
    name = "shop"

    def parse_list(self, response: Any) -> None: ...


SPIDER = Shop()


def test_plain_links_come_back_as_they_were() -> None:
    requests = [
        Request("http://a.example/1"),
        Request("http://a.example/2", SPIDER.parse_list, priority=3, dont_filter=True),
    ]
    found = [link for request in requests if (link := page_links.plain(request, SPIDER)) is not None]
    again = page_links.read(page_links.pack(found), SPIDER)
    assert [(r.url, r.callback, r.priority, r.dont_filter) for r in again] == [
        ("http://a.example/1", None, 0, False),
        ("http://a.example/2", SPIDER.parse_list, 3, True),
    ]
    assert page_links.read(page_links.pack([]), SPIDER) == []


def test_a_callback_that_is_gone_is_the_default_one() -> None:
    packed = page_links.pack([("http://a.example/", "parse_old", 0, False)])
    assert [request.callback for request in page_links.read(packed, SPIDER)] == [None]


@pytest.mark.parametrize("made", [b"noise", b"[[]]", b"[7]", b'[["no scheme", "", 0, false]]', b"7", b"[[7, 7, 7, 7]]"])
def test_what_was_not_packed_here_is_one_kind_of_error(made: bytes) -> None:
    for packed in (made, zlib.compress(made)):
        with pytest.raises(ValueError, match=r"."):
            page_links.read(packed, SPIDER)


@pytest.mark.parametrize(
    "more",
    [
        {"method": "POST"},
        {"body": b"x"},
        {"headers": {"X": "y"}},
        {"cookies": {"a": "b"}},
        {"meta": {"page": 2}},
        {"cb_kwargs": {"page": 2}},
        {"flags": ["f"]},
        {"callback": lambda response: None},
        {"errback": SPIDER.parse_list},
    ],
)
def test_what_is_more_than_a_link_is_none(more: dict[str, Any]) -> None:
    assert page_links.plain(Request("http://a.example/", **more), SPIDER) is None
    assert page_links.plain(FormRequest("http://a.example/"), SPIDER) is None
