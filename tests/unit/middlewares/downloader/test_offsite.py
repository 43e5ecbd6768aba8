"""Scrapy's rule for `allowed_domains`, at no cost to spiders without any."""

from __future__ import annotations

import pytest
from scrapy import Request, Spider
from scrapy.downloadermiddlewares import offsite
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.test import get_crawler

from crawler.middlewares.downloader.offsite import OffsiteMiddleware

HERE, ELSEWHERE = Request("http://shop.example/1"), Request("http://other.example/1")


class Shop(Spider):
    name = "shop"
    allowed_domains: list[str]


def test_domains_count_from_when_they_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    crawler = get_crawler(Shop)
    crawler.spider = spider = Shop()
    middleware = OffsiteMiddleware.from_crawler(crawler)
    middleware.spider_opened(spider)
    with monkeypatch.context() as patched:
        patched.delattr(offsite, "urlparse_cached")  # nothing is parsed
        middleware.process_request(ELSEWHERE)
        middleware.request_scheduled(ELSEWHERE, spider)
    spider.allowed_domains = ["shop.example"]
    middleware.process_request(HERE)
    with pytest.raises(IgnoreRequest, match="other"):
        middleware.process_request(ELSEWHERE)
    with pytest.raises(IgnoreRequest, match="other"):
        middleware.request_scheduled(ELSEWHERE, spider)
    spider.allowed_domains = []
    middleware.process_request(ELSEWHERE)


def test_domains_may_be_an_iterator() -> None:
    """scrapy-redis' example has `filter(None, domain.split(","))`, which can be read once."""
    crawler = get_crawler(Shop)
    crawler.spider = spider = Shop()
    spider.allowed_domains = filter(None, ["shop.example", ""])  # type: ignore[assignment]
    middleware = OffsiteMiddleware.from_crawler(crawler)
    middleware.spider_opened(spider)
    for _ in range(2):
        middleware.process_request(HERE)
        assert middleware.should_follow(HERE, spider)
        with pytest.raises(IgnoreRequest, match="other"):
            middleware.process_request(ELSEWHERE)
    assert spider.allowed_domains == ["shop.example"]
