"""curl-impersonate for one request: Scrapy's handler for it, pinned to one address, on its own connection.

Needs the extra `tls`: import it only if a domain has a TLS profile.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Final

from curl_cffi._wrapper import ffi, lib  # type: ignore[import-not-found]
from curl_cffi.const import CurlInfo, CurlOpt
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError
from scrapy.http import Response
from scrapy_download_handlers_incubator.handlers.curl_cffi import CurlCffiDownloadHandler
from scrapy_download_handlers_incubator.utils import get_proxy_headers

from crawler.handlers.http.download import DownloadLimits
from crawler.handlers.wire_turn import WireTurn
from crawler.utils import tasks

LOOK_SECONDS: Final = 0.1  # between checks of how much has arrived
_ASKED: Final = "int(void *, char *, char *, int, int)"  # the type of CURLOPT_PREREQFUNCTION
_TCP_INFO: Final = 11  # Linux
_BYTES_RECEIVED: Final = slice(128, 136)  # in it, since Linux 4.1


class Impersonating(CurlCffiDownloadHandler):
    """*pin* is curl's only name resolution, in its format: `*:port:address`. A connection may take *seconds*."""

    experimental: ClassVar[bool] = False

    def __init__(self, crawler: Crawler, profile: str, pin: list[str], wire_turn: WireTurn, seconds: float) -> None:
        self._impersonated = profile
        self._pinned = pin
        self._wire_turn = wire_turn
        self._connect_ms = round(1000 * seconds)
        self._asked = asked = [0]
        # Called before each sending. What a server refuses over HTTP/2, curl sends five times more, at once.
        self._once = ffi.callback(_ASKED, lambda *_: _count(asked) > 1)
        super().__init__(crawler)

    async def download_request(self, request: Request) -> Response:
        """As Scrapy's. curl counts only the body's bytes; frames, heads and chunks may carry any amount of others."""
        most = DownloadLimits(self._default_maxsize, self._default_warnsize).of(request).wire
        download = asyncio.ensure_future(super().download_request(request))
        beyond = asyncio.ensure_future(self._brought(most))
        try:
            await asyncio.wait({download, beyond}, return_when=asyncio.FIRST_COMPLETED)
            if download.done():
                return await download
            raise DownloadCancelledError(f"{request.url} sent more than {most:.0f} bytes, framing included")
        finally:
            await tasks.finished(beyond)
            await tasks.finished(download)

    def _make_session(self, proxy_headers: tuple[tuple[str, str], ...] = ()) -> Any:
        session: Any = super()._make_session(proxy_headers)
        session.impersonate = self._impersonated
        session.http_version = None  # what the browser negotiates
        session.curl_options |= {CurlOpt.FRESH_CONNECT: 1, CurlOpt.FORBID_REUSE: 1}
        session.curl_options[CurlOpt.CONNECTTIMEOUT_MS] = self._connect_ms  # handshakes and the proxy's answer included
        if self._pinned:  # and without a proxy, or libcurl would use one from the environment
            session.curl_options |= {CurlOpt.RESOLVE: self._pinned, CurlOpt.PROXY: ""}
        session.curl_infos = [CurlInfo.PRETRANSFER_TIME, CurlInfo.STARTTRANSFER_TIME]
        return session

    @asynccontextmanager
    async def _make_request(self, request: Request, timeout: float) -> AsyncIterator[Any]:  # noqa: ASYNC109
        async with self._asking_once(request), super()._make_request(request, timeout) as response:
            infos: dict[Any, float] = response.infos
            # Both times are curl's: its start is unknown on our clock, and a write recorded too early would let the
            # next request go too early.
            self._wire_turn.sent(max(0.0, infos[CurlInfo.STARTTRANSFER_TIME] - infos[CurlInfo.PRETRANSFER_TIME]))
            yield response

    @asynccontextmanager
    async def _asking_once(self, request: Request) -> AsyncIterator[None]:
        session: Any = self._get_session(self._extract_proxy_url_with_creds(request), get_proxy_headers(request))
        curl = await session.pop_curl()  # the next one to be taken again
        lib._curl_easy_setopt(curl._curl, CurlOpt.PREREQFUNCTION, self._once)  # noqa: SLF001 - see engine/README.md
        session.push_curl(curl)
        try:
            yield
        except DownloadFailedError as error:
            if self._asked[0] > 1:
                raise DownloadFailedError("the server refused the request before it answered (HTTP/2)") from error
            raise

    async def _brought(self, most: float) -> None:
        """Return once the connection has brought more than *most* bytes."""
        while self._received() <= most:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(LOOK_SECONDS)

    def _received(self) -> int:
        """Bytes received by all connections of this request. 0 where the system does not tell; there only time bounds
        it."""
        sessions = (self._session, *self._proxy_header_sessions.values())
        sockets = {one for session in sessions for one in session.acurl._sockfds}  # noqa: SLF001 - see engine/README.md
        return sum(map(_received, sockets)) if sys.platform == "linux" else 0


def _count(asked: list[int]) -> int:
    asked[0] += 1
    return asked[0]


def _received(descriptor: int) -> int:
    try:
        with socket.socket(fileno=os.dup(descriptor)) as copy:
            return int.from_bytes(copy.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 256)[_BYTES_RECEIVED], "little")
    except OSError:  # closed meanwhile
        return 0
