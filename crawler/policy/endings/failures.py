"""The failure class of a response or exception: it decides whether and how a request is retried.

Pure; exceptions are listed by name, so that nothing is imported for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class FailureClass(StrEnum):
    """Who has to change before a retry can succeed."""

    PERMANENT = "permanent"  # nobody: the answer is final
    RATE_LIMITED = "rate_limited"  # we: slow down
    TRANSIENT = "transient"  # the site, and soon
    HOST_FAULT = "host_fault"  # the host is down, for all its pages
    BLOCKED = "blocked"  # how the site sees us (policy/blocks/); no status alone shows that
    MALFORMED = "malformed"  # a response came but is unusable


LEAST_STATUS: Final = 200  # lower ones are no final response: `000` and the like
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_STATUSES: Final = MappingProxyType(
    {
        401: FailureClass.PERMANENT,  # needs credentials: they are sent with the first request, or never
        403: FailureClass.PERMANENT,  # refused; if the page shows a blocking vendor it counts as blocked instead
        404: FailureClass.PERMANENT,  # not found
        407: FailureClass.TRANSIENT,  # the proxy refuses us, not the host: its pages must not be given up
        408: FailureClass.TRANSIENT,  # the server gave up waiting for our request
        410: FailureClass.PERMANENT,  # gone for good
        421: FailureClass.TRANSIENT,  # misdirected: another connection may work
        425: FailureClass.TRANSIENT,  # "too early"
        429: FailureClass.RATE_LIMITED,
        451: FailureClass.PERMANENT,  # withheld by law
        501: FailureClass.PERMANENT,  # not implemented
        503: FailureClass.RATE_LIMITED,  # overloaded or in maintenance: slows the host as 429 does
        505: FailureClass.PERMANENT,
    }
)
_OTHER_STATUSES: Final = ((500, FailureClass.TRANSIENT), (400, FailureClass.PERMANENT))  # from each status on

_EXCEPTIONS: Final = MappingProxyType(
    {
        "crawler.errors.BlockedError": FailureClass.BLOCKED,
        "crawler.errors.PageTimeoutError": FailureClass.MALFORMED,  # its scripts: the host has answered
        "scrapy.exceptions.CannotResolveHostError": FailureClass.HOST_FAULT,
        "scrapy.exceptions.DownloadConnectionRefusedError": FailureClass.HOST_FAULT,
        "scrapy.exceptions.DownloadTimeoutError": FailureClass.HOST_FAULT,
        "scrapy.exceptions.DownloadFailedError": FailureClass.TRANSIENT,  # reset, closed, TLS: concerns one connection
        "scrapy.exceptions.ResponseDataLossError": FailureClass.MALFORMED,  # truncated, or invalid chunks
        "scrapy.exceptions.DownloadCancelledError": FailureClass.MALFORMED,  # larger than DOWNLOAD_MAXSIZE
        "scrapy.exceptions.UnsupportedURLSchemeError": FailureClass.PERMANENT,
        "scrapy.exceptions.NotSupported": FailureClass.PERMANENT,
        "scrapy.core.downloader.handlers.http11.TunnelError": FailureClass.TRANSIENT,  # the proxy's fault
        "scrapy.utils._compression._DecompressionMaxSizeExceeded": FailureClass.MALFORMED,  # a decompression bomb
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
        "builtins.EOFError": FailureClass.MALFORMED,  # a packed body that is cut off before its first byte
        "backports.zstd.ZstdError": FailureClass.MALFORMED,
        "compression.zstd.ZstdError": FailureClass.MALFORMED,
        "brotli.error": FailureClass.MALFORMED,
        "gzip.BadGzipFile": FailureClass.MALFORMED,
        "zlib.error": FailureClass.MALFORMED,
    }
)


def classify(failure: int | BaseException) -> FailureClass | None:
    """The class of a response's status, or of an exception: by its type, a base class, or its cause.

    None: no failure (a status below 400), or an unknown exception.
    """
    if isinstance(failure, int):
        if failure < LEAST_STATUS:
            return FailureClass.MALFORMED
        return _STATUSES.get(failure) or next((kind for least, kind in _OTHER_STATUSES if failure >= least), None)
    return next((kind for name in _names(failure) if (kind := _EXCEPTIONS.get(name))), None)


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """*error*, and what it was raised from."""
    met: set[int] = set()
    while error is not None and id(error) not in met:
        met.add(id(error))
        yield error
        error = error.__cause__


def _names(error: BaseException) -> Iterator[str]:
    for each in causes(error):
        yield from (f"{kind.__module__}.{kind.__qualname__}" for kind in type(each).__mro__)
