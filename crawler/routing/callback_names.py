"""Callbacks as names of the spider's own methods: what a queued request says is looked up, never run as code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scrapy import Request, Spider

from crawler.errors import CodecError, OtherReleaseError

_BUILT_IN: Final = frozenset({"shoal_sitemap"})  # callbacks that every spider of a worker has


def name_of(spider: Spider | type[Spider], callback: Callable[..., Any] | str, request: Request) -> str:
    """The name of *callback* of *request*; raises CodecError for what is no method of *spider*."""
    name = callback if isinstance(callback, str) else getattr(callback, "__name__", "")
    if name in _BUILT_IN:
        return name
    method = getattr(spider, name, None) if name.isidentifier() else None
    same = isinstance(callback, str) or _function(method) is _function(callback)
    if not same:
        name = _alias(spider, _function(callback))
    if not (same and callable(method)) and not name:
        raise CodecError(f"{request} cannot be queued: callback {callback!r} is not a method of spider {spider.name!r}")
    return name


def method_of(spider: Spider, kind: str, name: str | None, url: str) -> Callable[..., Any] | None:
    """The method of *spider* with that *name*, the callback or errback (*kind*) of the request for *url*.

    None for no name. Raises OtherReleaseError where there is none: another release may have it.
    """
    if name is None:
        return None
    method = getattr(spider, name, None) if name.isidentifier() and not name.startswith("__") else None
    if not callable(method):
        raise OtherReleaseError(spider.name, kind, name, url)
    result: Callable[..., Any] = method
    return result


def _alias(spider: Spider | type[Spider], function: Any) -> str:
    """The name under which the spider has *function*, if its own name differs, as with scrapy-poet's `callback_for`."""
    classes = (spider if isinstance(spider, type) else type(spider)).__mro__
    names = (name for one in classes for name, value in vars(one).items() if value is function)
    return next((name for name in names if _function(getattr(spider, name)) is function), "")


def _function(method: Any) -> Any:
    return getattr(method, "__func__", method)
