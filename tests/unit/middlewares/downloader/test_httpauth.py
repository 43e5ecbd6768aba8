"""Credentials for a site reach it, and no other one, nor the queue."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpauth import HttpAuthMiddleware as ScrapyHttpAuthMiddleware
from scrapy.exceptions import NotConfigured, ScrapyDeprecationWarning
from scrapy.http import Response
from scrapy.utils.python import global_object_name

from crawler.middlewares.downloader.httpauth import HttpAuthMiddleware
from crawler.middlewares.downloader.redirect import RedirectMiddleware
from tests.shipped import shipped


class Older(Spider):
    name = "older"
    http_user, http_pass, http_auth_domain = "me", "secret", "shop.example"


def built(spider: Spider, **changed: Any) -> HttpAuthMiddleware:
    settings = shipped("settings.test", **changed)
    crawler = Crawler(type(spider), settings)
    crawler.spider = spider
    places = settings.getwithbase("DOWNLOADER_MIDDLEWARES")
    assert places[global_object_name(ScrapyHttpAuthMiddleware)] is None
    assert places[global_object_name(HttpAuthMiddleware)] > places[global_object_name(RedirectMiddleware)]
    return HttpAuthMiddleware.from_crawler(crawler)


def test_a_crawl_without_credentials_does_without_it() -> None:
    with pytest.raises(NotConfigured):
        built(Spider("plain"))


def test_the_settings_credentials_go_to_their_domain_alone() -> None:
    auth = built(Spider("plain"), HTTPAUTH_USER="me", HTTPAUTH_PASS="secret", HTTPAUTH_DOMAIN="shop.example")
    ours, other = Request("https://www.shop.example/"), Request("https://other.example/")
    for request in (ours, other):
        auth.process_request(request)
    assert (ours.headers["Authorization"] or b"").startswith(b"Basic ")
    assert "Authorization" not in other.headers


def test_they_leave_the_request_when_the_attempt_is_over() -> None:
    auth = built(Spider("plain"), HTTPAUTH_USER="me", HTTPAUTH_PASS="secret", HTTPAUTH_DOMAIN=None)
    own = Request("https://shop.example/", headers={"Authorization": "Bearer own"})
    answered, failed = Request("https://shop.example/"), Request("https://shop.example/")
    for request in (own, answered, failed):
        auth.process_request(request)
        assert "Authorization" in request.headers
    for request in (own, answered):
        auth.process_response(request, Response(request.url))
    auth.process_exception(failed, TimeoutError())
    assert [request.headers.get("Authorization") for request in (own, answered, failed)] == [b"Bearer own", None, None]


def test_so_do_those_of_a_spider() -> None:
    spider = Older()
    auth = built(spider)
    with pytest.warns(ScrapyDeprecationWarning, match="HTTPAUTH_USER"):
        auth.spider_opened(spider)
    auth.process_request(request := Request("https://shop.example/"))
    assert "Authorization" in request.headers
