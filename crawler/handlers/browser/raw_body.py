"""The body of a document that Chromium does not show: as it came, and in pieces, so that it ends at its limit."""

from __future__ import annotations

from base64 import b64decode
from contextlib import suppress
from typing import Final

from playwright.async_api import CDPSession, Error
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Headers

SHOWN: Final = (b"text/html", b"application/xhtml")
PIECE_BYTES: Final = 262_144


def is_shown(headers: Headers) -> bool:
    """Whether Chromium makes a page of a document with *headers*."""
    if (headers.get("Content-Disposition") or b"").lower().lstrip().startswith(b"attachment"):
        return False
    return (headers.get("Content-Type") or SHOWN[0]).lower().lstrip().startswith(SHOWN)


def missing(body: bytes, headers: Headers) -> int:
    """How many bytes of *body* did not come, as far as its *headers* tell."""
    promised = (headers.get("Content-Length") or b"").strip()
    if "Content-Encoding" in headers or not promised.isdigit():
        return 0
    return max(0, int(promised) - len(body))


async def read(session: CDPSession, paused: str, most: int) -> bytes:
    """The body of the response *paused* in *session*, unpacked. Raises DownloadCancelledError beyond *most* bytes, if
    that is not 0, and Playwright's Error."""
    stream = (await session.send("Fetch.takeResponseBodyAsStream", {"requestId": paused}))["stream"]
    body = bytearray()
    try:
        while True:
            piece = await session.send("IO.read", {"handle": stream, "size": PIECE_BYTES})
            body += b64decode(piece["data"]) if piece.get("base64Encoded") else piece["data"].encode()
            if most and len(body) > most:
                raise DownloadCancelledError(f"its body is longer than DOWNLOAD_MAXSIZE, {most} bytes")
            if piece["eof"]:
                return bytes(body)
    finally:
        with suppress(Error):  # the tab is gone
            await session.send("IO.close", {"handle": stream})
