"""scrapy-playwright's `meta["playwright_page_methods"]` in the queue: method names and arguments.

A name has to be one of ALLOWED, and no argument may be a path: write access to Redis must not let anyone read or write
a worker's disk, or load other pages than the turn is for.
"""

from __future__ import annotations

from typing import Any, Final

import msgpack
from scrapy import Request

from crawler.errors import CodecError

METHODS: Final = "playwright_page_methods"  # in meta
INCLUDE_PAGE: Final = "playwright_include_page"  # in meta
CODE: Final = 1  # msgpack extension type
ALLOWED: Final = frozenset(
    {
        *(
            "check",
            "click",
            "dblclick",
            "dispatch_event",
            "drag_and_drop",
            "evaluate",
            "fill",
            "focus",
            "hover",
            "press",
        ),
        *("pdf", "screenshot", "select_option", "set_checked", "tap", "type", "uncheck"),
        *("wait_for_function", "wait_for_load_state", "wait_for_selector", "wait_for_timeout", "wait_for_url"),
    }
)


def stored(meta: dict[str, Any], request: Request) -> dict[str, Any]:
    """*meta* with page methods in their queued form; raises CodecError for what cannot be queued."""
    if meta.get(INCLUDE_PAGE):
        raise CodecError(
            f"{request} cannot be queued: meta[{INCLUDE_PAGE!r}] keeps the page open, but tabs are shared: "
            f"list the page's actions in meta[{METHODS!r}]"
        )
    methods = meta.get(METHODS)
    if not methods:
        return meta
    if isinstance(methods, dict):
        return meta | {METHODS: {name: _packed(method, request) for name, method in methods.items()}}
    return meta | {METHODS: [_packed(method, request) for method in methods]}


def restored(meta: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `stored`."""
    methods = meta.get(METHODS)
    if isinstance(methods, dict):
        return meta | {METHODS: {name: _unpacked(method) for name, method in methods.items()}}
    return meta | {METHODS: [_unpacked(method) for method in methods]} if methods else meta


def _packed(method: Any, request: Request) -> Any:
    if isinstance(method, msgpack.ExtType):
        return method
    name, args, kwargs = (getattr(method, part, None) for part in ("method", "args", "kwargs"))
    if not _allowed(name, kwargs):
        raise CodecError(
            f"{request} cannot be queued: {method!r} in meta[{METHODS!r}] is not one of {', '.join(sorted(ALLOWED))} "
            "without a path"
        )
    return msgpack.ExtType(CODE, msgpack.packb([name, args, kwargs]))


def _unpacked(stored_method: Any) -> Any:
    from scrapy_playwright.page import PageMethod

    name, args, kwargs = msgpack.unpackb(stored_method.data)
    if stored_method.code != CODE or not _allowed(name, kwargs):
        raise CodecError(f"page method {name!r} is not allowed")
    return PageMethod(name, *args, **kwargs)


def _allowed(name: Any, kwargs: Any) -> bool:
    return isinstance(name, str) and name in ALLOWED and "path" not in (kwargs or {})
