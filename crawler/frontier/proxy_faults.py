"""What failed between this worker and a host that is visited through a proxy: the proxy for certain, or one of the two.

A host's pace must not suffer from its visitors' proxies, and a pool must not suffer from one dead host.
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

from crawler.errors import ProxyError

# Keys of `meta`, for one attempt; none is stored.
POOLED: Final = "_pool_proxy"  # the proxy that a pool gave; when `proxy` is another one, the user has set that
LAST: Final = "_pool_last"  # no fresh proxy will be tried after this attempt

_UNREACHED: Final = (DownloadConnectionRefusedError, CannotResolveHostError)  # only a proxy is connected to
_UNCERTAIN: Final = (TunnelError, DownloadTimeoutError, DownloadFailedError, ResponseDataLossError)
_WRONG_CREDENTIALS: Final = re.compile(r"'status': 407\b")  # in the words of Scrapy's TunnelError
_GATEWAY_STATUSES: Final = (502, 504)  # over TLS only the host can answer with them


class Fault(Enum):
    """Whose fault a failed attempt is."""

    PROXY = auto()  # refused, not reachable, wants other credentials
    UNCERTAIN = auto()  # the way beyond the proxy broke, or took too long: another proxy would tell


def pooled(request: Request) -> bool:
    """Whether *request* goes through a proxy that a pool of ours gave it."""
    return request.meta.get("proxy") is not None and request.meta["proxy"] == request.meta.get(POOLED)


def fault(request: Request, outcome: Response | BaseException) -> Fault | None:
    """Who is to blame for *outcome*; None: nobody, or the host as without a proxy."""
    if not request.meta.get("proxy"):
        return None
    if isinstance(outcome, Response):
        if outcome.status == 407:
            return Fault.PROXY
        gateway = outcome.status in _GATEWAY_STATUSES and request.url.startswith("http:")
        return Fault.UNCERTAIN if gateway and pooled(request) else None
    if isinstance(outcome, _UNREACHED) or _refused_us(outcome):
        return Fault.PROXY
    return Fault.UNCERTAIN if isinstance(outcome, _UNCERTAIN) and pooled(request) else None


def excuse(request: Request, outcome: Response | BaseException) -> bool:
    """Whether the host's pace and record stay as they are: always when the proxy is to blame, and when it may be for as
    long as others can be tried. After that the host is taken at its word."""
    found = fault(request, outcome)
    return found is Fault.PROXY or (found is Fault.UNCERTAIN and not request.meta.get(LAST))


def _refused_us(error: BaseException) -> bool:
    if isinstance(error, ProxyError):
        return error.status in {None, 407}
    return isinstance(error, TunnelError) and _WRONG_CREDENTIALS.search(str(error)) is not None
