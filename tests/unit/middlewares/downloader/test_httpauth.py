"""Credentials for a site reach it, and no other one, nor the queue."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpauth import HttpAuthMiddleware as ScrapyHttpAuthMiddleware
from scrapy.exceptions import ScrapyDeprecationWarning
from scrapy.http import Response
from scrapy.utils.python import global_object_name
from w3lib.http import basic_auth_header

from crawler.meta import HTTP_AUTH
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


@pytest.mark.parametrize("own", [{}, {"HTTPAUTH_USER": "me", "HTTPAUTH_PASS": "secret", "HTTPAUTH_DOMAIN": None}])
def test_a_request_may_have_credentials_of_its_own(own: dict[str, Any]) -> None:
    auth = built(Spider("plain"), **own)
    given = {"http_user": "you", "http_pass": "other", "http_auth_domain": "shop.example"}
    request = Request("https://shop.example/", meta=given)
    auth.process_request(request)
    assert request.headers["Authorization"] == basic_auth_header("you", "other")
    auth.process_response(request, Response(request.url))
    assert "Authorization" not in request.headers
    assert request.meta == given | {HTTP_AUTH: True}  # so that the queue knows them for this attempt's


def test_a_request_without_credentials_is_left_alone() -> None:
    request = Request("https://shop.example/")
    built(Spider("plain")).process_request(request)
    assert (request.meta, dict(request.headers)) == ({}, {})


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
