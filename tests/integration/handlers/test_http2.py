"""Over HTTP/2, which only domains with a TLS profile speak: a server that refuses halfway is asked once, and a page
that ends early is none."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any, Final

import pytest
from scrapy.exceptions import DownloadFailedError, ResponseDataLossError

from crawler.handlers.impersonation.profiles import TlsProfiles
from tests.integration.handlers.rawserver import Client, RawServer
from tests.integration.handlers.test_http import certified

pytest.importorskip("curl_cffi", reason="the extra `tls` is not installed")

DATA, HEADERS, RESET, SETTINGS, GOAWAY, END, HEADERS_END, STREAM = 0, 1, 3, 4, 7, 1, 4, 1
PREFACE_BYTES: Final = 24


def frame(kind: int, flags: int, stream: int, content: bytes = b"") -> bytes:
    return len(content).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + content


FOUND = frame(HEADERS, HEADERS_END, STREAM, b"\x88")  # :status 200
REFUSED = frame(RESET, 0, STREAM, b"\0\0\0\x07")


class Http2Server(RawServer):
    """Answers each request with these frames; one that is for another connection closes it."""

    def __init__(self, *frames: bytes, tls: ssl.SSLContext) -> None:
        tls.set_alpn_protocols(["h2"])
        super().__init__(tls=tls)
        self.frames = b"".join(frames)
        self.asked = 0

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        await reader.readexactly(PREFACE_BYTES)
        writer.write(frame(SETTINGS, 0, 0))
        while True:
            head = await reader.readexactly(9)
            await reader.readexactly(int.from_bytes(head[:3], "big"))
            if head[3] == HEADERS:
                self.asked += 1
                writer.write(self.frames)
                await writer.drain()
                return self.frames[3] != GOAWAY and not await reader.read()


async def fetch(tmp_path: Path, *frames: bytes) -> tuple[Any, int]:
    """The body or the error, and how often the server was asked."""
    (tmp_path / "domains.toml").write_text('[default]\ntls_profile = "chrome"\n')
    handler = Client(TlsProfiles, DOMAINS_FILE=str(tmp_path / "domains.toml"))
    async with Http2Server(*frames, tls=certified(tmp_path)) as server, handler as client:
        try:
            return (await client.get(server.url(), {"download_timeout": 60})).body, server.asked
        except Exception as error:  # noqa: BLE001 - it is what is asked for
            return error, server.asked


async def test_a_page_comes_over_http2(tmp_path: Path) -> None:
    assert await fetch(tmp_path, FOUND, frame(DATA, END, STREAM, b"ok")) == (b"ok", 1)


@pytest.mark.parametrize("refusal", [REFUSED, frame(GOAWAY, 0, 0, bytes(8))], ids=["the stream", "the connection"])
async def test_a_refused_request_is_not_repeated_past_its_hosts_pace(tmp_path: Path, refusal: bytes) -> None:
    """curl would send it five times more, at once."""
    error, asked = await fetch(tmp_path, refusal)
    assert type(error) is DownloadFailedError
    assert "refused the request before it answered" in str(error)
    assert asked == 1


async def test_a_stream_that_breaks_off_is_lost_data(tmp_path: Path) -> None:
    broken = frame(RESET, 0, STREAM, b"\0\0\0\x02")
    error, asked = await fetch(tmp_path, FOUND, frame(DATA, 0, STREAM, b"half"), broken)
    assert (type(error), asked) == (ResponseDataLossError, 1)


async def test_what_is_no_http_at_all_is_a_failed_download(tmp_path: Path) -> None:
    """And not a URL that nothing here can fetch, which would be given up for good."""
    wants_http1 = frame(RESET, 0, STREAM, b"\0\0\0\x0d")
    error, _ = await fetch(tmp_path, wants_http1)
    assert type(error) is DownloadFailedError
