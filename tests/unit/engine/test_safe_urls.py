"""Requests get the URLs that Scrapy gives them, remembered."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import request
from w3lib.url import safe_url_string

from crawler.engine import safe_urls

WORDS = (
    "http:// https:// a.example ü.example user:p@ / ? # % %41 %zz é ツ [::1] :80 | "
    "http://b-1.example :080 :59999 :65536 /a-b_c~/1. ?x=y&z=.."
)
PARTS = st.sampled_from([*WORDS.split(), " ", "\t", ""])
URLS = st.lists(PARTS, max_size=8).map("".join)


class Smart(str):
    """As lxml makes them: it knows the page it is from."""

    __slots__ = ("page",)


@example("http://a.example?x=y", "utf-8")
@example("http://a.example:59999/x?y=z", "utf-16")
@given(URLS, st.sampled_from(["utf8", "utf-8", "latin-1", "cp1251", "utf-16"]))
def test_urls_are_escaped_as_by_w3lib(url: str, encoding: str) -> None:
    def of(escape: object) -> object:
        try:
            return escape(url, encoding)  # type: ignore[operator]
        except ValueError as error:
            return repr(error)

    assert of(safe_urls.remembered) == of(safe_urls.remembered) == of(safe_url_string)


def test_requests_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request, "safe_url_string", safe_url_string)
    urls = ["http://a.example/ü x", "http://a.example/a%2fb?c=d e#f", "about:blank"]
    before = [Request(url, encoding=encoding).url for url in urls for encoding in ("utf-8", "latin-1")]
    safe_urls.install()
    assert [Request(url, encoding=encoding).url for url in urls for encoding in ("utf-8", "latin-1")] == before
    assert ("http://a.example/ü x", "latin-1") in safe_urls._known
    for bad in ("no scheme", b"http://a.example/"):
        with pytest.raises((ValueError, TypeError)):
            Request(bad)  # type: ignore[arg-type]


def test_nothing_else_is_held_on_to() -> None:
    found = safe_urls.remembered(Smart("http://a.example/smart"))
    assert type(found) is str
    assert all(type(key[0]) is str for key in safe_urls._known)
