"""Spiders as they were until Scrapy 2.12: `start_requests()` in place of `start()`. Scrapy 2.19 passes over it in
silence; the fleet calls it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from scrapy import Request, Spider
from scrapy.utils.asyncgen import as_async_generator
from scrapy_redis.spiders import RedisMixin

_NAME: Final = "start_requests"


def has_old_start(spider: type[Spider]) -> bool:
    """Whether `start_requests()` is what *spider* means by its start: no class nearer to it has `start()`. False for a
    RedisSpider's, which pops start URLs; ours are leased."""
    nearest = next(one for one in spider.__mro__ if {"start", _NAME} & set(vars(one)))
    return "start" not in vars(nearest) and not issubclass(spider, RedisMixin)


def start(spider: Spider) -> AsyncIterator[Any]:
    """The start requests and items of *spider*, whichever method has them; raises what that raises."""
    if not has_old_start(type(spider)):
        return spider.start()
    if not hasattr(Spider, _NAME):
        setattr(Spider, _NAME, _of_start_urls)  # for `super().start_requests()`
    return as_async_generator(spider.start_requests())  # type: ignore[attr-defined]


def _of_start_urls(spider: Spider) -> Iterator[Request]:
    """What Spider had. Raises AttributeError where a class below it (SitemapSpider) had another one, which is gone."""
    if type(spider).start is not Spider.start:
        words = "super().start_requests() of {} is gone: make its start_requests() an `async def start(self)`"
        raise AttributeError(words.format(type(spider).__name__))
    for url in spider.start_urls:
        yield Request(url, dont_filter=True)
