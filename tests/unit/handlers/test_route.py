"""Where a request goes, and how it looks on the wire."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import UnsupportedURLSchemeError

from crawler.handlers.route import Proxy, Route, route, serialize

SECRET = "Basic c2VjcmV0OnNlY3JldA=="


def wire(request: Request) -> list[str]:
    return serialize(request, route(request)).decode("latin-1").split("\r\n")


def through(url: str, proxy: str = "http://proxy.example:3128", **kwargs: Any) -> Request:
    return Request(url, meta={"proxy": proxy}, headers={"Proxy-Authorization": SECRET}, **kwargs)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.example", Route("http", "a.example", 80)),
        ("https://a.example/x", Route("https", "a.example", 443)),
        ("http://A.example:8080/", Route("http", "a.example", 8080)),
        ("http://user:pass@a.example/", Route("http", "a.example", 80)),
        ("http://[::1]:8080/", Route("http", "::1", 8080)),
    ],
)
def test_a_route_is_scheme_host_and_port(url: str, expected: Route) -> None:
    assert route(Request(url)) == expected


@pytest.mark.parametrize("url", ["ftp://a.example/", "http:///x", "http://a.example:99999/", "data:,x", "http://[::1"])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises((UnsupportedURLSchemeError, ValueError)):
        route(Request(url, meta={"verbatim_url": True}))


@pytest.mark.parametrize(
    "proxy", ["http://[::bad", "http://user:secret@proxy.example:99999", "socks5://proxy.example:1080"]
)
def test_a_proxy_that_is_none_is_refused_by_name(proxy: str) -> None:
    with pytest.raises(UnsupportedURLSchemeError, match="proxy") as raised:
        route(through("http://a.example", proxy))
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "line", "host"),
    [
        ("http://a.example", "GET / HTTP/1.1", "a.example"),
        ("http://a.example/p?q=1#frag", "GET /p?q=1 HTTP/1.1", "a.example"),
        ("http://a.example?q=1", "GET /?q=1 HTTP/1.1", "a.example"),
        ("http://a.example:8080/;x=1?y", "GET /;x=1?y HTTP/1.1", "a.example:8080"),
        ("http://user:pass@a.example/x", "GET /x HTTP/1.1", "a.example"),
        ("http://[::1]:8080/x", "GET /x HTTP/1.1", "[::1]:8080"),
        ("http://a.example/caf%C3%A9", "GET /caf%C3%A9 HTTP/1.1", "a.example"),
    ],
)
def test_the_request_line_and_the_host(url: str, line: str, host: str) -> None:
    assert wire(Request(url))[:2] == [line, f"Host: {host}"]


def test_headers_and_a_body_are_sent_as_they_are() -> None:
    headers = {"X-Many": ["1", "2"], "Content-Length": "99", "Host": "other.example"}
    request = Request("http://a.example/", method="POST", headers=headers, body=b"k=v\r\n")

    assert wire(request) == [
        "POST / HTTP/1.1", "X-Many: 1", "X-Many: 2", "Host: other.example", "Content-Length: 5", "", "k=v", "",
    ]  # fmt: skip


@pytest.mark.parametrize(("method", "said"), [("POST", True), ("PUT", True), ("GET", False), ("HEAD", False)])
def test_an_empty_body_is_said_where_one_is_expected(method: str, said: bool) -> None:
    assert ("Content-Length: 0" in wire(Request("http://a.example/", method=method))) is said


def test_through_a_proxy_the_whole_url_is_asked_for() -> None:
    assert wire(through("http://a.example:81/p?q#f"))[:3] == [
        "GET http://a.example:81/p?q HTTP/1.1",
        "Host: a.example:81",
        f"Proxy-Authorization: {SECRET}",
    ]


@pytest.mark.parametrize("url", ["https://a.example/", "http://a.example/"])
def test_the_proxys_credentials_never_reach_the_origin(url: str) -> None:
    direct = Request(url, headers={"Proxy-Authorization": SECRET})
    assert SECRET not in "".join(wire(direct))
    if url.startswith("https:"):
        assert SECRET not in "".join(wire(through(url)))


def test_a_route_through_a_proxy_is_one_of_its_own_for_each_user() -> None:
    routes = {
        route(through("https://a.example/")),
        route(through("https://a.example/", proxy="http://other.example:3128")),
        route(Request("https://a.example/", meta={"proxy": "http://proxy.example:3128"})),
        route(Request("https://a.example/")),
    }
    assert len(routes) == 4
    assert SECRET not in repr(routes)
    assert "proxy.example:3128" in repr(routes)


@pytest.mark.parametrize(
    ("proxy", "expected"),
    [
        ("http://proxy.example:3128", Proxy("http", "proxy.example", 3128, SECRET.encode())),
        ("proxy.example:3128", Proxy("http", "proxy.example", 3128, SECRET.encode())),
        ("https://proxy.example", Proxy("https", "proxy.example", 443, SECRET.encode())),
    ],
)
def test_a_proxy_is_read_as_scrapy_does(proxy: str, expected: Proxy) -> None:
    assert route(through("http://a.example/", proxy)).proxy == expected


def test_a_proxy_of_another_kind_is_refused_without_its_credentials() -> None:
    with pytest.raises(UnsupportedURLSchemeError, match=r"socks5://proxy\.example: expected an http") as raised:
        route(through("http://a.example/", "socks5://user:hidden@proxy.example:1080"))
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://a.example/", headers={"X": "a\r\nEvil: 1"}),
        Request("http://a.example/", headers={"X\r\nEvil: 1": "a"}),
        Request("http://a.example/", headers={"X": b"a\nb"}),
        Request("http://a.example/", headers={"X": b"a\0b"}),
        Request("http://a.example/", method="GET / HTTP/1.1\r\nEvil: 1\r\nX:"),
        Request("http://a.example/\r\nEvil: 1", meta={"verbatim_url": True}),
    ],
)
def test_one_request_never_becomes_two(request_: Request) -> None:
    with pytest.raises(ValueError, match="line break"):
        serialize(request_, route(request_))
