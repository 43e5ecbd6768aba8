"""The handler against a server that says what it likes: answers, errors, limits, signals, connections."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from scrapy import Request, signals
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
    UnsupportedURLSchemeError,
)
from scrapy.http import HtmlResponse, Response

from crawler import stats as names
from crawler.errors import AddressRefusedError
from crawler.handlers.http.connection import UNASKED_BYTES
from crawler.handlers.wire_turn import WireTurn
from crawler.meta import WIRE_TURN
from crawler.worker.turns.unsent import MissedError
from tests.integration.handlers.rawserver import OK, Client, RawServer, silent
from tests.integration.handlers.test_http import certified

CLOSE = RawServer.CLOSE


async def fetch(*answers: Any, path: str = "/", meta: dict[str, Any] | None = None, **settings: Any) -> Response:
    async with RawServer(*answers) as server, Client(**settings) as client:
        return await client.get(server.url(path), meta)


async def test_a_page_has_all_that_scrapy_says_of_one() -> None:
    head = b"HTTP/1.1 203 Fine\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 5\r\nX: 1\r\nx: 2\r\n\r\n"
    meta: dict[str, Any] = {}
    async with RawServer(head + b"h\xc3\xa9y!") as server, Client() as client:
        request = Request(server.url("/p?q#frag"), meta=meta)
        response = await client.handler.download_request(request)

        assert isinstance(response, HtmlResponse)
        assert (response.status, response.text, response.protocol) == (203, "héy!", "HTTP/1.1")
        assert response.headers.getlist("X") == [b"1", b"2"]
        assert response.url == server.url("/p?q")
        assert str(response.ip_address) == "127.0.0.1"
        assert (response.certificate, response.flags) == (None, [])
        assert 0 < request.meta["download_latency"] < 5
        assert server.received == [f"GET /p?q HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode()]


async def test_connections_are_kept_per_route_and_used_again() -> None:
    async with RawServer(OK) as server, RawServer(OK) as other, Client() as client:
        for _ in range(3):
            await client.get(server.url())
            await client.get(other.url())
        assert (server.connections, other.connections) == (1, 1)
        await asyncio.gather(*(client.get(server.url()) for _ in range(4)))
        assert server.connections == 4
        assert client.stat(names.CONNECTIONS) == 5
    await server.closed()


@pytest.mark.parametrize(
    ("answer", "method"),
    [
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", "GET"),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "GET"),
        (OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "GET"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "HEAD"),
        (b"HTTP/1.1 204 No Content\r\n\r\nevil", "GET"),
    ],
)
async def test_a_connection_that_may_hold_more_than_an_answer_is_not_used_again(answer: bytes, method: str) -> None:
    async with RawServer(answer, OK) as server, Client() as client:
        await client.get(server.url(), method=method)
        assert (await client.get(server.url())).body == b"ok"
        assert server.connections == 2


async def test_what_comes_between_two_requests_closes_the_connection() -> None:
    answered = asyncio.Event()

    async def talkative(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        await answered.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        await reader.read()

    async with RawServer(talkative, OK) as server, Client() as client:
        await client.get(server.url())
        answered.set()
        await server.closed()
        assert (await client.get(server.url())).body == b"ok"
        assert server.connections == 2


async def test_idle_connections_are_closed_after_their_time_and_beyond_their_number() -> None:
    async with RawServer(OK) as server, Client(CONNECTION_IDLE_SECONDS=60, CONNECTION_IDLE_LIMIT=2) as client:
        await asyncio.gather(*(client.get(server.url()) for _ in range(5)))
        await server.closed(but=2)
        await client.get(server.url())
        assert (server.open, server.connections) == (2, 5)
    async with RawServer(OK) as server, Client(CONNECTION_IDLE_SECONDS=0.1) as client:
        await client.get(server.url())
        await server.closed()
        assert (await client.get(server.url())).body == b"ok"
    async with RawServer(OK) as first, RawServer(OK) as later, Client(CONNECTION_IDLE_SECONDS=0.4) as client:
        await client.get(first.url())
        await asyncio.sleep(0.2)
        await client.get(later.url())  # not due yet when the first one is
        await first.closed()
        await later.closed()


async def test_a_request_that_a_closing_connection_swallowed_is_not_repeated() -> None:
    async with RawServer(OK, CLOSE, OK) as server, Client() as client:
        await client.get(server.url())
        with pytest.raises(DownloadFailedError, match="before anything came"):
            await client.get(server.url())
        assert len(server.received) == 2


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-", b"SSH-2.0-x\r\n\r\n"])
async def test_no_response_is_a_failed_download(answer: bytes) -> None:
    with pytest.raises(DownloadFailedError):
        await fetch(answer + CLOSE)


BROKEN = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
]


@pytest.mark.parametrize("answer", BROKEN)
async def test_a_torn_body_fails_or_is_flagged_as_scrapy_does(answer: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ResponseDataLossError):
        await fetch(answer + CLOSE)
    assert "DOWNLOAD_FAIL_ON_DATALOSS" in caplog.text

    for response in (
        await fetch(answer + CLOSE, meta={"download_fail_on_dataloss": False}),
        await fetch(answer + CLOSE, DOWNLOAD_FAIL_ON_DATALOSS=False),
    ):
        assert (response.body, response.flags) == (b"hello", ["dataloss"])


async def test_a_body_of_unknown_size_is_flagged_partial() -> None:
    response = await fetch(b"HTTP/1.1 200 OK\r\n\r\nhello" + CLOSE)

    assert (response.body, response.flags) == (b"hello", ["partial"])


async def test_a_connection_reset_in_a_body_of_unknown_size_is_a_loss() -> None:
    async def resetting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nhello")
        await asyncio.sleep(0.02)
        linger = b"\1\0\0\0\0\0\0\0"
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    with pytest.raises(ResponseDataLossError):
        await fetch(resetting)


async def test_a_redirect_and_an_error_page_are_responses() -> None:
    moved = await fetch(b"HTTP/1.1 301 Moved\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
    failed = await fetch(b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops")

    assert (moved.status, moved.headers["Location"], failed.status, failed.body) == (301, b"/b", 500, b"oops")


async def test_a_body_is_posted() -> None:
    async with RawServer(OK) as server, Client() as client:
        body = b"x" * 3_000_000
        await client.get(server.url("/form"), method="POST", body=body, headers={"X-Y": "z"})
        head, _, sent = server.received[0].partition(b"\r\n\r\n")
        assert head.split(b"\r\n")[0] == b"POST /form HTTP/1.1"
        assert b"X-Y: z" in head
        assert sent == body


async def test_a_gzipped_body_is_left_to_the_middleware() -> None:
    packed = gzip.compress(b"hello")
    response = await fetch(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed
    )
    assert response.body == packed


SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 100
UNSIZED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n" + b"x" * 100 + b"\r\n0\r\n\r\n"


@pytest.mark.parametrize(("answer", "words"), [(SIZED, "Expected to receive 100"), (UNSIZED, "Received 100")])
async def test_a_body_beyond_the_limit_is_cancelled(
    answer: bytes, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    for limit, meta in ((99, {}), (1_000, {"download_maxsize": 99})):
        async with RawServer(answer, OK) as server, Client(DOWNLOAD_MAXSIZE=limit) as client:
            with pytest.raises(DownloadCancelledError, match=words):
                await client.get(server.url(), meta)
            await server.closed()
    assert len((await fetch(answer, DOWNLOAD_MAXSIZE=100)).body) == 100
    assert len((await fetch(answer, DOWNLOAD_MAXSIZE=99, meta={"download_maxsize": 0})).body) == 100
    assert words in caplog.text


@pytest.mark.parametrize("answer", [SIZED, UNSIZED])
async def test_a_large_body_is_warned_of_once(answer: bytes, caplog: pytest.LogCaptureFixture) -> None:
    assert len((await fetch(answer, meta={"download_warnsize": 50})).body) == 100
    assert caplog.text.count("download warn size (50)") == 1


async def test_endless_headers_end() -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"X: " + b"y" * 1_000 + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0)  # a socket that has broken must be able to say so

    with pytest.raises(DownloadFailedError, match="DOWNLOAD_HEADERS_MAXSIZE"):
        await fetch(endless)


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LINE = b"x" * 998 + b"\r\n"
ENDLESS = {
    "a chunk's extension": (CHUNKED + b"5;x=", b"y" * 1_000),
    "extensions of chunks": (CHUNKED, b"1;" + b"y" * 1_000 + b"\r\nx\r\n"),
    "a chunk's size": (CHUNKED, b"0" * 1_000),
    "a trailer": (CHUNKED + b"1\r\nx\r\n0\r\nX: ", b"y" * 1_000),
    "trailers": (CHUNKED + b"1\r\nx\r\n0\r\n", b"X: " + LINE),
    "chunks": (CHUNKED, b"3e8\r\n" + b"y" * 1_000 + b"\r\n"),
    "interim responses": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "empty lines": (b"", b"\r\n" * 500),
    "a status line": (b"HTTP/1.1 200 ", b"y" * 1_000),
    "a header": (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 1_000),
    "a folded header": (b"HTTP/1.1 200 OK\r\nX: y\r\n", b" " + LINE),
    "a body": (b"HTTP/1.1 200 OK\r\n\r\n", b"y" * 1_000),
}


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize(("begin", "piece"), ENDLESS.values(), ids=ENDLESS.keys())
async def test_all_bytes_of_a_response_count(begin: bytes, piece: bytes, tls: bool, tmp_path: Path) -> None:
    """100,000 are allowed, and a bounded number around them; a server that goes on and on is cut off there."""
    written = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(begin)
        while written < 50_000_000:
            writer.write(piece * 20)
            await writer.drain()
            await asyncio.sleep(0)  # a socket that has broken must be able to say so
            written += 20 * len(piece)

    context = certified(tmp_path) if tls else None
    async with RawServer(endless, tls=context) as server, Client(DOWNLOAD_MAXSIZE=100_000) as client:
        with pytest.raises((DownloadCancelledError, DownloadFailedError, ResponseDataLossError)):
            await client.get(server.url())
        await server.closed()
    assert written < 20_000_000, "what the sockets hold, and no more"


async def test_chunks_of_one_byte_are_a_body_like_any_other() -> None:
    answer = CHUNKED + b"1;a=b\r\nx\r\n" * 5_000 + b"0\r\n\r\n"
    assert (await fetch(answer, DOWNLOAD_MAXSIZE=5_000)).body == b"x" * 5_000


async def test_a_connection_that_nobody_uses_may_not_go_on_talking(tmp_path: Path) -> None:
    """TLS has records without content for the reader: tickets for later sessions, of which OpenSSL takes any number."""
    async with RawServer(OK, tls=certified(tmp_path)) as server, Client() as client:
        await client.get(server.url())
        (connection,) = client.handler._pool._idle
        (layer,) = connection._layers
        layer.decrypt = lambda data: b""
        connection.data_received(b"x" * (UNASKED_BYTES - connection._unasked))
        assert connection.is_open
        connection.data_received(b"x")
        await server.closed()
        assert not client.handler._pool._idle


async def test_time_runs_out_wherever_the_server_stops() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    for answer in (silent, drip):
        async with RawServer(answer) as server, Client() as client:
            with pytest.raises(DownloadTimeoutError, match=r"took longer than 0\.2 seconds"):
                await client.get(server.url(), {"download_timeout": 0.2})
            await server.closed()


async def test_a_cancelled_download_closes_its_connection() -> None:
    async with RawServer(silent) as server, Client() as client:
        task = asyncio.ensure_future(client.get(server.url()))
        while not server.received:  # noqa: ASYNC110 - a test's own server
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.closed()


async def test_failures_to_connect_are_scrapys() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        async with Client() as client:
            with pytest.raises(DownloadConnectionRefusedError):
                await client.get(f"http://127.0.0.1:{port}/")
            with pytest.raises(CannotResolveHostError):
                await client.get("http://256.1.1.1/")
            with pytest.raises(UnsupportedURLSchemeError):
                await client.get("ftp://127.0.0.1/")


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    return certified(tmp_path)


async def test_tls_carries_large_bodies_both_ways_on_one_connection(tls: ssl.SSLContext) -> None:
    body = bytes(range(256)) * 4_000
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    async with RawServer(answer, tls=tls) as server, Client() as client:
        for _ in range(2):
            response = await client.get(server.url(), method="POST", body=body)
            assert response.body == body
        assert server.received[1].partition(b"\r\n\r\n")[2] == body
        assert server.connections == 1
        assert isinstance(response.certificate, bytes)
        assert "127.0.0.1" in x509.load_der_x509_certificate(response.certificate).subject.rfc4514_string()


async def test_a_body_over_tls_may_end_with_the_connection(tls: ssl.SSLContext) -> None:
    async with RawServer(b"HTTP/1.1 200 OK\r\n\r\nhello" + CLOSE, tls=tls) as server, Client() as client:
        response = await client.get(server.url())
    assert (response.body, response.flags) == (b"hello", ["partial"])


class BreakingOff(RawServer):
    """Says its answer over TLS and, in the same breath, a record that nobody can decrypt."""

    def __init__(self, answer: bytes, tls: ssl.SSLContext) -> None:
        super().__init__(answer)
        self._context = tls

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = self._context.wrap_bio(incoming, outgoing, server_side=True)
        for step in (session.do_handshake, session.read):
            while True:
                try:
                    step()
                    break
                except ssl.SSLWantReadError:
                    writer.write(outgoing.read())
                    incoming.write(await reader.read(65_536))
        assert isinstance(self.answers[0], bytes)
        if self.answers[0]:
            session.write(self.answers[0])
        writer.write(outgoing.read() + b"\x17\x03\x03\x00\x20" + b"x" * 32)
        await reader.read()
        return False

    def url(self, path: str = "/") -> str:
        return f"https://{self.address}{path}"


async def test_what_came_before_a_session_broke_has_come(tls: ssl.SSLContext) -> None:
    async with BreakingOff(OK, tls) as server, Client() as client:
        for _ in range(2):
            assert (await client.get(server.url())).body == b"ok"
            await server.closed()
        assert server.connections == 2, "none is used again"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", DownloadFailedError),
        (b"HTTP/1.1 200 OK\r\nContent-", DownloadFailedError),
        (BROKEN[0], ResponseDataLossError),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", ResponseDataLossError),
    ],
)
async def test_a_session_that_breaks_in_an_answer_fails_as_a_connection_does(
    tls: ssl.SSLContext, answer: bytes, error: type[Exception]
) -> None:
    async with BreakingOff(answer, tls) as server, Client() as client:
        with pytest.raises(error, match="bad record mac"):
            await client.get(server.url())
        await server.closed()


async def test_a_certificate_that_nobody_vouches_for_is_refused_by_default(tls: ssl.SSLContext) -> None:
    async with RawServer(OK, tls=tls) as server, Client(DOWNLOAD_VERIFY_CERTIFICATES=True) as client:
        with pytest.raises(DownloadFailedError, match="certificate verify failed"):
            await client.get(server.url())
        assert server.received == []


async def test_a_server_without_tls_fails_the_handshake() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(1)

    async with RawServer(plain) as server, Client() as client:
        with pytest.raises((DownloadFailedError, DownloadTimeoutError)):
            await client.get(server.url().replace("http:", "https:"), {"download_timeout": 0.5})


@pytest.mark.parametrize("fail", [True, False])
@pytest.mark.parametrize("signal", ["headers_received", "bytes_received"])
async def test_a_receiver_of_a_signal_may_stop_the_download(signal: str, fail: bool) -> None:
    def stop(**_: Any) -> None:
        raise StopDownload(fail=fail)

    async with RawServer(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello") as server, Client() as client:
        client.crawler.signals.connect(stop, getattr(signals, signal), weak=False)
        if fail:
            with pytest.raises(StopDownload) as raised:
                await client.get(server.url())
            response = raised.value.response
        else:
            response = await client.get(server.url())
        await server.closed()
    assert response is not None
    assert (response.status, response.flags) == (200, ["download_stopped"])
    assert response.body == (b"" if signal == "headers_received" else b"hello")


async def test_signals_say_what_came() -> None:
    heard: list[Any] = []

    def head(headers: Any, body_length: int | None, request: Request, spider: Any) -> None:
        heard.append((headers["Content-Length"], body_length))

    def data(data: bytes, request: Request, spider: Any) -> None:
        heard.append(data)

    async with RawServer(OK) as server, Client() as client:
        client.crawler.signals.connect(head, signals.headers_received, weak=False)
        client.crawler.signals.connect(data, signals.bytes_received, weak=False)
        await client.get(server.url())
    assert heard == [(b"2", 2), b"ok"]


async def test_a_request_that_may_not_leave_leaves_its_connection_for_the_next() -> None:
    calls: list[str] = []
    late = WireTurn(lambda: False, lambda: calls.append("sent"))
    in_time = WireTurn(lambda: True, lambda: calls.append("sent"))
    async with RawServer(OK) as server, Client() as client:
        with pytest.raises(MissedError):
            await client.get(server.url("/late"), {WIRE_TURN: late})
        await client.get(server.url("/in-time"), {WIRE_TURN: in_time})
        assert calls == ["sent"]
        assert [head.split()[1] for head in server.received] == [b"/in-time"]
        assert server.connections == 1


async def test_a_host_inside_is_refused_where_it_is_dialled() -> None:
    async with RawServer(OK) as server, Client(GUARD_ALLOWED_NETWORKS="") as client:
        for host in ("127.0.0.1", "localhost", "0x7f.1", "2130706433"):
            with pytest.raises(AddressRefusedError, match="loopback"):
                await client.get(server.url().replace("127.0.0.1", host))
        assert server.connections == 0
        assert client.stat(names.ADDRESSES_REFUSED) == 4


async def test_a_request_may_leave_from_an_address_of_its_own() -> None:
    peers: list[str] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peers.append(writer.get_extra_info("peername")[0])
        writer.write(OK)

    for settings, meta in (({"DOWNLOAD_BIND_ADDRESS": "127.0.0.7"}, {}), ({}, {"bindaddress": ("127.0.0.8", 0)})):
        await fetch(note, meta=meta, **settings)
    await fetch(note, DOWNLOAD_BIND_ADDRESS="")
    assert peers == ["127.0.0.7", "127.0.0.8", "127.0.0.1"]


async def test_a_name_to_send_from_that_is_no_address_is_told_from_the_hosts() -> None:
    with pytest.raises(DownloadFailedError, match=r"no connection to .+: 'none.invalid' is no address to send from: "):
        await fetch(OK, meta={"bindaddress": "none.invalid"})
