"""The forward proxy's protocol: credentials, target address, and the head that is passed on."""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, Self
from urllib.parse import urlsplit

from crawler.handlers.route import Proxy
from crawler.utils.caches import Recent

MOST_HOSTS: Final = 1_000  # remembered per context: a page may name any number
# Hop-by-hop headers.
OURS: Final = frozenset({b"proxy-authorization", b"proxy-connection", b"connection", b"keep-alive"})


@dataclass(slots=True, eq=False)
class ContextCredentials:
    """The credentials of a browser context; requests without them are refused."""

    upstream: Proxy | None  # the next proxy, if any
    username: str = field(default_factory=lambda: secrets.token_hex(8))
    password: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    _refused: Recent[str, None] = field(default_factory=lambda: Recent(MOST_HOSTS))
    _failed: Recent[tuple[str, int], Exception] = field(default_factory=lambda: Recent(MOST_HOSTS))
    _written: Recent[tuple[str, int], float] = field(default_factory=lambda: Recent(MOST_HOSTS))

    @property
    def header(self) -> bytes:
        """The value of Proxy-Authorization."""
        return b"Basic " + b64encode(f"{self.username}:{self.password}".encode())

    def is_new(self, refused: str) -> bool:
        """Whether that host was not refused before, or long ago."""
        if refused in self._refused:
            return False
        self._refused[refused] = None
        return True

    def wrote(self, host: str, port: int) -> None:
        """Note that bytes were just sent to *host*."""
        self._written[host, port] = monotonic()

    def written(self, url: str) -> float:
        """When bytes were last sent to the host of *url*, in monotonic seconds; 0 if never."""
        return self._written.get(_address(url), 0.0)

    def failed(self, host: str, port: int, why: Exception) -> None:
        """Note that *host*, or a proxy on the way there, failed."""
        self._failed[host, port] = _bare(why)

    def pop_failure(self, url: str) -> Exception | None:
        """Why the host of *url* was not reached or gave no answer, which is forgotten with that; None if it did."""
        return self._failed.pop(_address(url), None)


def _bare(error: Exception) -> Exception:
    """*error* with its causes, which tell who is to blame, and without tracebacks, which hold on to connections."""
    each: BaseException | None = error
    while each is not None:
        each.__traceback__ = each.__context__ = None
        each = each.__cause__
    return error


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


@dataclass(frozen=True, slots=True)
class ProxyRequestHead:
    """The head of an incoming request."""

    method: bytes
    target: str
    lines: tuple[bytes, ...]

    @classmethod
    def parse(cls, raw: bytes) -> Self:
        """Raises ValueError."""
        first, *lines = raw.removesuffix(b"\r\n\r\n").split(b"\r\n")
        method, target, _ = first.split(b" ")
        return cls(method, target.decode("ascii"), tuple(lines))

    def header(self, name: bytes) -> bytes:
        """The header's value, empty if it is missing."""
        return next((value for key, value in self._headers() if key == name), b"")

    @property
    def body_bytes(self) -> float:
        """How many bytes belong to the request after its head; without a limit for a tunnel. Raises ValueError."""
        return float("inf") if self.method == b"CONNECT" else int(self.header(b"content-length") or 0)

    def address(self) -> tuple[str, int]:
        """Target host and port; raises ValueError for anything but CONNECT and http."""
        parts = urlsplit(f"//{self.target}" if self.method == b"CONNECT" else self.target)
        if not parts.hostname or parts.scheme not in {"", "http"}:
            raise ValueError(f"{self.target!r} is not a proxy request")
        return parts.hostname, parts.port if parts.port is not None else 80

    def forwarded(self, upstream: Proxy | None) -> bytes:
        """The head to pass on, for a connection with one request."""
        parts = urlsplit(self.target)
        path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        kept = [line for line in self.lines if line.partition(b":")[0].strip().lower() not in OURS]
        if upstream is not None and upstream.authorization:
            kept.append(b"Proxy-Authorization: " + upstream.authorization)
        first = b" ".join((self.method, (self.target if upstream else path).encode(), b"HTTP/1.1"))
        return b"\r\n".join((first, *kept, b"Connection: close", b"", b""))

    def _headers(self) -> Iterator[tuple[bytes, bytes]]:
        for line in self.lines:
            name, _, value = line.partition(b":")
            yield name.strip().lower(), value.strip()
