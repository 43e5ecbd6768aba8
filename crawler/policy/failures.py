"""The class of failure of a response, or of a missing one: it decides whether and how a request is retried.

Pure, and known by name only: what raises these exceptions is not imported here.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class FailureClass(StrEnum):
    """Who has to change before another try can go better."""

    PERMANENT = "permanent"  # nobody will: the answer is this one
    RATE_LIMITED = "rate_limited"  # we: come less often
    TRANSIENT = "transient"  # the site will, soon
    HOST_FAULT = "host_fault"  # the host does not work: nothing else of it will either
    BLOCKED = "blocked"  # we, as the site sees us (see policy/blocks.py); no status alone tells that
    MALFORMED = "malformed"  # the answer came, and cannot be used


LEAST_STATUS: Final = 200  # below it there is no final answer: `000` and the like
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_STATUSES: Final = MappingProxyType(
    {
        401: FailureClass.PERMANENT,  # wants credentials: they are given before the request, or never
        403: FailureClass.PERMANENT,  # refused; where the page shows a blocking vendor it counts as blocked instead
        404: FailureClass.PERMANENT,  # not there
        407: FailureClass.TRANSIENT,  # the proxy refuses us, not the host: its pages are there, and not to be given up
        408: FailureClass.TRANSIENT,  # the server gave up waiting for our request
        410: FailureClass.PERMANENT,  # gone, and says so
        421: FailureClass.TRANSIENT,  # the wrong connection: another one may be right
        425: FailureClass.TRANSIENT,  # too early, in so many words
        429: FailureClass.RATE_LIMITED,
        451: FailureClass.PERMANENT,  # withheld by law
        501: FailureClass.PERMANENT,  # the server cannot do what is asked, at any time
        503: FailureClass.RATE_LIMITED,  # overloaded or in maintenance: the frontier slows down as for 429
        505: FailureClass.PERMANENT,
    }
)
_OTHER_STATUSES: Final = ((500, FailureClass.TRANSIENT), (400, FailureClass.PERMANENT))  # from each number on

_EXCEPTIONS: Final = MappingProxyType(
    {
        "crawler.errors.BlockedError": FailureClass.BLOCKED,
        "scrapy.exceptions.CannotResolveHostError": FailureClass.HOST_FAULT,
        "scrapy.exceptions.DownloadConnectionRefusedError": FailureClass.HOST_FAULT,
        "scrapy.exceptions.DownloadTimeoutError": FailureClass.HOST_FAULT,
        "scrapy.exceptions.DownloadFailedError": FailureClass.TRANSIENT,  # reset, closed, TLS: one connection's
        "scrapy.exceptions.ResponseDataLossError": FailureClass.MALFORMED,  # cut off, or broken chunks
        "scrapy.exceptions.DownloadCancelledError": FailureClass.MALFORMED,  # larger than DOWNLOAD_MAXSIZE
        "scrapy.exceptions.UnsupportedURLSchemeError": FailureClass.PERMANENT,
        "scrapy.exceptions.NotSupported": FailureClass.PERMANENT,
        "scrapy.core.downloader.handlers.http11.TunnelError": FailureClass.TRANSIENT,  # the proxy's
        "scrapy.utils._compression._DecompressionMaxSizeExceeded": FailureClass.MALFORMED,  # a bomb
        "twisted.internet.error.DNSLookupError": FailureClass.HOST_FAULT,
        "twisted.internet.error.UnknownHostError": FailureClass.HOST_FAULT,
        "twisted.internet.error.NoRouteError": FailureClass.HOST_FAULT,
        "twisted.internet.error.ConnectionRefusedError": FailureClass.HOST_FAULT,
        "twisted.internet.error.TCPTimedOutError": FailureClass.HOST_FAULT,
        "twisted.internet.error.TimeoutError": FailureClass.HOST_FAULT,
        "twisted.internet.error.ConnectError": FailureClass.TRANSIENT,
        "twisted.internet.error.ConnectionClosed": FailureClass.TRANSIENT,  # ConnectionLost, ConnectionDone
        "twisted.web._newclient.ResponseFailed": FailureClass.TRANSIENT,
        "twisted.web._newclient.ParseError": FailureClass.MALFORMED,
        "twisted.web.error.SchemeNotSupported": FailureClass.PERMANENT,
        "socket.gaierror": FailureClass.HOST_FAULT,
        "builtins.ConnectionRefusedError": FailureClass.HOST_FAULT,
        "builtins.TimeoutError": FailureClass.HOST_FAULT,
        "builtins.OSError": FailureClass.TRANSIENT,
        "brotli.error": FailureClass.MALFORMED,
        "gzip.BadGzipFile": FailureClass.MALFORMED,
        "zlib.error": FailureClass.MALFORMED,
    }
)


def classify(failure: int | BaseException) -> FailureClass | None:
    """The class of a response's status, or of an exception: its own type's, a base's, or that of what caused it.

    None: no failure (a status below 400), or none that this module knows.
    """
    if isinstance(failure, int):
        if failure < LEAST_STATUS:
            return FailureClass.MALFORMED
        return _STATUSES.get(failure) or next((kind for least, kind in _OTHER_STATUSES if failure >= least), None)
    return next((kind for name in _names(failure) if (kind := _EXCEPTIONS.get(name))), None)


def _names(error: BaseException | None) -> Iterator[str]:
    met: set[int] = set()
    while error is not None and id(error) not in met:
        met.add(id(error))
        yield from (f"{each.__module__}.{each.__qualname__}" for each in type(error).__mro__)
        error = error.__cause__
