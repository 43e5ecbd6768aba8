"""Domains with a TLS profile: the handshake is a browser's, the guard and the pace are ours."""

from __future__ import annotations

import asyncio
import ssl
import sys
from ipaddress import ip_address
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.http import Response

from crawler.errors import AddressRefusedError, ConfigError, ProxyError
from crawler.handlers.http.handler import HttpDownloadHandler
from crawler.handlers.impersonation.profiles import TlsProfiles
from crawler.handlers.wire_turn import WireTurn
from crawler.meta import WIRE_TURN
from crawler.worker.turns.unsent import MissedError
from tests.crawling import Fleet, ended
from tests.integration.handlers.rawserver import OK, Client, RawServer
from tests.integration.handlers.test_http import certified
from tests.proxies import BadProxy
from tests.sites import LATE, Page, Site

AsyncSession = pytest.importorskip("curl_cffi", reason="the extra `tls` is not installed").AsyncSession


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    return certified(tmp_path)


@pytest.fixture
def domains(tmp_path: Path) -> str:
    path = tmp_path / "domains.toml"
    path.write_text('[default]\ntls_profile = "chrome"\n["plain.test"]\ntls_profile = "none"\n')
    return str(path)


def client(domains: str, **changed: Any) -> Client:
    return Client(TlsProfiles, DOMAINS_FILE=domains, **changed)


def named(client: Client, server: RawServer, path: str = "/") -> str:
    """An address of *server* that only the client's resolver knows, as curl must not ask anybody else."""

    async def lookup(host: str) -> Any:
        assert host.rstrip(".") == "shop.test"
        return [ip_address("127.0.0.1")]

    client.handler._resolver._lookup = lookup
    return server.url(path).replace("127.0.0.1", "shop.test")


async def test_curl_dials_what_the_guard_let_through_and_tells_when_it_wrote(domains: str, tls: ssl.SSLContext) -> None:
    order: list[str] = []

    def allowed() -> bool:
        order.append("allowed")
        return True

    def sent(ago: float) -> None:
        assert 0 <= ago < 5
        order.append("sent")

    wire_turn = WireTurn(allowed, sent, lambda: order.append("leaving"))
    async with RawServer(OK, tls=tls) as server, client(domains) as browser:
        response = await browser.get(named(browser, server), {WIRE_TURN: wire_turn})
        assert (response.status, response.body) == (200, b"ok")
        assert order == ["allowed", "leaving", "sent"]
        await browser.get(named(browser, server).replace(".test", ".test."))
        assert server.connections == 2, "a kept connection is one on which curl repeats requests by itself"


async def test_a_request_was_not_written_before_curl_began(
    domains: str, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[float] = []
    request = AsyncSession.request

    async def late(*args: Any, **named: Any) -> Any:
        await asyncio.sleep(0.1)
        began.append(monotonic())
        return await request(*args, **named)

    monkeypatch.setattr(AsyncSession, "request", late)
    written: list[float] = []
    wire_turn = WireTurn(lambda: True, lambda ago: written.append(monotonic() - ago))
    async with RawServer(OK, tls=tls) as server, client(domains) as browser:
        await browser.get(named(browser, server), {WIRE_TURN: wire_turn})
    assert [at >= start for at, start in zip(written, began, strict=True)] == [True]


async def test_a_refused_address_is_never_dialled(domains: str, tls: ssl.SSLContext) -> None:
    async with RawServer(OK, tls=tls) as server, client(domains, GUARD_ALLOWED_NETWORKS="") as browser:
        for url in (server.url(), named(browser, server)):
            with pytest.raises(AddressRefusedError):
                await browser.get(url)
        with pytest.raises(AddressRefusedError):
            await browser.get(server.url(), {"proxy": "http://127.0.0.1:1"})
        assert server.connections == 0


async def test_a_proxy_of_the_environment_is_scrapys_business(
    domains: str, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with RawServer(OK, tls=tls) as server, client(domains) as browser:
        response = await browser.get(named(browser, server), {"proxy": None})
    assert response.body == b"ok"


async def test_a_request_that_may_not_leave_does_not(domains: str, tls: ssl.SSLContext) -> None:
    async with RawServer(OK, tls=tls) as server, client(domains) as browser:
        with pytest.raises(MissedError):
            await browser.get(server.url(), {WIRE_TURN: WireTurn(lambda: False, lambda: None)})
        assert server.connections == 0


async def test_redirects_and_cookies_are_left_to_scrapy(domains: str, tls: ssl.SSLContext) -> None:
    moved = b"HTTP/1.1 302 Found\r\nLocation: /b\r\nSet-Cookie: a=1\r\nContent-Length: 0\r\n\r\n"
    async with RawServer(moved, OK, tls=tls) as server, client(domains) as browser:
        response: Response = await browser.get(server.url("/a"))
        assert response.status == 302
        assert len(server.received) == 1
        await browser.get(server.url("/c"))
        assert b"cookie" not in server.received[1].lower()


async def hello(handler: type[Any], domains: str) -> bytes:
    """What a server sees first of a TLS connection."""
    seen: asyncio.Queue[bytes] = asyncio.Queue()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await seen.put(await reader.read(4_096))
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Client(handler, DOMAINS_FILE=domains) as client:
        with pytest.raises(DownloadFailedError if handler is HttpDownloadHandler else Exception):
            await client.get(f"https://127.0.0.1:{port}/")
        return await seen.get()


async def test_the_handshake_is_a_browsers(domains: str) -> None:
    ours, browsers = await hello(HttpDownloadHandler, domains), await hello(TlsProfiles, domains)
    assert b"\x02h2\x08http/1.1" in browsers, "Chrome offers HTTP/2"
    assert b"\x02h2" not in ours


async def test_what_fails_on_the_way_through_a_proxy_is_a_proxy_error(domains: str) -> None:
    with BadProxy(407) as proxy:
        async with client(domains) as browser:
            with pytest.raises(ProxyError, match="407"):
                await browser.get("https://127.0.0.1:1/", {"proxy": proxy.url})


async def test_a_server_that_drips_has_no_more_time_than_others(domains: str, tls: ssl.SSLContext) -> None:
    """curl would wait as long as anything comes at all."""

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in (b"HTTP/1.1 200 OK\r\n\r\n", *[b"."] * 1_000):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.05)

    async with RawServer(drip, tls=tls) as server, client(domains) as browser:
        with pytest.raises(DownloadTimeoutError, match=r"took longer than 0\.7 seconds"):
            await browser.get(server.url(), {"download_timeout": 0.7})
        await server.closed()


async def test_only_https_of_domains_that_ask_for_it(domains: str) -> None:
    from scrapy import Request

    async with client(domains) as browser:
        of = browser.handler.of
        assert of(Request("https://shop.test/")) is browser.handler
        assert of(Request("http://shop.test/")) is of(Request("https://plain.test/")) is None


def test_without_the_extra_a_domain_that_asks_for_it_stops_the_start(
    domains: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "crawler.handlers.impersonation.handler", raising=False)
    monkeypatch.setitem(sys.modules, "curl_cffi.const", None)  # as if it were not there
    with pytest.raises(ConfigError, match="tls_profile = 'chrome' is invalid: expected no profile, or the extra"):
        client(domains)


async def test_a_worker_crawls_a_site_that_way(fleet: Fleet, domains: str, tls: ssl.SSLContext) -> None:
    with Site({"/1": Page(), "/2": Page()}, tls=tls) as site:
        await fleet.push(*map(site.url, site.pages), delay_ms=300, cap=1)
        worker = fleet.start(DOMAINS_FILE=domains, DOWNLOAD_VERIFY_CERTIFICATES=False, DOWNLOAD_DELAY=0.3)
        status, log = await ended(worker)
        left = await fleet.left()
    assert status == 0, log
    assert left.states == {"done": 2}
    assert min(site.gaps) >= 0.3 - LATE


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"
ENDLESS = {
    "extensions of chunks": (CHUNKED, b"1;" + b"y" * 1_000 + b"\r\nx\r\n"),
    "an extension": (CHUNKED + b"5;x=", b"y" * 60_000),
    "trailers": (CHUNKED + b"0\r\n", b"X: " + b"y" * 1_000 + b"\r\n"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X: " + b"y" * 1_000 + b"\r\n"),
    "interim responses": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 50),
}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a connection has brought")
@pytest.mark.parametrize(("begin", "piece"), ENDLESS.values(), ids=ENDLESS)
async def test_all_bytes_count(domains: str, tls: ssl.SSLContext, begin: bytes, piece: bytes) -> None:
    """curl counts the bytes of the body only."""
    sent = 0

    async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(begin)
        while sent < 1 << 30:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)  # a socket that has broken must be able to say so
            sent += len(piece)

    async with RawServer(endless, tls=tls) as server, client(domains, DOWNLOAD_MAXSIZE=1_000_000) as browser:
        with pytest.raises((DownloadCancelledError, DownloadFailedError, DownloadConnectionRefusedError)):
            await browser.get(named(browser, server))
        assert sent < 1 << 29
        await server.closed()


@pytest.mark.parametrize("length", [b"2, 2", b"two"])
async def test_a_head_that_makes_no_sense_is_a_failed_download(
    domains: str, tls: ssl.SSLContext, length: bytes
) -> None:
    """curl leaves it as it is where the body's end is known otherwise; who reads it may not."""
    answer = CHUNKED + b"0\r\nContent-Length: " + length + b"\r\n\r\n"
    async with RawServer(answer, tls=tls) as server, client(domains) as browser:
        with pytest.raises(DownloadFailedError, match="invalid literal"):
            await browser.get(named(browser, server))


async def test_a_body_within_its_limit_is_whole(domains: str, tls: ssl.SSLContext) -> None:
    """Though it takes longer than a look at what has come."""

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n")
        for _ in range(9):
            writer.write(b"x" * 100_000)
            await writer.drain()
            await asyncio.sleep(0.05)

    async with RawServer(slow, tls=tls) as server, client(domains, DOWNLOAD_MAXSIZE=1_000_000) as browser:
        response = await browser.get(named(browser, server))
        assert len(response.body) == 900_000
