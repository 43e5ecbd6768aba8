"""The browser's proxy by itself: whom it serves, what it dials, where it cuts off, and how it uses another proxy."""

from __future__ import annotations

import asyncio
import socket
from base64 import b64encode
from contextlib import suppress

import pytest

from crawler import stats as names
from crawler.errors import AddressRefusedError, ProxyError
from crawler.handlers.browser import egress_proxy
from crawler.handlers.browser.egress_proxy import NO_ANSWER, EgressProxy
from crawler.handlers.forwarding import ContextCredentials
from crawler.handlers.route import Proxy
from tests.integration.handlers.browsing import listening
from tests.sites import Page, Site


async def ask(
    proxy: EgressProxy, raw: str, shown: ContextCredentials | None = None, *, head_only: bool = False
) -> bytes:
    """What comes back for the request *raw*, to the end of the connection or of the head."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    credentials = f"Proxy-Authorization: {shown.header.decode()}\r\n" if shown else ""
    writer.write(f"{raw}\r\n{credentials}\r\n".encode())
    try:
        async with asyncio.timeout(60):
            return await (reader.readuntil(b"\r\n\r\n") if head_only else reader.read())
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def port(site: Site) -> str:
    return site.url("").rpartition(":")[2]


async def test_it_serves_nobody_without_a_pass() -> None:
    async with listening() as proxy:
        with Site({"/": Page()}) as site:
            wrong = ContextCredentials(None)
            revoked = proxy.admit()
            proxy.revoke(revoked)
            for shown in (None, wrong, revoked):
                answer = await ask(proxy, f"GET {site.url('/')} HTTP/1.1", shown)
                assert answer.startswith(b"HTTP/1.1 407 ")
                assert b"\r\nConnection: close\r\n" in answer

            assert not site.received


async def test_it_forwards_to_what_is_allowed_and_keeps_its_own_headers() -> None:
    async with listening() as proxy:
        with Site({"/a?b": Page("found")}) as site:
            raw = f"GET {site.url('/a?b')} HTTP/1.1\r\nHost: x\r\nX-Own: yes\r\nProxy-Connection: keep-alive"
            answer = await ask(proxy, raw, proxy.admit())

    assert answer.endswith(b"found")
    assert site.received[0].headers == {"Host": "x", "X-Own": "yes", "Connection": "close"}


async def test_a_connection_is_for_one_request_whatever_its_host_says() -> None:
    """The next one on it would reach the host with the credentials for the proxy."""
    came = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.extend(await reader.readexactly(len(f"POST / HTTP/1.1\r\n{length}\r\nConnection: close\r\n\r\nab")))
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n")
        came.extend(await reader.read())
        writer.close()

    length = "Content-Length: 2"
    host = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening() as proxy, host:
        url, shown = f"http://127.0.0.1:{host.sockets[0].getsockname()[1]}/", proxy.admit()
        login = f"Proxy-Authorization: {shown.header.decode()}"
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
        writer.write(f"POST {url} HTTP/1.1\r\n{length}\r\n{login}\r\n\r\nab".encode())
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"GET {url} HTTP/1.1\r\n{login}\r\n\r\n".encode())
        assert await reader.read() == b""
        writer.close()

    assert came.endswith(b"Connection: close\r\n\r\nab")


@pytest.mark.parametrize("target", ["http://127.0.0.2:{}/", "http://0177.0.0.2:{}/", "http://[::ffff:7f00:2]:{}/"])
async def test_it_dials_no_forbidden_address(target: str) -> None:
    async with listening() as proxy:
        with Site({}, host="127.0.0.2") as canary:
            url = target.format(port(canary))
            plain = await ask(proxy, f"GET {url} HTTP/1.1", proxy.admit())
            tunnel = await ask(proxy, f"CONNECT {url[7:-1]} HTTP/1.1", proxy.admit())

            assert not canary.received
        assert plain == NO_ANSWER
        assert tunnel.startswith(b"HTTP/1.1 502 ")
        assert proxy._stats.get_value(names.BROWSER_REFUSED) == 2


@pytest.mark.parametrize("raw", ["GET / HTTP/1.1", "GET ftp://127.0.0.1/ HTTP/1.1", "nonsense", "CONNECT :1 HTTP/1.1"])
async def test_what_it_does_not_understand_it_drops(raw: str) -> None:
    async with listening() as proxy:
        assert await ask(proxy, raw, proxy.admit()) == b""


async def test_it_cuts_off_what_brings_too_much() -> None:
    async with listening(received_bytes=10_000) as proxy:
        with Site({"/": Page("x" * 1_000_000)}) as site:
            assert len(await ask(proxy, f"GET {site.url('/')} HTTP/1.1", proxy.admit())) <= 10_000


async def test_it_cuts_off_what_is_idle() -> None:
    async with listening(idle_seconds=0.2) as proxy:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            number = silent.getsockname()[1]
            answer = await ask(proxy, f"CONNECT 127.0.0.1:{number} HTTP/1.1", proxy.admit())

    assert answer.startswith(b"HTTP/1.1 200 ")


async def test_it_goes_through_another_proxy_where_a_pass_says_so() -> None:
    async with listening() as ours, listening() as other:
        with Site({"/": Page("found")}) as site:
            shown = other.admit()
            address = int(other.url.rpartition(":")[2])
            through = ours.admit(Proxy("http", "127.0.0.1", address, shown.header))
            assert (await ask(ours, f"GET {site.url('/')} HTTP/1.1", through)).endswith(b"found")
            raw = f"CONNECT 127.0.0.1:{port(site)} HTTP/1.1"
            assert (await ask(ours, raw, through, head_only=True)).startswith(b"HTTP/1.1 200 ")

            wrong = ours.admit(Proxy("http", "127.0.0.1", address, b"Basic " + b64encode(b"a:b")))
            assert (await ask(ours, raw, wrong)).startswith(b"HTTP/1.1 502 ")
            failure = wrong.pop_failure(f"http://127.0.0.1:{port(site)}/")
            assert isinstance(failure, ProxyError)
            assert str(failure).endswith("answered CONNECT with status 407"), "by which proxies.faults knows it"


@pytest.mark.parametrize(
    "said", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 " + b"x" * 70_000], ids=["silent", "odd", "long"]
)
async def test_a_further_proxy_that_makes_no_sense_is_broken_and_hung_up_on(
    said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(egress_proxy, "HEAD_SECONDS", 0.2)
    hung_up = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        with suppress(OSError):
            await reader.read()
        hung_up.set()
        writer.close()

    other = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening() as ours, other:
        through = ours.admit(Proxy("http", "127.0.0.1", other.sockets[0].getsockname()[1]))
        answer = await ask(ours, "CONNECT 127.0.0.1:9 HTTP/1.1", through)
        async with asyncio.timeout(60):
            await hung_up.wait()

    assert answer.startswith(b"HTTP/1.1 502 ")
    failure = through.pop_failure("http://127.0.0.1:9/")
    assert isinstance(failure, ProxyError), "the request's failure is the proxy's, not the host's"
    assert not str(failure).endswith(": ")


async def test_another_proxy_is_no_way_to_a_forbidden_address() -> None:
    async with listening() as ours:
        through = ours.admit(Proxy("http", "127.0.0.1", 1))
        answer = await ask(ours, "CONNECT 169.254.169.254:80 HTTP/1.1", through)

        assert answer.startswith(b"HTTP/1.1 502 ")
        assert isinstance(through.pop_failure("http://169.254.169.254/"), AddressRefusedError)
        assert ours._stats.get_value(names.BROWSER_REFUSED) == 1


def test_no_secret_is_shown() -> None:
    shown = ContextCredentials(Proxy("http", "proxy.example", 8080, b"Basic c2VjcmV0"))
    assert shown.password not in repr(shown)
    assert "c2VjcmV0" not in repr(shown)
