"""Scrapy's warning of generators that return a value, without their source being read for each page."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest
from scrapy import Spider
from scrapy.settings import Settings
from scrapy.utils import misc
from scrapy.utils.misc import is_generator_with_return_value

from crawler.engine import generator_callbacks


class Returning(Spider):
    name = "returning"

    def good(self, response: Any) -> Iterator[int]:
        yield 1

    def bad(self, response: Any) -> Generator[int, None, int]:
        yield 1
        return 2

    def plain(self, response: Any) -> list[int]:
        return [1]


@pytest.fixture
def spider(monkeypatch: pytest.MonkeyPatch) -> Spider:
    monkeypatch.setattr(misc, "is_generator_with_return_value", is_generator_with_return_value)
    monkeypatch.setattr(misc, "_generator_callbacks_cache", type(misc._generator_callbacks_cache)(limit=128))
    spider = Returning()
    spider.settings = Settings()
    generator_callbacks.install()
    return spider


def test_source_is_read_once(spider: Returning, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []

    def source(function: Callable[..., Any]) -> str:
        read.append(function)
        return "def good(): yield 1"

    monkeypatch.setattr(inspect, "getsource", source)
    for _ in range(3):
        misc.warn_on_generator_with_return_value(spider, spider.good)  # another bound method each time
    assert read == [Returning.good]


def test_it_warns_as_scrapy_does(spider: Returning) -> None:
    with pytest.warns(UserWarning, match="Returning.bad"):
        misc.warn_on_generator_with_return_value(spider, spider.bad)
    assert not misc.is_generator_with_return_value(spider.plain)
    assert not misc.is_generator_with_return_value(lambda response: None)
