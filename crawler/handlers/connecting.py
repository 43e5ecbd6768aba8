"""Why a connection was not made, in the exceptions that all of Scrapy's handlers raise."""

from __future__ import annotations

import ssl
from asyncio import LimitOverrunError
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)

from crawler.errors import ProxyError
from crawler.handlers.route import Proxy

FAILURES: Final = (CannotResolveHostError, DownloadConnectionRefusedError, DownloadFailedError, DownloadTimeoutError)


@contextmanager
def in_scrapys_words(where: str) -> Iterator[None]:
    """For what fails on the way to *where* with an OSError, or with an error of asyncio's streams."""
    try:
        yield
    except ConnectionRefusedError as error:
        raise DownloadConnectionRefusedError(f"{where} refused the connection") from error
    except TimeoutError as error:
        raise DownloadTimeoutError(f"{where} does not answer") from error
    except ssl.SSLError as error:
        raise DownloadFailedError(f"TLS with {where} failed: {error}") from error
    except (OSError, EOFError, LimitOverrunError) as error:
        raise DownloadFailedError(f"no connection to {where}: {error}") from error


@contextmanager
def blaming(proxy: Proxy) -> Iterator[None]:
    """For what fails on the way to *proxy*, and with it, before it has connected to the target."""
    try:
        with in_scrapys_words(str(proxy)):
            yield
    except FAILURES as error:
        raise ProxyError(f"proxy {proxy}: {error}") from error
