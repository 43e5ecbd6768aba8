"""A new connection: resolve and check the name, dial an address, ask the proxy, start TLS."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from typing import Final

from scrapy.exceptions import DownloadFailedError

from crawler.errors import ProxyError
from crawler.handlers.connecting import blaming, in_scrapys_words, too_slow
from crawler.handlers.deadline import Deadline
from crawler.handlers.http.connection import UNASKED_BYTES, Connection
from crawler.handlers.http.head import ResponseHead
from crawler.handlers.http.receiver import HeadLimits, Receiver
from crawler.handlers.http.sessions import TLSSessions
from crawler.handlers.resolver import Resolver
from crawler.handlers.route import Bind, Proxy, Route

logger = logging.getLogger(__name__)

_LEAST_SECONDS: Final = 1.0  # for one address of several; the second SYN leaves then


class Dialler:
    """Dials only what *resolver* allows; raises Scrapy's download errors, ProxyError and AddressRefusedError.

    A connection that takes longer than *seconds*, with its proxy's and its handshakes, is given up; looking up a name
    has a time of its own. A name behind a proxy is resolved by the proxy. With *checks_proxied* our own resolver's
    result is checked here, otherwise only literal addresses.
    """

    def __init__(
        self,
        resolver: Resolver,
        tls: ssl.SSLContext,
        sessions: TLSSessions,
        limits: HeadLimits,
        *,
        seconds: float,
        checks_proxied: bool,
    ) -> None:
        self._resolver = resolver
        self._tls = tls
        self._sessions = sessions
        self._limits = limits
        self._seconds = seconds
        self._checks_proxied = checks_proxied

    async def dial(self, route: Route) -> Connection:
        """An open connection for requests to *route*. If the server breaks off a handshake that resumes a session, it
        is dialled again without one; if it hangs in it, the next time."""
        try:
            return await self._dial_resuming(route)
        except TimeoutError:
            self._sessions.forget(route)
            raise too_slow(route, self._seconds) from None

    async def _dial_resuming(self, route: Route) -> Connection:
        if (resumed := self._sessions.of(route, self._tls)) is None:
            return await self._dial(route, None)
        try:
            return await self._dial(route, resumed)
        except DownloadFailedError as error:
            self._sessions.forget(route)
            logger.debug("%s refused to resume its TLS session: %s", route.authority, error)
            return await self._dial(route, None)

    async def _dial(self, route: Route, resumed: ssl.SSLSession | None) -> Connection:
        """Raises TimeoutError if it takes too long."""
        addresses = await self._addresses(route)
        async with Deadline(self._seconds):
            if route.proxy is not None:
                return await self._dial_through(route.proxy, addresses, route, resumed)
            return await self._dial_directly(addresses, route, resumed)

    async def _addresses(self, route: Route) -> list[str]:
        """Those to dial: of the proxy, if there is one."""
        if route.proxy is None:
            with in_scrapys_words(route.authority):
                return await self._resolver.resolve(route.host)
        await self._resolver.check(route.host, resolving=self._checks_proxied)
        with blaming(route.proxy):
            return await self._resolver.resolve(route.proxy.host, trusted=True)

    async def _dial_directly(self, addresses: list[str], route: Route, resumed: ssl.SSLSession | None) -> Connection:
        with in_scrapys_words(route.authority):
            connection = await self._connect(addresses, route.port, route.bind)
            if route.scheme == "https":
                await self._secure(connection, route.host, resumed)
            return connection

    async def _dial_through(
        self, proxy: Proxy, addresses: list[str], route: Route, resumed: ssl.SSLSession | None
    ) -> Connection:
        with blaming(proxy):
            connection = await self._connect(addresses, proxy.port, route.bind)
            if proxy.scheme == "https":
                await self._secure(connection, proxy.host)
            if route.is_tunnel:
                await self._tunnel(connection, proxy, route)
        if route.is_tunnel:
            with in_scrapys_words(route.authority):
                try:
                    await self._secure(connection, route.host, resumed)
                except ConnectionError as error:
                    raise ProxyError(f"proxy {proxy} closed the tunnel to {route.authority}: {error}") from error
        return connection

    async def _connect(self, addresses: list[str], port: int, bind: Bind | None) -> Connection:
        """To the first that answers; each has its share of the time, or a dead one would hide the others."""
        *others, last = addresses
        share = max(self._seconds / len(addresses), _LEAST_SECONDS)
        for address in others:
            try:
                async with Deadline(share):
                    return await _open(address, port, bind)
            except OSError as error:
                logger.debug("Trying the next address, as %s port %d failed: %s", address, port, error)
        return await _open(last, port, bind)

    async def _secure(self, connection: Connection, host: str, resumed: ssl.SSLSession | None = None) -> None:
        try:
            connection.secure(self._tls, host.rstrip("."), resumed)
            await connection.done()
        except BaseException:
            connection.abort()
            raise

    async def _tunnel(self, connection: Connection, proxy: Proxy, route: Route) -> None:
        lines = [f"CONNECT {route.authority} HTTP/1.1", f"Host: {route.authority}"]
        head = "\r\n".join(lines).encode()
        if proxy.authorization is not None:
            head += b"\r\nProxy-Authorization: " + proxy.authorization
        connection.send(head + b"\r\n\r\n", Receiver("CONNECT", self._limits, _Answer()))
        await connection.done()


def check_agreed(head: ResponseHead) -> None:
    """Raise DownloadFailedError unless *head*, of a proxy's answer to CONNECT, opens the tunnel."""
    if not 200 <= head.status < 300:
        raise DownloadFailedError(f"answered CONNECT with status {head.status}")


class _Answer:
    """A proxy's response to CONNECT."""

    def head_received(self, head: ResponseHead, size: int | None) -> None:
        check_agreed(head)

    def wire_received(self, size: int) -> None:
        if size > UNASKED_BYTES:
            raise DownloadFailedError(f"answered CONNECT with more than {UNASKED_BYTES} bytes")

    def data_received(self, data: bytes) -> None:
        """There is no body."""


async def _open(address: str, port: int, bind: Bind | None) -> Connection:
    loop = asyncio.get_running_loop()
    try:
        _, connection = await loop.create_connection(Connection, address, port, local_addr=bind)
    except socket.gaierror as error:  # of *bind*: *address* is no name
        raise OSError(f"{bind and bind[0]!r} is no address to send from: {error.strerror}") from error
    return connection
