"""The garbage collector's settings at the start and end of a crawl."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.extensions.garbage import GarbageExtension


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def crawler(**settings: object) -> Crawler:
    return Crawler(Spider, {"FRONTIER_ENABLED": True, "GC_THRESHOLD": 5_000} | settings)


def test_the_program_is_set_aside_while_a_spider_is_open() -> None:
    before, made = gc.get_threshold(), crawler()
    extension = GarbageExtension.from_crawler(made)
    made.signals.send_catch_log(signals.spider_opened)
    assert gc.get_freeze_count() > 10_000
    assert gc.get_threshold() == (5_000, *before[1:])
    made.signals.send_catch_log(signals.spider_closed)
    assert (gc.get_freeze_count(), gc.get_threshold()) == (0, before)
    del extension


def test_of_several_crawls_in_a_process_the_last_one_puts_back_what_was_before() -> None:
    before, first, second = gc.get_threshold(), crawler(), crawler()
    kept = [GarbageExtension.from_crawler(first)]
    first.signals.send_catch_log(signals.spider_opened)
    kept.append(GarbageExtension.from_crawler(second))
    second.signals.send_catch_log(signals.spider_opened)
    first.signals.send_catch_log(signals.spider_closed)
    assert (gc.get_freeze_count() > 10_000, gc.get_threshold()) == (True, (5_000, *before[1:]))
    second.signals.send_catch_log(signals.spider_closed)
    assert (gc.get_freeze_count(), gc.get_threshold()) == (0, before)


@pytest.mark.parametrize("settings", [{"GC_THRESHOLD": 0}, {"FRONTIER_ENABLED": False}])
def test_off(settings: dict[str, object]) -> None:
    with pytest.raises(NotConfigured):
        GarbageExtension.from_crawler(crawler(**settings))
