"""Over HTTP/2, which only domains with a TLS profile speak: a server that refuses halfway is asked once, and a page
that ends early is none."""

from __future__ import annotations

import asyncio
import ssl
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError, ResponseDataLossError

from crawler.handlers.impersonation.profiles import TlsProfiles
from tests.integration.handlers.rawserver import Client, RawServer
from tests.integration.handlers.test_http import certified

pytest.importorskip("curl_cffi", reason="the extra `tls` is not installed")

DATA, HEADERS, RESET, SETTINGS, GOAWAY, ALTSVC, END, HEADERS_END, PADDED, STREAM = 0, 1, 3, 4, 7, 10, 1, 4, 8, 1
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
        self.last: bytes | None = None  # a frame that is sent for ever after these
        self.sent = 0  # bytes of it
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
                await self._go_on(writer)
                return self.frames[3] != GOAWAY and not await reader.read()

    async def _go_on(self, writer: asyncio.StreamWriter) -> None:
        while self.last is not None and self.sent < 1 << 30:
            writer.write(self.last * 100)
            await writer.drain()
            await asyncio.sleep(0)  # a socket that has broken must be able to say so
            self.sent += 100 * len(self.last)


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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a connection has brought")
@pytest.mark.parametrize(
    ("begin", "last"),
    [
        (b"", frame(ALTSVC, 0, 0, b"\0\x09https://a" + b'h2=":1"')),
        (FOUND, frame(DATA, PADDED, STREAM, b"\xff" + bytes(255))),
    ],
    ids=["before the head", "before the body"],
)
async def test_frames_that_carry_nothing_count(tmp_path: Path, begin: bytes, last: bytes) -> None:
    """Of an answer of 1 MB half a gigabyte came in six seconds."""
    (tmp_path / "domains.toml").write_text('[default]\ntls_profile = "chrome"\n')
    handler = Client(TlsProfiles, DOMAINS_FILE=str(tmp_path / "domains.toml"), DOWNLOAD_MAXSIZE=1_000_000)
    async with Http2Server(begin, tls=certified(tmp_path)) as server, handler as client:
        server.last = last
        with pytest.raises(DownloadCancelledError, match="framing included"):
            await client.get(server.url(), {"download_timeout": 60})
        assert server.sent < 1 << 29
