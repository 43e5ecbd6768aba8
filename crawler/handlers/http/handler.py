"""The HTTP handler: one asyncio connection per exchange, kept alive, with the guard where it dials.

It sends only what the frontier has paced, reports when it sent, and never resends a request by itself: one lost on a
closing connection fails like any other and gets its next turn.
"""

from __future__ import annotations

import logging
import ssl
from dataclasses import dataclass
from typing import Final, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadTimeoutError,
    NotConfigured,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils._download_handlers import get_dataloss_msg, normalize_bind_address
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.ssl import _log_sslobj_debug_info, _make_ssl_context

from crawler import config
from crawler import stats as names
from crawler.errors import AddressRefusedError, ConfigError, ProxyError
from crawler.handlers.connecting import connect_seconds
from crawler.handlers.deadline import Deadline
from crawler.handlers.http.connection import Connection
from crawler.handlers.http.dialler import Dialler
from crawler.handlers.http.download import Download, DownloadLimits
from crawler.handlers.http.errors import IncompleteError, SilentError, StaleConnectionError
from crawler.handlers.http.pool import ConnectionPool, PoolConfig
from crawler.handlers.http.receiver import HeadLimits, Receiver
from crawler.handlers.resolver import Resolver
from crawler.handlers.route import Route, route, serialize
from crawler.handlers.wire_turn import WireTurn
from crawler.worker.turns.unsent import MissedError

logger = logging.getLogger(__name__)

TLS_SETTINGS: Final = ("DOWNLOAD_TLS_MIN_VERSION", "DOWNLOAD_TLS_MAX_VERSION", "DOWNLOADER_CLIENT_TLS_CIPHERS")
_SAFE: Final = frozenset({"GET", "HEAD"})  # safe to send twice


@dataclass(frozen=True, slots=True)
class HttpConfig:
    """The handler's settings, under Scrapy's names where those exist."""

    timeout: float  # seconds
    connect_seconds: float
    body: DownloadLimits
    head: HeadLimits
    fail_on_dataloss: bool
    pool: PoolConfig
    checks_proxied: bool

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError."""
        return cls(
            timeout=config.number(settings, "DOWNLOAD_TIMEOUT"),
            connect_seconds=connect_seconds(settings),
            body=DownloadLimits.from_settings(settings),
            head=HeadLimits(
                config.integer(settings, "DOWNLOAD_HEADERS_MAXSIZE"),
                config.integer(settings, "DOWNLOAD_HEADERS_MAXCOUNT"),
            ),
            fail_on_dataloss=config.boolean(settings, "DOWNLOAD_FAIL_ON_DATALOSS"),
            pool=PoolConfig.from_settings(settings),
            checks_proxied=config.boolean(settings, "GUARD_RESOLVE_PROXIED"),
        )


def tls_context(settings: BaseSettings) -> ssl.SSLContext:
    """As the settings want it; raises ConfigError for versions or ciphers that OpenSSL does not have."""
    try:
        return _make_ssl_context(settings)
    except (ssl.SSLError, TypeError, ValueError) as error:
        set_ = {name: settings[name] for name in TLS_SETTINGS if settings.getpriority(name)}
        raise ConfigError(
            ", ".join(set_), [*set_.values()], f"TLSv1.2 or TLSv1.3, and OpenSSL's ciphers ({error})"
        ) from None


class HttpDownloadHandler:
    """HTTP/1.1 for http and https, also through http and https proxies.

    Calls `meta["wire_turn"]` right before and right after the request is written, on an established connection, TLS
    included; raises MissedError if it may no longer be sent. Otherwise raises Scrapy's download errors, ProxyError if a
    proxy is at fault, and AddressRefusedError from the guard.
    """

    lazy = True
    guards_addresses = True

    def __init__(self, crawler: Crawler) -> None:
        if not is_asyncio_available():
            raise NotConfigured(f"{type(self).__name__} needs the asyncio reactor (TWISTED_REACTOR)")
        settings = crawler.settings
        self._crawler = crawler
        self._config = HttpConfig.from_settings(settings)
        self._bind = normalize_bind_address(settings["DOWNLOAD_BIND_ADDRESS"] or None)
        self._logs_tls = settings.getbool("DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING")
        self._resolver = Resolver.of(crawler)
        self._pool = ConnectionPool.of(crawler)
        tls = tls_context(settings)
        tls.set_alpn_protocols(["http/1.1"])
        self._dialler = Dialler(
            self._resolver,
            tls,
            self._pool.sessions,
            self._config.head,
            seconds=self._config.connect_seconds,
            checks_proxied=self._config.checks_proxied,
        )
        self._warned_of_dataloss = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """As Scrapy's."""
        wire_turn = WireTurn.of(request)
        bind = request.meta.get("bindaddress")
        to = route(request, normalize_bind_address(bind) if bind else self._bind)
        data = serialize(request, to)
        seconds = request.meta.get("download_timeout") or self._config.timeout
        connection: Connection | None = None
        reader = to.proxy if to.is_forwarded else None
        download = Download(self._crawler, request, self._config.body.of(request), reader)
        try:
            async with Deadline(seconds):
                if (connection := self._pool.take(to)) is not None:
                    return await self._exchange_again(to, connection, data, download, wire_turn)
                connection = await wire_turn.connecting(self._dial(to))
                return await self._exchange(to, connection, data, download, wire_turn)
        except TimeoutError:
            if connection is None and to.proxy is not None:
                raise ProxyError(f"proxy {to.proxy} did not connect to {to.authority} within {seconds} s") from None
            raise DownloadTimeoutError(f"Getting {request.url} took longer than {seconds} seconds.") from None

    async def close(self) -> None:
        """Close the idle connections; those in use end with their requests."""
        self._pool.close()
        self._resolver.close()

    async def _dial(self, to: Route) -> Connection:
        try:
            connection = await self._dialler.dial(to)
        except AddressRefusedError:
            self._count(names.ADDRESSES_REFUSED)
            raise
        self._count(names.CONNECTIONS)
        if (session := connection.tls_session) is not None:
            if session.session_reused:
                self._count(names.SESSIONS_RESUMED)
            if self._logs_tls:
                _log_sslobj_debug_info(session)
        return connection

    async def _exchange_again(
        self, to: Route, connection: Connection, data: bytes, download: Download, wire_turn: WireTurn
    ) -> Response:
        """Exchange over a kept connection, which the server may have closed while the request was on its way."""
        try:
            return await self._exchange(to, connection, data, download, wire_turn)
        except SilentError as error:
            if download.request.method not in _SAFE:
                raise
            self._count(names.CONNECTIONS_STALE)
            self._pool.forget(to)
            raise StaleConnectionError(f"{to.authority} closed a kept connection before anything came") from error

    async def _exchange(
        self, to: Route, connection: Connection, data: bytes, download: Download, wire_turn: WireTurn
    ) -> Response:
        request = download.request
        receiver = Receiver(request.method, self._config.head, download)
        if not wire_turn.allowed():
            self._pool.put(to, connection)
            raise MissedError
        connection.send(data, receiver)
        wire_turn.sent()
        try:
            await connection.done()
        except StopDownload as stop:
            return download.response(connection, stop=stop)
        except IncompleteError as error:
            return self._torn(download, connection, error)
        self._pool.put(to, connection, download.keeps_seconds)  # closed already if it may not be reused
        return download.response(connection, "partial" if receiver.is_partial else "")

    def _torn(self, download: Download, connection: Connection, error: IncompleteError) -> Response:
        request = download.request
        if not request.meta.get("download_fail_on_dataloss", self._config.fail_on_dataloss):
            return download.response(connection, "dataloss")
        if not self._warned_of_dataloss:
            logger.warning(get_dataloss_msg(request.url))
            self._warned_of_dataloss = True
        raise ResponseDataLossError(str(error)) from error

    def _count(self, name: str) -> None:
        self._crawler.stats.inc_value(name)
