"""curl-impersonate for one request: Scrapy's handler for it, pinned to an address and to a connection of its own.

Needs the extra `tls`: import it only where a domain asks for a TLS profile.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from curl_cffi.const import CurlInfo, CurlOpt
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy_download_handlers_incubator.handlers.curl_cffi import CurlCffiDownloadHandler

from crawler.handlers.wire_turn import WireTurn


class Impersonating(CurlCffiDownloadHandler):
    """*pin* is what curl knows of names, as it wants it: `*:port:address`."""

    experimental: ClassVar[bool] = False

    def __init__(self, crawler: Crawler, profile: str, pin: list[str], wire_turn: WireTurn | None) -> None:
        self._impersonated = profile
        self._pinned = pin
        self._wire_turn = wire_turn
        super().__init__(crawler)

    def _make_session(self, proxy_headers: tuple[tuple[str, str], ...] = ()) -> Any:
        session: Any = super()._make_session(proxy_headers)
        session.impersonate = self._impersonated
        session.http_version = None  # what the browser negotiates
        session.curl_options |= {CurlOpt.FRESH_CONNECT: 1, CurlOpt.FORBID_REUSE: 1}
        if self._pinned:  # and so without a proxy: libcurl would take one from the environment
            session.curl_options |= {CurlOpt.RESOLVE: self._pinned, CurlOpt.PROXY: ""}
        session.curl_infos = [CurlInfo.PRETRANSFER_TIME, CurlInfo.STARTTRANSFER_TIME]
        return session

    @asynccontextmanager
    async def _make_request(self, request: Request, timeout: float) -> AsyncIterator[Any]:  # noqa: ASYNC109
        async with super()._make_request(request, timeout) as response:
            if self._wire_turn is not None:
                infos: dict[Any, float] = response.infos
                # Of curl's own clock: when it began is not known here, and what is too early is too early for the host.
                self._wire_turn.sent(max(0.0, infos[CurlInfo.STARTTRANSFER_TIME] - infos[CurlInfo.PRETRANSFER_TIME]))
            yield response
