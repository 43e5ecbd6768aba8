"""Spiders as they were until Scrapy 2.12: `start_requests()` in place of `start()`. Scrapy 2.19 passes over it in
silence; the fleet calls it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Spider
from scrapy.utils.asyncgen import as_async_generator
from scrapy_redis.spiders import RedisMixin


def has_old_start(spider: type[Spider]) -> bool:
    """Whether `start_requests()` is what *spider* means by its start: no class nearer to it has `start()`. False for a
    RedisSpider's, which pops start URLs; ours are leased."""
    nearest = next(one for one in spider.__mro__ if {"start", "start_requests"} & set(vars(one)))
    return "start" not in vars(nearest) and not issubclass(spider, RedisMixin)


def start(spider: Spider) -> AsyncIterator[Any]:
    """The start requests and items of *spider*, whichever method has them; raises what that raises."""
    return as_async_generator(spider.start_requests()) if has_old_start(type(spider)) else spider.start()  # type: ignore[attr-defined]
