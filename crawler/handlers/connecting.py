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
from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ProxyError
from crawler.handlers.route import Proxy, Route

FAILURES: Final = (CannotResolveHostError, DownloadConnectionRefusedError, DownloadFailedError, DownloadTimeoutError)


def connect_seconds(settings: BaseSettings) -> float:
    """How long a connection may take, from the first SYN to the end of its TLS handshake; raises ConfigError."""
    return config.number(settings, "CONNECT_TIMEOUT_SECONDS")


def too_slow(to: Route, seconds: float) -> DownloadTimeoutError | ProxyError:
    """For a connection that took longer than *seconds*, those of `connect_seconds`."""
    within = f"within {seconds:g} s (CONNECT_TIMEOUT_SECONDS)"
    if to.proxy is not None:
        return ProxyError(f"proxy {to.proxy} did not connect to {to.authority} {within}")
    return DownloadTimeoutError(f"{to.authority} did not connect {within}")


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
