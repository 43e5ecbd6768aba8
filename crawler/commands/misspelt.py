"""A misspelt setting, an argument that no bundled spider takes, an attribute of the wrong form or a missing callback is
named; Scrapy lets them pass in silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from scrapy import Spider
from scrapy.settings import BaseSettings, default_settings
from scrapy_redis.spiders import RedisMixin

from crawler import defaults, scrapy_hooks
from crawler.utils.masking import mask

KNOWN: Final = sorted(name for module in (default_settings, defaults) for name in vars(module) if name.isupper())
ALIKE: Final = 0.87
BUNDLED: Final = "crawler.spiders."


def hints(settings: BaseSettings, given: Iterable[str]) -> Iterator[str]:
    """A line for each of the names *given* that *settings*, Scrapy and Shoal do not have, but one much like it."""
    for name in given:
        if name not in settings and name not in KNOWN:
            for meant in get_close_matches(name.upper(), KNOWN, 1, ALIKE):
                yield f"there is no setting {name}, did you mean {meant}?"


def of_spider(spider: type[Spider], given: Iterable[str]) -> Iterator[str]:
    """A line for each fault of *spider* and of the arguments *given*."""
    yield from unread(spider, given)
    yield from attributes(spider)


def unread(spider: type[Spider], given: Iterable[str]) -> Iterator[str]:
    """A line for each of the arguments *given* that a bundled *spider* does not take; one of a project's own may read
    what it likes."""
    if not spider.__module__.startswith(BUNDLED):
        return
    takes: frozenset[str] = getattr(spider, "takes", frozenset())
    for name in given:
        if name not in takes and not hasattr(spider, name):
            words = f"it takes {' and '.join(sorted(takes)) or 'none'}; URLs come by `scrapy push {spider.name} URL`"
            yield f"{spider.name} has no argument -a {name}: {words}"


def attributes(spider: type[Spider]) -> Iterator[str]:
    """A line for each attribute by which *spider* starts nowhere, drops every link as one to another domain, or has
    nothing that reads its first pages."""
    for name in ("start_urls", "allowed_domains"):
        if isinstance(text := getattr(spider, name, None), str):
            yield f"{spider.name} has {name} = {mask(text)!r}: Scrapy takes each letter for an entry, make it a list"
    domains = getattr(spider, "allowed_domains", None)
    for one in domains if isinstance(domains, list | tuple | set) else ():
        if isinstance(one, str) and ("/" in one or one.count(":") == 1):  # more than one: an IPv6 address
            words = "which is not a host name: leave out scheme, port and path"
            yield f"{spider.name} has {mask(one)!r} in allowed_domains, {words}"
    starts = spider.start is Spider.start and getattr(spider, "start_urls", None)
    pushed = getattr(spider, "make_request_from_data", None)  # one of the spider's own may name its callbacks
    if (starts or pushed is RedisMixin.make_request_from_data) and not scrapy_hooks.takes_pages(spider):
        words = "each page of its start URLs becomes a dead letter"
        yield f"{spider.name} has no method parse, the callback of requests that name none: {words}"
