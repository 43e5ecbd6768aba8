"""Through proxies: what they are told, what is guarded, and whose fault a failure is."""

from __future__ import annotations

import asyncio
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
from scrapy.exceptions import DownloadFailedError

from crawler.errors import AddressRefusedError, ProxyError
from crawler.handlers.http import dialler
from crawler.handlers.http.connection import UNASKED_BYTES
from tests.integration.handlers.rawserver import OK, Client, RawServer, silent
from tests.integration.handlers.test_http import certified

SECRET = "Basic c2VjcmV0OnNlY3JldA=="
ESTABLISHED = b"HTTP/1.0 200 Connection established\r\n\r\n"


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    return certified(tmp_path)


async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, to: RawServer) -> None:
    """What a proxy does after CONNECT."""
    far_reader, far_writer = await asyncio.open_connection(*to.address.split(":"))
    writer.write(ESTABLISHED)

    async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65_536):
                sink.write(data)
        finally:
            sink.close()

    await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))


def via(proxy: RawServer) -> dict[str, Any]:
    return {"proxy": proxy.url()}


async def test_http_is_asked_for_by_its_whole_url() -> None:
    async with RawServer(OK) as proxy, Client() as client:
        for path in ("/a", "/b"):
            response = await client.get(
                f"http://shop.example{path}", via(proxy), headers={"Proxy-Authorization": SECRET}
            )
        assert response.body == b"ok"
        assert proxy.received[1].decode() == (
            f"GET http://shop.example/b HTTP/1.1\r\nHost: shop.example\r\nProxy-Authorization: {SECRET}\r\n\r\n"
        )
        assert proxy.connections == 1


@pytest.mark.parametrize("secured_proxy", [False, True])
async def test_https_goes_through_a_tunnel_that_is_kept(tls: ssl.SSLContext, secured_proxy: bool) -> None:
    far = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nfar"
    async with (
        RawServer(far, tls=tls) as target,
        RawServer(lambda r, w: tunnel(r, w, target), tls=tls if secured_proxy else None) as proxy,
        Client() as client,
    ):
        for _ in range(2):
            response = await client.get(target.url("/x"), via(proxy), headers={"Proxy-Authorization": SECRET})
        assert response.body == b"far"
        to = target.address
        assert [head.decode() for head in proxy.received] == [
            f"CONNECT {to} HTTP/1.1\r\nHost: {to}\r\nProxy-Authorization: {SECRET}\r\n\r\n"
        ]
        assert target.connections == 1
        assert SECRET.encode() not in b"".join(target.received)


async def test_sessions_of_two_users_never_share_a_connection() -> None:
    async with RawServer(OK) as proxy, Client() as client:
        for user in ("Basic YQ==", "Basic Yg==", "Basic YQ=="):
            await client.get("http://shop.example/", via(proxy), headers={"Proxy-Authorization": user})
        assert proxy.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 502 Bad Gateway\r\n\r\nhello",
        b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
        b"rubbish\r\n\r\n",
        ESTABLISHED + RawServer.CLOSE,
        RawServer.CLOSE,
    ],
)
async def test_a_tunnel_that_does_not_stand_is_the_proxys_fault(answer: bytes) -> None:
    async with RawServer(answer) as proxy, Client() as client:
        with pytest.raises(ProxyError) as raised:
            await client.get("https://shop.example/", via(proxy), headers={"Proxy-Authorization": SECRET})
        assert proxy.address in str(raised.value)
        assert "c2VjcmV0" not in str(raised.value)
        if answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")):
            assert f"answered CONNECT with status {answer[9:12].decode()}" in str(raised.value), "see proxies.faults"
        await proxy.closed()


@pytest.mark.parametrize("url", ["http://shop.example/", "https://shop.example/"])
async def test_a_proxy_that_is_not_there_is_named(url: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        async with Client() as client:
            for proxy in (f"http://127.0.0.1:{closed.getsockname()[1]}", "http://256.0.0.1:1"):
                with pytest.raises(ProxyError, match=proxy):
                    await client.get(url, {"proxy": proxy})


@pytest.mark.parametrize("answer", [silent, b"HTTP/1.1 200 OK\r\n\r\nrubbish"], ids=["to CONNECT", "of TLS"])
async def test_a_proxy_that_says_nothing_is_at_fault(answer: Any) -> None:
    async with RawServer(answer) as proxy, Client() as client:
        with pytest.raises(ProxyError, match=r"did not connect to shop\.example:443 within 0\.2 s"):
            await client.get("https://shop.example/", via(proxy) | {"download_timeout": 0.2})
        await proxy.closed()


def test_a_proxy_may_not_go_on_talking_before_its_tunnel_stands() -> None:
    """As one could over TLS, with records that hold nothing of a head."""
    answer = dialler._Answer()
    answer.wire_received(UNASKED_BYTES)
    with pytest.raises(DownloadFailedError, match="more than 262144 bytes"):
        answer.wire_received(UNASKED_BYTES + 1)


@pytest.mark.parametrize("length", [0, 10**12])
async def test_credentials_that_a_forwarding_proxy_refuses_are_its_matter(length: int) -> None:
    """However much it says to that: no page is too long because of it."""
    async with RawServer(b"HTTP/1.1 407 No\r\nContent-Length: %d\r\n\r\n" % length) as proxy, Client() as client:
        with pytest.raises(ProxyError, match="407"):
            await client.get("http://shop.example/", via(proxy))


async def test_a_certificate_behind_a_proxy_is_the_targets_matter(tls: ssl.SSLContext) -> None:
    async with (
        RawServer(OK, tls=tls) as target,
        RawServer(lambda r, w: tunnel(r, w, target)) as proxy,
        Client(DOWNLOAD_VERIFY_CERTIFICATES=True) as client,
    ):
        with pytest.raises(DownloadFailedError, match="certificate verify failed") as raised:
            await client.get(target.url(), via(proxy))
        assert not isinstance(raised.value, ProxyError)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("host", ["127.0.0.1", "0x7f.1", "2130706433", "169.254.169.254", "[::1]", "localhost"])
async def test_a_target_inside_is_refused_before_the_proxy_hears_of_it(host: str, scheme: str) -> None:
    async with RawServer(OK) as proxy, Client(GUARD_ALLOWED_NETWORKS="") as client:
        with pytest.raises(AddressRefusedError):
            await client.get(f"{scheme}://{host}/", via(proxy))
        assert proxy.connections == 0


async def test_names_are_left_to_the_proxy_where_workers_resolve_nothing() -> None:
    async with RawServer(OK) as proxy, Client(GUARD_ALLOWED_NETWORKS="", GUARD_RESOLVE_PROXIED=False) as client:
        assert (await client.get("http://localhost/", via(proxy))).body == b"ok"
        with pytest.raises(AddressRefusedError):
            await client.get("http://127.0.0.1/", via(proxy))
