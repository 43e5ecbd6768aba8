"""Parses one response from the bytes of a connection: no sockets, no clock, no Scrapy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from crawler.handlers.http.body import Body, Chunked, Sized, UntilClose
from crawler.handlers.http.errors import BadResponseError, IncompleteError, SilentError
from crawler.handlers.http.head import BODYLESS, ResponseHead, find_end

_ENDING: Final = 2  # bytes of the empty line that may already have arrived


@dataclass(frozen=True, slots=True)
class HeadLimits:
    """How much of heads is read, interim responses included."""

    max_bytes: int
    max_count: int


class Listener(Protocol):
    """Receives a response as it arrives; raising an exception ends the exchange."""

    def wire_received(self, size: int) -> None:
        """*size* bytes came besides the heads: body, chunk extensions, trailers, TLS records."""

    def head_received(self, head: ResponseHead, size: int | None) -> None:
        """The final head arrived; *size* is the body's length, None if unknown."""

    def data_received(self, data: bytes) -> None:
        """A piece of the body, never empty."""


class Receiver:
    """To be fed until it reports that the response is complete.

    Raises BadResponseError or IncompleteError if it cannot become complete, and whatever *listener* raises.
    """

    def __init__(self, method: str, limits: HeadLimits, listener: Listener) -> None:
        self._method = method
        self._limits = limits
        self._listener = listener
        self._pending = b""
        self._spent = 0  # bytes of interim heads
        self._wire = 0
        self._body: Body | None = None
        self._keeps_alive = False

    def arrived(self, size: int) -> None:
        """Count *size* bytes from the wire; their content, if any, is fed afterwards."""
        self._wire += size
        self._listener.wire_received(max(0, self._wire - self._limits.max_bytes))

    def feed(self, data: bytes) -> bool:
        """Parse *data*; True once the response is complete."""
        if self._body is not None:
            return self._body.feed(data)
        if (found := self._take_head(data)) is None:
            return False
        self._body, rest = found
        return self._body.feed(rest)

    @property
    def reusable(self) -> bool:
        """Whether the connection may carry another request; valid after a complete response."""
        body = self._body
        return self._keeps_alive and body is not None and not (body.rubbish or body.ends_with_connection)

    def closed(self, error: Exception | None) -> None:
        """The connection ended; valid only for a body that ends with the connection."""
        if self._body is None:
            why = f": {error}" if error else ""
            if not self._pending and not self._spent:
                raise SilentError(f"the connection ended before anything came{why}")
            raise BadResponseError(f"the connection ended in the head, {self._pending[:40]!r}{why}")
        if error is not None or not self._body.ends_with_connection:
            raise IncompleteError(str(error or "the connection ended in the middle of the body"))

    @property
    def is_partial(self) -> bool:
        """Whether the body may be truncated without notice."""
        return self._body is not None and self._body.ends_with_connection

    def _take_head(self, data: bytes) -> tuple[Body, bytes] | None:
        """Look for a final head; returns the body it announces and the bytes after it."""
        begin = max(0, len(self._pending) - _ENDING)
        data, self._pending, at = self._pending + data, b"", 0
        while (found := find_end(data, begin)) is not None:
            raw, self._spent = data[at : found[0]], self._spent + found[1] - at
            at = begin = found[1]
            self._check(self._spent)
            if raw.strip() and self._is_final(head := ResponseHead.parse(raw.lstrip(), self._limits.max_count)):
                return self._announced(head), data[at:]
        self._pending = data[at:]
        self._check(self._spent + len(self._pending))
        return None

    def _check(self, size: int) -> None:
        if size > self._limits.max_bytes:
            raise BadResponseError(f"a head of more than {self._limits.max_bytes} bytes (DOWNLOAD_HEADERS_MAXSIZE)")

    def _is_final(self, head: ResponseHead) -> bool:
        if head.status == 101:
            raise BadResponseError("the server switched protocols without being asked")
        return not 100 <= head.status < 200  # `000` is no interim one: nothing would follow

    def _announced(self, head: ResponseHead) -> Body:
        is_tunnel = self._method == "CONNECT" and head.status < 300
        self._keeps_alive = is_tunnel or head.keeps_alive
        size = 0 if is_tunnel or self._method == "HEAD" or head.status in BODYLESS else head.length
        emit = self._listener.data_received
        self._listener.head_received(head, size)
        if size is not None:
            return Sized(emit, size)
        return Chunked(emit) if head.is_chunked else UntilClose(emit)
