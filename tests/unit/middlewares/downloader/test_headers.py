"""Requests have the header profile of their own domain only."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import Headers
from scrapy.utils.test import get_crawler

from crawler.meta import HEADER_PROFILE
from crawler.middlewares.downloader.headers import HeadersMiddleware
from crawler.policy.headers import PROFILES
from crawler.policy.rules.domains import parse_rules
from crawler.routing import codec
from crawler.spiders.pages import PagesSpider

RULES = parse_rules('["a.com"]\nheaders = "chrome"\n["plain.a.com"]\nheaders = "none"\n["b.com"]\nheaders = "firefox"')
DEFAULTS = {"Accept": "text/html", "Accept-Language": "en"}
CHROME = PROFILES["chrome"].values["User-Agent"]


@pytest.fixture
def middleware() -> HeadersMiddleware:
    return HeadersMiddleware(RULES, Headers(DEFAULTS))


def sent(middleware: HeadersMiddleware, request: Request) -> Request:
    for name, value in DEFAULTS.items():
        request.headers.setdefault(name, value)  # as Scrapy's DefaultHeadersMiddleware
    middleware.process_request(request)
    return request


def test_a_profile_replaces_the_defaults_and_leaves_the_requests_own(middleware: HeadersMiddleware) -> None:
    request = sent(middleware, Request("https://a.com/", headers={"X-Key": ["1", "2"], "Accept-Language": "de"}))
    assert request.headers["User-Agent"] == CHROME.encode()
    assert request.headers.getlist("X-Key") == [b"1", b"2"]
    assert request.headers["Accept-Language"] == b"de"
    assert request.headers["Accept"] == PROFILES["chrome"].values["Accept"].encode()
    assert list(request.headers)[:2] == [b"Sec-Ch-Ua", b"Sec-Ch-Ua-Mobile"]


@pytest.mark.parametrize(
    "request_",
    [
        Request("https://plain.a.com/"),
        Request("https://other.example/"),
        Request("https://a.com/robots.txt"),
        Request("https://a.com/", headers={"User-Agent": "mine"}),
    ],
)
def test_others_say_who_they_are(middleware: HeadersMiddleware, request_: Request) -> None:
    before = request_.headers.copy()
    before.update(DEFAULTS)
    request = sent(middleware, request_)
    assert request.headers == before
    assert HEADER_PROFILE not in request.meta


def test_a_redirect_or_retry_changes_its_clothes(middleware: HeadersMiddleware) -> None:
    first = sent(middleware, Request("https://a.com/", headers={"X-Key": "1"}))
    again = codec.decode(codec.encode(first, PagesSpider), PagesSpider())
    assert sent(middleware, again).headers == first.headers
    elsewhere = sent(middleware, first.replace(url="https://other.example/"))
    assert elsewhere.headers == Headers(DEFAULTS | {"X-Key": "1"})
    fox = sent(middleware, first.replace(url="https://b.com/"))
    assert b"Firefox" in (fox.headers["User-Agent"] or b"")
    assert b"Sec-Ch-Ua" not in fox.headers


def test_off_outside_the_fleet() -> None:
    with pytest.raises(NotConfigured):
        HeadersMiddleware.from_crawler(get_crawler())
