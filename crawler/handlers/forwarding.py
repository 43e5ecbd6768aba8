"""The forward proxy's protocol: who asks, for which address, and what is passed on."""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, Self
from urllib.parse import urlsplit

from crawler.handlers.route import Proxy

# Headers of one hop.
OURS: Final = frozenset({b"proxy-authorization", b"proxy-connection", b"connection", b"keep-alive"})


@dataclass(slots=True, eq=False)
class Pass:
    """The credentials of a browser context; requests without them are refused."""

    upstream: Proxy | None  # a further proxy to go through
    username: str = field(default_factory=lambda: secrets.token_hex(8))
    password: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    refused: set[str] = field(default_factory=set)  # hosts
    broken: str | None = None  # what was last wrong with *upstream*
    _written: dict[tuple[str, int], float] = field(default_factory=dict)

    @property
    def header(self) -> bytes:
        """As Proxy-Authorization carries it."""
        return b"Basic " + b64encode(f"{self.username}:{self.password}".encode())

    def wrote(self, host: str, port: int) -> None:
        """Something has just been sent to *host*."""
        self._written[host, port] = monotonic()

    def written(self, url: str) -> float:
        """When something was last sent to the host of *url*, in monotonic seconds; 0 when nothing was."""
        parts = urlsplit(url)
        return self._written.get((parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)), 0.0)


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
        """The header's value, empty where there is none."""
        return next((value for key, value in self._headers() if key == name), b"")

    def address(self) -> tuple[str, int]:
        """Whom it is for; raises ValueError for what is neither CONNECT nor http."""
        parts = urlsplit(f"//{self.target}" if self.method == b"CONNECT" else self.target)
        if not parts.hostname or parts.scheme not in {"", "http"}:
            raise ValueError(f"{self.target!r} is not for a proxy")
        return parts.hostname, parts.port if parts.port is not None else 80

    def forwarded(self, upstream: Proxy | None) -> bytes:
        """The head as it goes on; the connection is for one request."""
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
