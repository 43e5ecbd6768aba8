"""Where a request goes: the connection it needs, and its bytes on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import UnsupportedURLSchemeError
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.url import add_http_if_no_scheme

from crawler.urls import DEFAULT_PORTS
from crawler.utils.caches import cached

Bind = tuple[str, int]
_BODY_EXPECTED: Final = frozenset({"POST", "PUT", "PATCH"})
_NOT_COPIED: Final = frozenset({b"Content-Length", b"Transfer-Encoding", b"Proxy-Authorization"})


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy; *authorization* tells users and sticky sessions apart, so their connections are never shared."""

    scheme: str
    host: str
    port: int
    authorization: bytes | None = None

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    __repr__ = __str__  # errors and log lines must never show the credentials


@dataclass(frozen=True, slots=True)
class Route:
    """Where a connection leads; requests with equal routes may share one."""

    scheme: str
    host: str
    port: int
    proxy: Proxy | None = None
    bind: Bind | None = None

    @property
    def is_tunnel(self) -> bool:
        """Whether the proxy passes bytes on without reading them."""
        return self.proxy is not None and self.scheme == "https"

    @property
    def is_forwarded(self) -> bool:
        """Whether the proxy reads the request and sends its own."""
        return self.proxy is not None and self.scheme == "http"

    @property
    def authority(self) -> str:
        """`host:port`, the target of CONNECT."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def route(request: Request, bind: Bind | None = None) -> Route:
    """The route of *request*; raises UnsupportedURLSchemeError unless it is an http or https URL with a host."""
    parts = urlparse_cached(request)
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UnsupportedURLSchemeError(f"{request.url}: {error}") from None
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise UnsupportedURLSchemeError(f"{request.url}: not an http or https URL with a host")
    proxy = request.meta.get("proxy")
    through = _proxy(proxy, request.headers.get(b"Proxy-Authorization")) if proxy else None
    return Route(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme], through, bind)


def serialize(request: Request, to: Route) -> bytes:
    """*request* as bytes for the connection of *to*; raises ValueError if a server would read two requests."""
    parts = urlparse_cached(request)
    netloc = parts.netloc.rpartition("@")[2]
    rest = request.url[len(parts.scheme) + 3 + len(parts.netloc) :].partition("#")[0]
    path = rest if rest.startswith("/") else f"/{rest}"
    target = f"{to.scheme}://{netloc}{path}" if to.is_forwarded else path
    lines = [f"{request.method} {target} HTTP/1.1".encode()]
    if b"Host" not in request.headers:
        lines.append(b"Host: " + netloc.encode())
    for name, values in dict.items(request.headers):  # they are normalized
        if name not in _NOT_COPIED:
            lines.extend(name + b": " + value for value in values)
    if request.body or request.method in _BODY_EXPECTED:
        lines.append(b"Content-Length: %d" % len(request.body))
    if to.is_forwarded and to.proxy is not None and to.proxy.authorization is not None:
        lines.append(b"Proxy-Authorization: " + to.proxy.authorization)
    head = b"\r\n".join(lines)
    if head.count(b"\n") != len(lines) - 1 or head.count(b"\r") != len(lines) - 1 or b"\0" in head:
        raise ValueError(f"{request} cannot be sent: a line break or NUL in its method, URL or headers")
    return head + b"\r\n\r\n" + request.body


@cached(4_096)
def _proxy(url: str, authorization: bytes | None) -> Proxy:
    try:
        parts = urlsplit(add_http_if_no_scheme(url))
        port = parts.port
    except ValueError as error:  # not the URL itself, which may hold a password
        raise UnsupportedURLSchemeError(f"the proxy of the request is no URL: {error}") from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise UnsupportedURLSchemeError(f"proxy {parts.scheme}://{parts.hostname}: expected an http or https proxy")
    return Proxy(parts.scheme, parts.hostname, port or DEFAULT_PORTS[parts.scheme], authorization)
