"""What commands share: how they say what is wrong, and which spider is meant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scrapy import Spider
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings
from scrapy.spiderloader import get_spider_loader

from crawler.errors import ShoalError


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Makes a ShoalError one line without a traceback, and the exit status 2."""
    try:
        yield
    except ShoalError as error:
        raise UsageError(str(error), print_help=False) from error


def spider_class(settings: BaseSettings, name: str) -> type[Spider]:
    """The spider of that name; raises ShoalError when there is none."""
    try:
        return get_spider_loader(settings).load(name)
    except KeyError:
        raise ShoalError(f"there is no spider {name!r}, `scrapy list` shows them") from None
