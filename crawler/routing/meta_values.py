"""What cookies, and keys of `request.meta`, may hold that are read at the download: by Scrapy, scrapy-playwright or
our handlers.

A wrong value would fail only there, with the bare TypeError of whatever reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from scrapy import Request

from crawler.routing.codec import refused


class _Values(NamedTuple):
    allowed: str
    include: Callable[[Any], bool]


def _is_a(types: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, types)


def _is_address(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], int)
    return isinstance(value, str | None)


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


_BYTES: Final = _Values("a number of bytes", _is_a(int | float | None))
_CHECKED: Final = {
    "bindaddress": _Values("an address, or an address and a port", _is_address),
    "cookiejar": _Values("text or a number", _is_a(Hashable)),
    "download_maxsize": _BYTES,
    "download_timeout": _Values("seconds", _is_a(int | float | None)),
    "download_warnsize": _BYTES,
    "handle_httpstatus_list": _Values("a list of statuses", _is_list),
    "playwright_page_methods": _Values("a list of page methods", lambda value: value is None or _is_list(value)),
    "proxy": _Values("the URL of a proxy", _is_a(str | None)),
    "proxy_pool": _Values("the name of a pool", _is_a(str | None)),
}


def check(request: Request) -> None:
    """Raises CodecError for a value with which *request* cannot be fetched."""
    for key, value in request.meta.items():
        values = _CHECKED.get(key)
        if values is not None and not values.include(value):
            raise refused(request, f"meta[{key!r}]", value, values.allowed)
    for name, value in _sent(request.cookies) if request.cookies else ():
        if not isinstance(value, str | bytes | int | float | None):
            raise refused(request, f"cookies[{name!r}]", value, "text or a number")


def _sent(cookies: Any) -> Iterator[tuple[Any, Any]]:
    """What is read of *cookies*: values by name, or maps of which browsers fill more than that."""
    if isinstance(cookies, dict):
        yield from cookies.items()
    else:
        yield from ((key, one.get(key)) for one in cookies for key in ("name", "value", "path", "domain"))
