"""A page's plain links, packed, so that they can be followed again without fetching the page."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

from scrapy import Request, Spider

from crawler.urls import without_credentials

Link = tuple[str, str, int, bool]  # URL, name of the callback, priority, dont_filter


def plain(request: Request, spider: Spider) -> Link | None:
    """*request* as a link; None unless it is a plain GET request whose callback is a method of the spider."""
    callback = request.callback
    name = "" if callback is None else getattr(callback, "__name__", "")
    rest = (request.body, request.headers, request.cookies, request.meta, request.cb_kwargs, request.flags)
    if type(request) is not Request or request.method != "GET" or request.errback is not None or any(rest):
        return None
    if callback is not None and getattr(spider, name, None) != callback:
        return None
    return without_credentials(request.url), name, request.priority, request.dont_filter


def bare(url: str) -> Link:
    """The same for `Request(url)`; *url* is escaped already."""
    return without_credentials(url), "", 0, False


def pack(links: Sequence[Link]) -> bytes:
    """The inverse of `read`."""
    return zlib.compress(json.dumps(links).encode(), 1) if links else b""


def read(packed: bytes, spider: Spider) -> list[Request]:
    """The requests; those whose callback no longer exists get the spider's default one. Raises ValueError for what
    `pack` has not made."""
    try:
        links = json.loads(zlib.decompress(packed)) if packed else ()
        return [
            Request(url, getattr(spider, name, None) if name else None, priority=priority, dont_filter=dont_filter)
            for url, name, priority, dont_filter in links
        ]
    except (TypeError, zlib.error) as error:
        raise ValueError(str(error)) from error
