"""Which failure is of which class."""

from __future__ import annotations

import gzip
import sys
import zlib
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotSupported,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.utils._compression import _DecompressionMaxSizeExceeded
from twisted.internet import error as internet
from twisted.web._newclient import ResponseNeverReceived

from crawler.errors import PageTimeoutError
from crawler.policy.endings import failures
from crawler.policy.endings.failures import FailureClass, classify

PERMANENT, RATE_LIMITED, TRANSIENT = FailureClass.PERMANENT, FailureClass.RATE_LIMITED, FailureClass.TRANSIENT
HOST_FAULT, MALFORMED = FailureClass.HOST_FAULT, FailureClass.MALFORMED
OF_OTHER_PYTHONS = {"compression.zstd.ZstdError" if sys.version_info < (3, 14) else "backports.zstd.ZstdError"}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        *((status, PERMANENT) for status in (400, 401, 403, 404, 405, 410, 451, 501, 505)),
        *((status, RATE_LIMITED) for status in (429, 503)),
        *((status, TRANSIENT) for status in (407, 408, 421, 425, 500, 502, 504, 520, 522, 524, 599)),
        *((status, None) for status in (200, 204, 301, 304, 399)),
        *((status, MALFORMED) for status in (0, 100, 199)),
    ],
)
def test_a_status_has_its_class(status: int, expected: FailureClass | None) -> None:
    assert classify(status) is expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (CannotResolveHostError(), HOST_FAULT),
        (PageTimeoutError(), MALFORMED),
        (DownloadConnectionRefusedError(), HOST_FAULT),
        (DownloadTimeoutError(), HOST_FAULT),
        (internet.DNSLookupError(), HOST_FAULT),
        (internet.ConnectionRefusedError(), HOST_FAULT),  # type: ignore[no-untyped-call]
        (internet.TCPTimedOutError(), HOST_FAULT),  # type: ignore[no-untyped-call]
        (TimeoutError(), HOST_FAULT),
        (DownloadFailedError(), TRANSIENT),
        (ResponseNeverReceived([]), TRANSIENT),  # type: ignore[no-untyped-call]
        (internet.ConnectionLost(), TRANSIENT),
        (internet.ConnectionDone(), TRANSIENT),
        (internet.SSLError(), TRANSIENT),  # type: ignore[no-untyped-call]
        (ConnectionResetError(), TRANSIENT),
        (ResponseDataLossError(), MALFORMED),
        (DownloadCancelledError(), MALFORMED),
        (gzip.BadGzipFile(), MALFORMED),
        (EOFError(), MALFORMED),
        (zlib.error(), MALFORMED),
        (UnsupportedURLSchemeError(), PERMANENT),
        (NotSupported(), PERMANENT),
        (IgnoreRequest(), None),
        (ValueError(), None),
    ],
)
def test_an_exception_has_its_class(error: Exception, expected: FailureClass | None) -> None:
    assert classify(error) is expected


def test_a_subclass_counts_as_its_base() -> None:
    class OurOwnError(DownloadFailedError):
        pass

    assert classify(OurOwnError()) is TRANSIENT


def test_what_caused_an_exception_speaks_where_that_is_silent() -> None:
    error = IgnoreRequest("larger than allowed")
    error.__cause__ = _DecompressionMaxSizeExceeded(2, 1)
    assert classify(error) is MALFORMED
    error.__cause__.__cause__ = error
    assert classify(error) is MALFORMED


def test_an_exception_that_caused_itself_has_no_class() -> None:
    error = ValueError()
    error.__cause__ = error
    assert classify(error) is None


@pytest.mark.parametrize("name", sorted(failures._EXCEPTIONS.keys() - OF_OTHER_PYTHONS))
def test_every_exception_named_exists(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert issubclass(getattr(import_module(module), attribute), Exception)
    assert f"{getattr(import_module(module), attribute).__module__}.{attribute}" == name or name == "builtins.OSError"


@given(st.integers(0, 999))
def test_every_error_status_has_a_class_and_no_other_has(status: int) -> None:
    assert (classify(status) is not None) == (status >= 400 or status < 200)


@given(st.integers(0, 999))
def test_no_status_alone_is_a_block_or_a_fault_of_the_host(status: int) -> None:
    assert classify(status) not in {FailureClass.BLOCKED, HOST_FAULT}
