"""What failed on the way to a host through a proxy: the proxy for certain, or either of them.

Proxy failures must not slow a host down, and one dead host must not spoil a pool.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from scrapy.http import Response

from crawler.errors import BrowserError, ProxyError, RobotsUnresolvedError
from crawler.meta import POOL_LAST, pooled

_UNREACHED: Final = (DownloadConnectionRefusedError, CannotResolveHostError)  # we only connect to the proxy
_UNCERTAIN: Final = (DownloadTimeoutError, DownloadFailedError, ResponseDataLossError)
_LOG_IN: Final = (407, 401)  # tinyproxy uses the latter for wrong credentials
# A proxy's response, as our errors, Scrapy's and curl's word it.
_STATUS: Final = re.compile(r"\b(?:status|response)'?:? (\d{3})\b")
_GATEWAY_STATUSES: Final = (502, 504)
_NO_SITES: Final = 511  # of proxies in between that want a log-in (RFC 6585)
# Of responses that proxies generate.
_OWN_HEADERS: Final = ("Proxy-Authenticate", "Proxy-Agent", "X-Squid-Error")
_OWN_SERVERS: Final = (b"tinyproxy", b"squid")


class Fault(Enum):
    """Who is to blame for a failed attempt."""

    PROXY = auto()  # refused, unreachable, credentials rejected
    UNCERTAIN = auto()  # the connection beyond the proxy broke or timed out: another proxy would tell


def fault(request: Request, outcome: Response | BaseException) -> Fault | None:
    """Who is to blame for *outcome*; None: nobody, or the host, as without a proxy."""
    if not request.meta.get("proxy") or isinstance(outcome, (BrowserError, RobotsUnresolvedError)):
        return None
    found = _of_answer(request, outcome) if isinstance(outcome, Response) else _of_error(outcome)
    return found if found is Fault.PROXY or pooled(request) else None


def excuse(request: Request, outcome: Response | BaseException) -> bool:
    """Whether the host's pace and record stay unchanged: always if the proxy is to blame; if it may be, as long as
    other proxies can be tried. After that the failure counts as the host's."""
    found = fault(request, outcome)
    return found is Fault.PROXY or (found is Fault.UNCERTAIN and not request.meta.get(POOL_LAST))


def _of_answer(request: Request, response: Response) -> Fault | None:
    if response.status == 407:
        return Fault.PROXY
    if response.status < 400 or not request.url.startswith("http:"):  # inside TLS only the host can answer
        return None
    if response.status == _NO_SITES:
        return Fault.PROXY
    server = response.headers.get("Server") or b""
    if server.lower().startswith(_OWN_SERVERS) or any(name in response.headers for name in _OWN_HEADERS):
        return Fault.PROXY if response.status in _LOG_IN else Fault.UNCERTAIN
    return Fault.UNCERTAIN if response.status in _GATEWAY_STATUSES else None


def _of_error(error: BaseException) -> Fault | None:
    if isinstance(error, _UNREACHED) or isinstance(error.__cause__, _UNREACHED):
        return Fault.PROXY
    if isinstance(error, (ProxyError, TunnelError)):
        status = _STATUS.search(str(error))
        return Fault.PROXY if status and int(status[1]) in _LOG_IN else Fault.UNCERTAIN
    return Fault.UNCERTAIN if isinstance(error, _UNCERTAIN) else None
