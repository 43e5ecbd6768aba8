"""The three ways a response body ends: after a length, after the last chunk, with the connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import httptools

from crawler.handlers.http.errors import IncompleteError

Emit = Callable[[bytes], None]


class Body(Protocol):
    """Takes the bytes after the head and passes on those of the body."""

    rubbish: bool  # more bytes came than belong to the response
    ends_with_connection: bool

    def feed(self, data: bytes) -> bool:
        """Take *data*; True once the body is complete."""


class Sized:
    """A body of *size* bytes."""

    ends_with_connection = False

    def __init__(self, emit: Emit, size: int) -> None:
        self.rubbish = False
        self._emit = emit
        self._left = size

    def feed(self, data: bytes) -> bool:
        if len(data) > self._left:
            self.rubbish = True
            data = data[: self._left]
        self._left -= len(data)
        if data:
            self._emit(data)
        return not self._left


class UntilClose:
    """A body of unknown size, which may be truncated without notice."""

    ends_with_connection = True
    rubbish = False

    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def feed(self, data: bytes) -> bool:
        if data:
            self._emit(data)
        return False


class Chunked:
    """A body in chunks, decoded by llhttp; trailers are dropped.

    Raises IncompleteError for invalid chunks.
    """

    ends_with_connection = False
    _HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"  # the head that llhttp needs

    def __init__(self, emit: Emit) -> None:
        self.rubbish = False
        self._emit = emit
        self._parts: list[bytes] = []
        self._responses = 0
        self._complete = False
        self._parser = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(lenient_spaces_after_chunk_size=True)  # old servers pad the sizes
        self._parser.feed_data(self._HEAD)

    def feed(self, data: bytes) -> bool:
        broken: httptools.HttpParserError | None = None
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            broken = error
        parts, self._parts = self._parts, []
        if parts:
            self._emit(b"".join(parts))
        if broken is not None and not self._complete:
            raise IncompleteError(f"invalid chunks: {broken}")
        self.rubbish = broken is not None or self._responses > 1
        return self._complete

    def on_message_begin(self) -> None:
        """Called by llhttp."""
        self._responses += 1

    def on_body(self, part: bytes) -> None:
        """Called by llhttp."""
        if not self._complete:
            self._parts.append(part)

    def on_message_complete(self) -> None:
        """Called by llhttp."""
        self._complete = True
