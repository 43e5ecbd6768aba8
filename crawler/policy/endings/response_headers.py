"""What the headers of a response say of who sent it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def names_told(headers: Mapping[Any, Any]) -> Iterator[bytes]:
    """Names of headers and of the cookies they set, and the Server; in lower case."""
    for name in headers:
        low = (name.encode() if isinstance(name, str) else name).lower()
        yield low
        if low == b"server":
            yield from (value.lower() for value in values_of(headers, name))
        elif low == b"set-cookie":
            yield from (value.partition(b"=")[0].lower() for value in values_of(headers, name))


def values_of(headers: Mapping[Any, Any], name: Any) -> list[bytes]:
    """The values of the header *name*, of Scrapy's headers or of a map."""
    if hasattr(headers, "getlist"):
        return list(headers.getlist(name))
    value = headers.get(name)
    return [] if value is None else [value.encode() if isinstance(value, str) else value]
