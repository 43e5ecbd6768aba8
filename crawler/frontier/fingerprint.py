"""What makes two requests the same: method, canonical URL and body.

It departs from Scrapy's own fingerprinter in one thing: tracking parameters do not make a new page.
"""

from __future__ import annotations

from hashlib import sha1
from typing import Final
from weakref import WeakKeyDictionary

from scrapy import Request

from crawler.urls import canonicalize

MASK: Final = (1 << 63) - 1  # the signed 64-bit integers of Redis' intsets, positive half


class RequestFingerprinter:
    """REQUEST_FINGERPRINTER_CLASS of the project; 20 bytes, stable over releases."""

    def __init__(self) -> None:
        self._cache: WeakKeyDictionary[Request, bytes] = WeakKeyDictionary()

    def fingerprint(self, request: Request) -> bytes:
        """SHA-1 over method, canonical URL and body."""
        known = self._cache.get(request)
        if known is None:
            url = canonicalize(request.url).encode("utf-8", "surrogatepass")
            known = sha1(b"\n".join((request.method.encode(), url, request.body)), usedforsecurity=False).digest()
            self._cache[request] = known
        return known


def number(digest: bytes) -> int:
    """A fingerprint as the 63-bit integer that the frontier stores.

    At 10^9 known URLs the chance that a new one collides with any of them is about 1e-10.
    """
    return int.from_bytes(digest[:8], "big") & MASK
