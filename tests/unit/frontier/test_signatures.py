"""Our classes take what scrapy-redis' take, so that code and settings written for it go on working."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import scrapy_redis.dupefilter
import scrapy_redis.queue
import scrapy_redis.scheduler
import scrapy_redis.spiders

from crawler.errors import ConfigError
from crawler.spiders.base import FrontierSpider
from crawler.worker.dupefilter import FrontierDupeFilter
from crawler.worker.lease_queue import FrontierQueue
from crawler.worker.scheduler import Scheduler

PAIRS: list[tuple[type, type]] = [
    (Scheduler, scrapy_redis.scheduler.Scheduler),
    (FrontierQueue, scrapy_redis.queue.Base),
    (FrontierDupeFilter, scrapy_redis.dupefilter.RFPDupeFilter),
    (FrontierSpider, scrapy_redis.spiders.RedisSpider),
]
METHODS = {
    f"{ours.__name__}.{name}": (getattr(ours, name), method)
    for ours, theirs in PAIRS
    for name, method in inspect.getmembers(theirs, callable)
    if name == "__init__" or (not name.startswith("_") and method.__module__.startswith("scrapy_redis"))
}


@pytest.mark.parametrize("pair", PAIRS)
def test_ours_is_one_of_theirs(pair: tuple[type, type]) -> None:
    assert issubclass(*pair)


@pytest.mark.parametrize("name", METHODS)
def test_ours_accepts_their_arguments(name: str) -> None:
    ours, theirs = map(parameters, METHODS[name])
    assert [one.name for one in ours[: len(theirs)]] == [one.name for one in theirs]
    assert all(mine.kind == yours.kind for mine, yours in zip(ours, theirs, strict=False))
    for mine, yours in zip(ours, theirs, strict=False):
        assert (mine.default is mine.empty) <= (yours.default is yours.empty), mine
    assert all(one.default is not one.empty for one in ours[len(theirs) :])


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def test_the_methods_compared_are_the_public_ones() -> None:
    assert {"Scheduler.__init__", "Scheduler.from_settings", "Scheduler.flush", "FrontierQueue.push"} <= set(METHODS)
    assert {"FrontierDupeFilter.from_spider", "FrontierSpider.make_request_from_data"} <= set(METHODS)


@pytest.mark.parametrize(
    ("argument", "complaint"),
    [
        ({"persist": False}, "the queue belongs to the fleet and outlives each worker"),
        ({"flush_on_start": True}, "use `scrapy push --recrawl` to crawl everything again"),
        ({"serializer": "pickle"}, "requests are stored as msgpack, never as pickle"),
    ],
)
def test_what_would_destroy_shared_work_is_refused_with_an_explanation(
    argument: dict[str, Any], complaint: str
) -> None:
    server: Any = None
    with pytest.raises(ConfigError) as refused:
        Scheduler(server, **argument)
    assert complaint in str(refused.value)


def test_negative_idle_time_is_refused_as_scrapy_redis_does() -> None:
    server: Any = None
    with pytest.raises(TypeError):
        Scheduler(server, idle_before_close=-1)
