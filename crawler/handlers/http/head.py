"""The head of an HTTP/1.x response, parsed as leniently as browsers do: many real heads break the rules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from scrapy.http import Headers

from crawler.handlers.http.errors import BadResponseError

_STATUS: Final = re.compile(rb"HTTP/(\d\.\d)[ \t]+(\d{3})(?!\d)")
_LENGTH: Final = re.compile(rb"\d{1,18}")
_KEEPS: Final = re.compile(rb"timeout *= *(\d{1,9})")
_FORBIDDEN: Final = re.compile(rb"\0|\r(?!\n)")  # in a field's value: replaced by a space, RFC 9110 5.5
_EMPTY_LINE: Final = re.compile(rb"\n\r?\n")
BODYLESS: Final = frozenset({204, 304})


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """Status line and header fields."""

    status: int
    protocol: str  # "HTTP/1.1"
    headers: Headers

    @classmethod
    def parse(cls, raw: bytes, max_count: int) -> Self:
        """Parse *raw*, which ends before the empty line.

        Lines without a colon are skipped, folded ones joined, and no value has a line break or NUL, so that a value
        sent back (a cookie, an ETag) cannot add a header. Raises BadResponseError if the first line is not HTTP/1.x, or
        for more than *max_count* fields.
        """
        if b"\0" in raw or raw.count(b"\r") > raw.count(b"\r\n") + raw.endswith(b"\r"):
            raw = _FORBIDDEN.sub(b" ", raw)
        first, *lines = raw.split(b"\n")
        if (status := _STATUS.match(first)) is None:
            raise BadResponseError(f"not an HTTP/1.x response: it begins with {first[:40]!r}")
        if len(lines) > max_count:
            raise BadResponseError(f"more than {max_count} header lines (DOWNLOAD_HEADERS_MAXCOUNT)")
        if b"\n " in raw or b"\n\t" in raw:
            lines = _unfolded(lines)
        fields = [(name.strip(), value.strip()) for name, colon, value in (x.partition(b":") for x in lines) if colon]
        return cls(int(status[2]), f"HTTP/{status[1].decode()}", Headers(fields))

    @property
    def keeps_alive(self) -> bool:
        """Whether the server takes another request on this connection, and the end of the body is unambiguous.

        A body with two lengths, or chunks in HTTP/1.0, may end elsewhere for an intermediary (RFC 9112 6.1).
        """
        tokens, is_old = self._tokens(b"Connection"), self.protocol == "HTTP/1.0"
        if self._tokens(b"Transfer-Encoding") and (is_old or self._tokens(b"Content-Length")):
            return False
        return b"close" not in tokens and (not is_old or b"keep-alive" in tokens)

    @property
    def keeps_seconds(self) -> float | None:
        """How long the server says it keeps an idle connection; None if it says nothing."""
        for token in self._tokens(b"Keep-Alive"):
            if (said := _KEEPS.fullmatch(token)) is not None:
                return float(said[1])
        return None

    @property
    def is_chunked(self) -> bool:
        """Whether the body is chunked."""
        return self._codings[-1:] == [b"chunked"]

    @property
    def length(self) -> int | None:
        """The Content-Length; None if it is missing or not a number.

        Raises BadResponseError for two different values.
        """
        if self._codings:
            return None
        said = set(self._tokens(b"Content-Length"))
        if len(said) > 1:
            raise BadResponseError(f"two different Content-Length: {sorted(said)[:2]}")
        value = said.pop() if said else b""
        return int(value) if _LENGTH.fullmatch(value) else None

    @property
    def _codings(self) -> list[bytes]:
        """Of the transfer; `identity`, which RFC 2616 had and old servers send, is none."""
        return [coding for coding in self._tokens(b"Transfer-Encoding") if coding != b"identity"]

    def _tokens(self, name: bytes) -> list[bytes]:
        values = dict.get(self.headers, name)  # names are normalised here
        return (
            [part.strip().lower() for value in values for part in value.split(b",") if part.strip()] if values else []
        )


def find_end(data: bytes, begin: int) -> tuple[int, int] | None:
    """Where the first empty line after *begin* starts and ends; lines may end in LF alone."""
    found = _EMPTY_LINE.search(data, begin)  # reads no further: thousands of empty lines may come at once
    return found.span() if found is not None else None


def _unfolded(lines: list[bytes]) -> list[bytes]:
    joined: list[bytes] = []
    for line in lines:
        if joined and line[:1] in {b" ", b"\t"}:
            joined[-1] = joined[-1].rstrip() + b" " + line.strip()
        else:
            joined.append(line)
    return joined
