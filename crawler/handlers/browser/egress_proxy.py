"""The forward proxy on loopback that is Chromium's only way out: it dials only what the guard allows.

A page decides what its browser requests: sub-resources, redirects, fetch(), WebSockets, iframes. None of that passes
through the crawler, so the dialled address is checked here; names are resolved once, by us (DNS rebinding). Known
weakness: behind an upstream proxy, a name that we cannot resolve is resolved there without a check.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from scrapy.exceptions import CannotResolveHostError, DownloadFailedError
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.errors import AddressRefusedError, ProxyError
from crawler.handlers.connecting import FAILURES, blaming, in_scrapys_words
from crawler.handlers.forwarding import ContextCredentials, ProxyRequestHead
from crawler.handlers.http.dialler import check_agreed
from crawler.handlers.http.head import ResponseHead
from crawler.handlers.resolver import Resolver
from crawler.handlers.route import Proxy
from crawler.utils import tasks

HEAD_BYTES: Final = 65_536  # of a request, and of an upstream proxy's response
HEAD_LINES: Final = 1_000
HEAD_SECONDS: Final = 15.0
CONNECT_SECONDS: Final = 15.0
CHUNK_BYTES: Final = 65_536
LOGIN_WANTED: Final = (
    b"HTTP/1.1 407 Proxy Authentication Required\r\n"
    b'Proxy-Authenticate: Basic realm="crawler"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'
)
BAD_GATEWAY: Final = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
# For a host that does not answer: closed without a byte, Chromium would ask it again at once. No page can take this for
# the host's own.
NO_ANSWER: Final = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"
UNREACHED: Final = (AddressRefusedError, ProxyError, *FAILURES)

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TunnelLimits:
    """Limits per connection."""

    received_bytes: int
    idle_seconds: float
    resolves_proxied: bool = True  # GUARD_RESOLVE_PROXIED


class EgressProxy:
    """Listens between `start` and `close`; serves clients that present a Pass."""

    def __init__(self, resolver: Resolver, limits: TunnelLimits, stats: StatsCollector) -> None:
        self._resolver = resolver
        self._limits = limits
        self._stats = stats
        self._passes: dict[bytes, ContextCredentials] = {}
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen on a port of the system's choice."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=HEAD_BYTES)

    @property
    def url(self) -> str:
        """The URL that Chromium gets as its proxy."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def admit(self, upstream: Proxy | None = None) -> ContextCredentials:
        """A new pass, whose connections go through *upstream*."""
        admitted = ContextCredentials(upstream)
        self._passes[admitted.header] = admitted
        return admitted

    def revoke(self, one: ContextCredentials) -> None:
        """Stop serving *one*."""
        self._passes.pop(one.header, None)

    async def close(self) -> None:
        """Stop listening and cut open connections."""
        if self._server is not None:
            self._server.close()
        await tasks.end(*self._connections)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if (asked := await self._admitted(reader, writer)) is not None:
                await self._forward(*asked, (reader, writer))
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:  # TimeoutError is an OSError
            logger.debug("A browser's connection ended: %s", error)
        finally:
            await _closed(writer)

    async def _admitted(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[ProxyRequestHead, ContextCredentials] | None:
        async with asyncio.timeout(HEAD_SECONDS):
            head = ProxyRequestHead.parse(await reader.readuntil(b"\r\n\r\n"))
        shown = self._passes.get(head.header(b"proxy-authorization"))
        if shown is None:  # on a connection that was kept, Chromium would ask a host again that hangs up on it
            writer.write(LOGIN_WANTED)
            return None
        return head, shown

    async def _forward(self, head: ProxyRequestHead, shown: ContextCredentials, client: Streams) -> None:
        host, port = head.address()
        try:
            upstream = await self._dial(head, host, port, shown)
        except UNREACHED as error:
            shown.failed(host, port, error)
            self._tell(error, host, shown)
            client[1].write(BAD_GATEWAY if head.method == b"CONNECT" else NO_ANSWER)
            return
        silent = None if head.method == b"CONNECT" else partial(_note_silence, host, port, shown)
        try:
            if silent is None:
                client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                upstream[1].write(head.forwarded(shown.upstream))
                shown.wrote(host, port)
            await self._relay(client, upstream, head.body_bytes, partial(shown.wrote, host, port), silent)
        finally:
            await _closed(upstream[1])

    def _tell(self, error: Exception, host: str, shown: ContextCredentials) -> None:
        if not isinstance(error, AddressRefusedError):
            logger.debug("%s was not reached for the browser: %s", host, error)
            return
        self._stats.inc_value(names.BROWSER_REFUSED)
        if shown.is_new(host):  # logged once, however often the page tries
            logger.warning("Refused a request of a page in the browser: %s", error)

    async def _dial(self, head: ProxyRequestHead, host: str, port: int, shown: ContextCredentials) -> Streams:
        if shown.upstream is None:
            return await self._connect(await self._resolver.resolve(host), port)
        await self._resolver.check(host, resolving=self._limits.resolves_proxied)
        proxy = shown.upstream
        with blaming(proxy):
            streams = await self._connect(await self._resolver.resolve(proxy.host, trusted=True), proxy.port)
            if head.method == b"CONNECT":
                await _tunnel(streams, head.target, proxy.authorization)
        return streams

    async def _connect(self, addresses: list[str], port: int) -> Streams:
        failure: Exception = CannotResolveHostError("no address")
        for address in addresses:
            try:
                with in_scrapys_words(f"{address}:{port}"):
                    async with asyncio.timeout(CONNECT_SECONDS):
                        return await asyncio.open_connection(address, port, limit=HEAD_BYTES)
            except FAILURES as error:
                failure = error
        raise failure

    async def _relay(
        self,
        client: Streams,
        upstream: Streams,
        sent: float,
        wrote: Callable[[], None],
        silent: Callable[[], bytes] | None,
    ) -> None:
        """Relay both ways until both are done; cut an idle connection, or one that brought too much: more than *sent*
        bytes for the host would be another request, with our credentials."""
        loop, idle = asyncio.get_running_loop(), self._limits.idle_seconds
        async with asyncio.timeout(idle) as deadline:

            async def pump(
                chunks: AsyncIterator[bytes], writer: asyncio.StreamWriter, most: float, told: Callable[[], None]
            ) -> None:
                async for data in chunks:
                    if (most := most - len(data)) < 0:
                        raise OSError("more bytes than this connection may bring")
                    writer.write(data)
                    told()
                    await writer.drain()
                    deadline.reschedule(loop.time() + idle)
                if writer.can_write_eof():
                    writer.write_eof()

            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(pump(_chunks(client[0]), upstream[1], sent, wrote))
                    answer = _chunks(upstream[0], silent)
                    both.create_task(pump(answer, client[1], self._limits.received_bytes, lambda: None))
            except BaseExceptionGroup as group:
                raise group.exceptions[0] from None


async def _chunks(reader: asyncio.StreamReader, silent: Callable[[], bytes] | None = None) -> AsyncIterator[bytes]:
    """What *reader* brings; what *silent* returns if that ends, or breaks off, without a byte."""
    try:
        while data := await reader.read(CHUNK_BYTES):
            silent = None
            yield data
    except ConnectionError:
        if silent is None:
            raise
    if silent is not None:
        yield silent()


def _note_silence(host: str, port: int, shown: ContextCredentials) -> bytes:
    shown.failed(host, port, DownloadFailedError(f"{host}:{port} closed the connection without an answer"))
    return NO_ANSWER


async def _tunnel(streams: Streams, authority: str, authorization: bytes | None) -> None:
    lines = [f"CONNECT {authority} HTTP/1.1".encode(), f"Host: {authority}".encode()]
    lines += [b"Proxy-Authorization: " + authorization] if authorization else []
    streams[1].write(b"\r\n".join((*lines, b"", b"")))
    try:
        async with asyncio.timeout(HEAD_SECONDS):
            check_agreed(ResponseHead.parse(await streams[0].readuntil(b"\r\n\r\n"), HEAD_LINES))
    except BaseException:
        await _closed(streams[1])
        raise


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
