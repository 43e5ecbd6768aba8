"""Which keyword arguments a callback takes, to tell a request of another release from a mistake of the spider's author.

A mistake is known where the request is yielded, and marked in its stored form. Arguments that a callback does not take,
without that mark, were yielded by a release whose callback does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any

from scrapy import Request, Spider

_BY_NAME = frozenset({Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY})


def unexpected(request: Request, spider: Spider | type[Spider]) -> str:
    """The first of the request's `cb_kwargs` that its callback does not take; "" if it takes all, or nobody can say.
    Missing ones do not count: other add-ons provide arguments of their own."""
    if not request.cb_kwargs:
        return ""
    callback: Any = request.callback or getattr(spider, "parse", None)
    taken = _taken(getattr(callback, "__func__", callback)) if callable(callback) else None
    return "" if taken is None else next((str(name) for name in request.cb_kwargs if name not in taken), "")


@lru_cache(512)
def _taken(callback: Callable[..., Any]) -> frozenset[str] | None:
    """Names of arguments; None for any."""
    try:
        parameters = signature(callback, follow_wrapped=False).parameters.values()  # a decorator may take some
    except (TypeError, ValueError):
        return None
    if any(each.kind is Parameter.VAR_KEYWORD for each in parameters):
        return None
    return frozenset(each.name for each in parameters if each.kind in _BY_NAME)
