"""One response on its way to Scrapy: limits, signals, and finally the Response."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from time import monotonic
from typing import Final, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError, StopDownload
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils._download_handlers import check_stop_download, get_maxsize_msg, get_warnsize_msg, make_response

from crawler import config
from crawler.errors import ProxyError
from crawler.handlers.http.connection import Connection
from crawler.handlers.http.head import ResponseHead
from crawler.handlers.route import Proxy
from crawler.meta import CUT_AT
from crawler.scrapy_hooks import is_heard

logger = logging.getLogger(__name__)

FRAMING_BYTES: Final = 65_536  # allowed besides the body, and a sixteenth of its limit
_PROXY_AUTHENTICATION: Final = 407


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    """Body sizes in bytes; 0 = unlimited. Scrapy's settings, which `meta` may override for one request."""

    maxsize: int
    warnsize: int

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError."""
        return cls(
            config.integer(settings, "DOWNLOAD_MAXSIZE"),
            config.integer(settings, "DOWNLOAD_WARNSIZE"),
        )

    @property
    def wire(self) -> float:
        """Most bytes of a response on the wire: body, chunk sizes and extensions, trailers, TLS records."""
        return self.maxsize + self.maxsize // 16 + FRAMING_BYTES if self.maxsize else math.inf

    def of(self, request: Request) -> DownloadLimits:
        """The limits for *request*."""
        meta = request.meta
        if "download_maxsize" not in meta and "download_warnsize" not in meta:
            return self
        return DownloadLimits(meta.get("download_maxsize", self.maxsize), meta.get("download_warnsize", self.warnsize))


class Download:
    """Listens to a Receiver. The download starts when this object is created.

    Raises DownloadCancelledError beyond the limit, StopDownload if a signal receiver does, ProxyError if *proxy*, which
    reads the request, refuses our credentials.
    """

    def __init__(self, crawler: Crawler, request: Request, limits: DownloadLimits, proxy: Proxy | None) -> None:
        self._crawler = crawler
        self._proxy = proxy
        self.request = request
        self._began = monotonic()
        self._maxsize, self._warnsize = limits.maxsize, limits.warnsize
        self._cut_at = request.meta.get(CUT_AT, math.inf)
        self._most = limits.wire
        self._head: ResponseHead | None = None
        self._parts: list[bytes] = []
        self._size = 0

    def wire_received(self, size: int) -> None:
        if size > self._most:
            self._measure(size, expected=False)

    def head_received(self, head: ResponseHead, size: int | None) -> None:
        if self._proxy is not None and head.status == _PROXY_AUTHENTICATION:
            raise ProxyError(f"proxy {self._proxy} refused our credentials (status {head.status})")
        self._head = head
        self.request.meta["download_latency"] = monotonic() - self._began
        self._measure(size or 0, expected=True)
        self._ask(signals.headers_received, headers=head.headers, body_length=size)

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)
        self._ask(signals.bytes_received, data=data)
        self._measure(self._size, expected=False)
        if self._size > self._cut_at:
            raise StopDownload(fail=False)

    @property
    def keeps_seconds(self) -> float | None:
        """How long the server says it keeps the connection."""
        return self._head.keeps_seconds if self._head is not None else None

    def response(self, connection: Connection, flag: str = "", stop: StopDownload | None = None) -> Response:
        """What arrived, as a Response with *flag*; raises *stop* if that asks for it."""
        assert self._head is not None
        return make_response(
            url=self.request.url.partition("#")[0],
            status=self._head.status,
            headers=self._head.headers,
            body=b"".join(self._parts),
            flags=[flag] if flag else None,
            certificate=connection.certificate,
            ip_address=connection.ip_address,
            protocol=self._head.protocol,
            stop_download=stop,
        )

    def _measure(self, size: int, *, expected: bool) -> None:
        if self._maxsize and size > self._maxsize:
            self._parts.clear()
            message = get_maxsize_msg(size, self._maxsize, self.request, expected=expected)
            logger.warning(message)
            raise DownloadCancelledError(message)
        if self._warnsize and size > self._warnsize:
            logger.warning(get_warnsize_msg(size, self._warnsize, self.request, expected=expected))
            self._warnsize = 0  # once

    def _ask(self, signal: object, **said: object) -> None:
        if not is_heard(self._crawler, signal):
            return
        if stop := check_stop_download(signal, self._crawler, self.request, **said):
            raise stop
