"""Who is to blame when a request through a proxy fails, and whether its host has to suffer for it."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from scrapy.http import Response

from crawler.errors import BrowserError, ProxyError, RobotsUnresolvedError
from crawler.meta import POOL_LAST, POOL_PROXY, pooled
from crawler.proxies.faults import Fault, excuse, fault

PROXY = "http://proxy.example:8080"


def request(url: str = "http://a.example/", meta: dict[str, Any] | None = None) -> Request:
    return Request(url, meta={"proxy": PROXY, POOL_PROXY: PROXY} | (meta or {}))


def answer(status: int, **headers: str) -> Response:
    return Response(
        "http://a.example/", status, headers={name.replace("_", "-"): text for name, text in headers.items()}
    )


def because(cause: Exception) -> ProxyError:
    error = ProxyError()
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("outcome", "found"),
    [
        (BrowserError("it died"), None),
        (RobotsUnresolvedError("a.example: not known"), None),
        (answer(200), None),
        (answer(404), None),
        (answer(500), None),
        (answer(503), None),
        (answer(407), Fault.PROXY),
        (answer(511), Fault.PROXY),
        (answer(502), Fault.UNCERTAIN),
        (answer(504), Fault.UNCERTAIN),
        (answer(401), None),
        (answer(401, Server="tinyproxy/1.11.1"), Fault.PROXY),
        (answer(500, Server="tinyproxy/1.11.1"), Fault.UNCERTAIN),
        (answer(503, X_Squid_Error="ERR_CONNECT_FAIL 111"), Fault.UNCERTAIN),
        (answer(200, Server="Squid"), None),
        (DownloadConnectionRefusedError(), Fault.PROXY),
        (CannotResolveHostError(), Fault.PROXY),
        (because(DownloadConnectionRefusedError()), Fault.PROXY),
        (because(DownloadTimeoutError()), Fault.UNCERTAIN),
        (ProxyError("reset in the middle of CONNECT"), Fault.UNCERTAIN),
        (ProxyError("proxy p:1 refused our credentials (status 407)"), Fault.PROXY),
        (ProxyError("proxy p:1: answered CONNECT with status 502"), Fault.UNCERTAIN),
        (ProxyError("proxy p:1: curl: (56) CONNECT tunnel failed, response 407."), Fault.PROXY),
        (TunnelError("Could not open CONNECT tunnel with proxy p:1 [{'status': 407, 'reason': b'x'}]"), Fault.PROXY),
        (
            TunnelError("Could not open CONNECT tunnel with proxy p:1 [{'status': 500, 'reason': b'x'}]"),
            Fault.UNCERTAIN,
        ),
        (DownloadTimeoutError(), Fault.UNCERTAIN),
        (DownloadFailedError(), Fault.UNCERTAIN),
        (DownloadCancelledError(), None),
        (IgnoreRequest(), None),
    ],
)
def test_faults_of_a_pools_proxy(outcome: Response | Exception, found: Fault | None) -> None:
    assert fault(request(), outcome) is found
    assert excuse(request(), outcome) is (found is not None)
    assert excuse(request(meta={POOL_LAST: True}), outcome) is (found is Fault.PROXY)
    assert fault(Request("http://a.example/"), outcome) is None


def test_inside_tls_only_the_host_answers() -> None:
    assert [fault(request("https://a.example/"), answer(status)) for status in (502, 511)] == [None, None]


def test_of_a_proxy_that_the_user_chose_only_the_certain_faults_excuse_the_host() -> None:
    theirs = Request("http://a.example/", meta={"proxy": PROXY})
    other = request(meta={"proxy": "http://other.example:1"})
    for one in (theirs, other):
        assert not pooled(one)
        assert excuse(one, DownloadConnectionRefusedError())
        assert not excuse(one, DownloadTimeoutError())
        assert not excuse(one, answer(502))
