"""Connections that are kept: how many, how long, what is done with one that its server has closed; TLS sessions."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from scrapy.exceptions import DownloadTimeoutError

from crawler import stats as names
from crawler.errors import ProxyError
from crawler.handlers.http import pool, sessions
from crawler.handlers.http.connection import PLAIN_BYTES, TLS_BYTES
from crawler.handlers.http.errors import StaleConnectionError
from crawler.handlers.http.pool import MB
from crawler.handlers.route import Proxy, Route
from tests.crawling import Fleet, count, ended
from tests.integration.handlers.rawserver import OK, Client, RawServer
from tests.integration.handlers.test_http import certified
from tests.sites import LATE, came_at

CLOSE = RawServer.CLOSE
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 24\r\n\r\n<html><title>A</title>\n "


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    return certified(tmp_path)


def saying(seconds: str) -> bytes:
    return b"HTTP/1.1 200 OK\r\nKeep-Alive: %s\r\nContent-Length: 2\r\n\r\nok" % seconds.encode()


@pytest.mark.parametrize(
    ("said", "connections"),
    [
        ("timeout=1", 2),  # over by the time a request could get there
        ("timeout=0, max=100", 2),
        ("max=100, Timeout = 60", 1),
        ("timeout=999999999", 1),
        ("timeout=soon", 1),
        ("timeout=-1", 1),
        ("", 1),
    ],
)
async def test_a_connection_is_kept_no_longer_than_its_server_says(said: str, connections: int) -> None:
    async with RawServer(saying(said)) as server, Client() as client:
        for _ in range(2):
            await client.get(server.url())
        assert server.connections == connections


async def test_idle_connections_take_no_more_memory_than_they_may(
    tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "SESSIONS_SHARE", 8)
    most = (MB - MB // 8) // (PLAIN_BYTES + TLS_BYTES)
    async with RawServer(OK, tls=tls) as server, Client(CONNECTION_IDLE_MB=1) as client:
        for _ in range(2):
            await asyncio.gather(*(client.get(server.url()) for _ in range(most + 4)))
            await server.closed(but=most)
            assert server.open == most


async def test_a_connection_with_long_certificates_counts_as_what_it_takes(tmp_path: Path) -> None:
    """A server may send 95 KB of them: 2,300 such connections took 860 MB where 128 were allowed."""
    tls = certified(tmp_path, more=15, padding=6_000)
    async with RawServer(CLOSING, OK, tls=tls) as server, Client(CONNECTION_IDLE_MB=1) as client:
        await client.get(server.url())
        await asyncio.gather(*(client.get(server.url()) for _ in range(6)))
        await server.closed(but=2)
        assert server.open == 2, "of a megabyte less an eighth 350 KB each"
        assert client.stat(names.SESSIONS_RESUMED) == 0, "nor is its session kept, which is as long"


async def test_idle_connections_leave_half_of_the_files_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    limits, asked = [(6, 8)], list[tuple[int, int]]()
    monkeypatch.setattr("resource.getrlimit", lambda _: limits[0])
    monkeypatch.setattr("resource.setrlimit", lambda _, wanted: asked.append(wanted))
    async with RawServer(OK) as server, Client() as client:
        await asyncio.gather(*(client.get(server.url()) for _ in range(6)))
        await server.closed(but=4)
        assert server.open == 4
    assert asked == [(8, 8)], "as many as the system lets it"


async def test_the_handlers_of_a_crawl_share_what_they_keep() -> None:
    async with RawServer(OK) as server, Client(CONNECTION_IDLE_LIMIT=1) as client:
        await client.get(server.url())
        other = type(client.handler)(client.crawler)
        assert other._pool is client.handler._pool


async def test_a_connection_that_its_server_closed_while_the_loop_was_busy_is_not_used() -> None:
    closing = asyncio.Event()

    async def leaving(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        await writer.drain()
        await closing.wait()

    async with RawServer(leaving, OK) as server, Client() as client:
        await client.get(server.url())
        connection = next(iter(client.handler._pool._idle))
        connection._transport.pause_reading()  # so the loop cannot hear of it
        closing.set()
        await server.closed()
        assert connection.is_open
        assert connection.has_news
        assert (await client.get(server.url())).body == b"ok"
        assert (server.connections, client.stat(names.CONNECTIONS_STALE)) == (2, 0)


async def test_a_closed_one_says_so_and_takes_the_others_with_it() -> None:
    async with RawServer(OK, OK, OK, CLOSE, OK) as server, Client() as client:
        await asyncio.gather(*(client.get(server.url()) for _ in range(3)))
        with pytest.raises(StaleConnectionError, match="before anything came"):
            await client.get(server.url())
        await server.closed()
        assert (await client.get(server.url())).body == b"ok"
        assert (server.connections, len(server.received)) == (4, 5)
        assert client.stat(names.CONNECTIONS_STALE) == 1


@pytest.mark.parametrize(("answer", "method"), [(CLOSE, "POST"), (b"HTTP/1.1 200" + CLOSE, "GET")])
async def test_what_may_have_had_an_effect_or_an_answer_fails_as_ever(answer: bytes, method: str) -> None:
    async with RawServer(OK, answer) as server, Client() as client:
        await client.get(server.url())
        with pytest.raises(Exception, match="the connection ended") as raised:
            await client.get(server.url(), method=method)
        assert not isinstance(raised.value, StaleConnectionError)


async def test_an_answer_to_half_a_request_leaves_no_connection_for_the_next() -> None:
    """What is left of the first one would come before the second."""
    connections, answered = 0, asyncio.Event()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
        await writer.drain()
        await answered.wait()
        writer.close()

    async with Client(DOWNLOAD_TIMEOUT=60) as client:
        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with server:
            for _ in range(2):
                assert (await client.get(url, method="POST", body=bytes(32_000_000))).status == 413
            answered.set()
    assert connections == 2


async def test_a_new_connection_that_is_closed_at_once_is_a_failure_of_its_host() -> None:
    async with RawServer(CLOSE) as server, Client() as client:
        with pytest.raises(Exception, match="the connection ended") as raised:
            await client.get(server.url())
        assert not isinstance(raised.value, StaleConnectionError)


CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_session_goes_on_over_a_new_connection(tls: ssl.SSLContext, version: ssl.TLSVersion) -> None:
    tls.minimum_version = tls.maximum_version = version
    async with RawServer(CLOSING, tls=tls) as server, Client() as client:
        found = [await client.get(server.url()) for _ in range(3)]
        assert (server.connections, client.stat(names.SESSIONS_RESUMED)) == (3, 2)
    assert len({response.certificate for response in found}) == 1
    assert found[-1].certificate is not None
    assert "127.0.0.1" in x509.load_der_x509_certificate(found[-1].certificate).subject.rfc4514_string()


async def test_the_session_of_a_connection_that_had_to_go_is_kept(tls: ssl.SSLContext) -> None:
    async with (
        RawServer(OK, tls=tls) as one,
        RawServer(OK, tls=tls) as other,
        Client(CONNECTION_IDLE_LIMIT=1) as client,
    ):
        for server in (one, other, one, other):
            await client.get(server.url())
        assert (one.connections, other.connections) == (2, 2)
        assert client.stat(names.SESSIONS_RESUMED) == 2


async def test_a_session_is_not_shown_under_other_settings_of_tls(tls: ssl.SSLContext) -> None:
    async with RawServer(CLOSING, tls=tls) as server, Client() as client:
        await client.get(server.url())
        client.handler = type(client.handler)(client.crawler)  # with a context of its own
        assert (await client.get(server.url())).body == b"ok"
        assert client.stat(names.SESSIONS_RESUMED) == 0


async def test_sessions_are_of_one_route_and_as_many_as_there_is_room_for(
    tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "BYTES", MB // 8)  # room for one
    async with (
        RawServer(CLOSING, tls=tls) as one,
        RawServer(CLOSING, tls=tls) as other,
        Client(CONNECTION_IDLE_MB=1) as client,
    ):
        for server in (one, other, other, one):
            await client.get(server.url())
        assert client.stat(names.SESSIONS_RESUMED) == 1


async def test_a_server_that_cannot_resume_is_asked_for_a_new_session(
    tls: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RawServer(CLOSING, tls=tls) as server, Client() as client:
        await client.get(server.url())
        secure, broken = client.handler._dialler._secure, list[object]()

        async def breaking(connection: object, host: str, resumed: ssl.SSLSession | None = None) -> None:
            if resumed is not None:
                broken.append(resumed)
                raise ConnectionResetError("reset in the handshake")
            await secure(connection, host, resumed)

        monkeypatch.setattr(client.handler._dialler, "_secure", breaking)
        assert (await client.get(server.url())).body == b"ok"
        assert len(broken) == 1


async def test_a_server_that_hangs_as_a_session_is_resumed_is_not_asked_for_it_again(
    tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RawServer(CLOSING, tls=tls) as server, Client() as client:
        await client.get(server.url())
        secure, dialler = client.handler._dialler._secure, client.handler._dialler

        async def hanging(connection: object, host: str, resumed: ssl.SSLSession | None = None) -> None:
            await (secure(connection, host) if resumed is None else asyncio.Event().wait())

        monkeypatch.setattr(dialler, "_secure", hanging)
        monkeypatch.setattr(dialler, "_seconds", 0.2)
        with pytest.raises(DownloadTimeoutError, match="CONNECT_TIMEOUT_SECONDS"):
            await client.get(server.url())
        monkeypatch.setattr(dialler, "_seconds", 60)
        assert (await client.get(server.url())).body == b"ok"


async def test_a_proxy_that_hangs_as_a_session_is_resumed_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    dialled: list[object] = []

    async def hanging(route: Route, resumed: object) -> None:
        dialled.append(resumed)
        raise TimeoutError

    async with Client() as client:
        dialler = client.handler._dialler
        monkeypatch.setattr(dialler, "_dial", hanging)
        monkeypatch.setattr(dialler._sessions, "of", lambda *_: "a session")
        with pytest.raises(ProxyError, match="CONNECT_TIMEOUT_SECONDS"):
            await dialler.dial(Route("https", "a.example", 443, Proxy("http", "p.example", 8080)))
    assert dialled == ["a session"]


DELAY = 0.4


async def test_a_crawl_sends_what_a_closed_connection_swallowed_once_more_in_its_hosts_pace(fleet: Fleet) -> None:
    came: list[float] = []

    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(came_at(writer.get_extra_info("socket")))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(came_at(writer.get_extra_info("socket")))
        writer.write(PAGE)

    async with RawServer(PAGE, swallow, answer) as server:
        await fleet.push(server.url("/1"), server.url("/2"), cap=1, delay_ms=round(DELAY * 1000))
        worker = fleet.start(DOWNLOAD_DELAY=DELAY, CONCURRENT_REQUESTS_PER_DOMAIN=1, RETRY_ENABLED=False)
        status, log = await ended(worker)
    assert status == 0
    assert (await fleet.left()).states == {"done": 2}
    assert count(log, names.CONNECTIONS_STALE) == 1
    assert (count(log, "retry/count"), count(log, "frontier/nacked")) == (0, 0)
    assert [head.split()[1] for head in server.received] == [b"/1", b"/2", b"/2"]
    assert came[1] - came[0] > DELAY - LATE


async def test_a_page_that_closes_every_connection_fails_in_the_end(fleet: Fleet) -> None:
    async with RawServer(PAGE, CLOSE) as server:
        await fleet.push(server.url("/1"), server.url("/2"), cap=1, delay_ms=50)
        worker = fleet.start(DOWNLOAD_DELAY=0.05, CONCURRENT_REQUESTS_PER_DOMAIN=1, RETRY_TIMES=1)
        status, log = await ended(worker)
    assert status == 0
    assert (await fleet.left()).states == {"done": 1, "dead": 1}
    assert count(log, names.CONNECTIONS_STALE) == 1
    assert len(server.received) == 1 + 2 + 1, "a kept connection and a new one, and the retry"


async def test_a_server_that_is_less_patient_than_its_delay_costs_a_connection_and_nothing_else(fleet: Fleet) -> None:
    async def impatient(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(PAGE)

    async with RawServer(impatient) as server:
        urls = [server.url(f"/{number}") for number in range(3)]
        await fleet.push(*urls, cap=1, delay_ms=300)
        worker = fleet.start(DOWNLOAD_DELAY=0.3, CONCURRENT_REQUESTS_PER_DOMAIN=1, RETRY_ENABLED=False)
        status, log = await ended(worker)
    assert status == 0
    assert (await fleet.left()).states == {"done": 3}
    assert (len(server.received), server.connections, count(log, names.CONNECTIONS_STALE)) == (3, 3, 0)
