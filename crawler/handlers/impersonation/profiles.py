"""Downloads for domains with a TLS profile: a browser's handshake by curl-impersonate, under our guard and pace.

One connection per request: when a kept connection turns out to be closed, libcurl resends the request by itself and
ignores every delay. It follows no redirects, keeps no cookies, and dials only the address that the guard allowed. Known
weaknesses: curl reports the write only once the response head is there, so the last clock check comes before the
connection is made (two requests to a host that is slow to connect may be closer than its delay); the limits on headers
are curl's own (300 KB); a response's bytes on the wire are checked ten times a second, on Linux only, so that a fast
server can exceed the limit a little.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Response

from crawler.errors import AddressRefusedError, ConfigError, ProxyError
from crawler.handlers.connecting import connect_seconds, too_slow
from crawler.handlers.deadline import Deadline
from crawler.handlers.resolver import Resolver
from crawler.handlers.route import route
from crawler.handlers.wire_turn import WireTurn
from crawler.policy.rules.domains import Rules, load_rules
from crawler.worker.turns.unsent import MissedError

if TYPE_CHECKING:
    from crawler.handlers.impersonation.handler import Impersonating

_HTTPS_PORT: Final = 443


class TlsProfiles:
    """The handler of https requests whose domain names a `tls_profile`; raises ConfigError without the extra `tls`."""

    guards_addresses = True

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._rules: Rules = load_rules(crawler.settings["DOMAINS_FILE"])
        rules = (self._rules.default, *self._rules.by_host.values())
        wanted = [one.tls_profile for one in rules if one.tls_profile not in {None, "none"}]
        self._resolver = Resolver.of(crawler) if wanted else None
        self._connect_seconds = connect_seconds(crawler.settings)
        if wanted:
            self._impersonating = _load(wanted[0])
        crawler.signals.connect(self.close, signals.engine_stopped)

    def of(self, request: Request) -> TlsProfiles | None:
        """This handler if the request's domain asks for it, else None."""
        if self._resolver is None or not request.url.startswith("https:"):
            return None
        return self if self._profile(request) != "none" else None

    async def download_request(self, request: Request) -> Response:
        """As Scrapy's; raises AddressRefusedError from the guard."""
        wire_turn = WireTurn.of(request)
        address = await self._judged(request)
        if not wire_turn.allowed():
            raise MissedError
        wire_turn.leaving()
        try:
            response = await self._downloaded(request, _pin(request, address), wire_turn)
        except DownloadConnectionRefusedError as error:
            if address is None:  # curl has one error for everything that fails on the way to the target
                raise ProxyError(f"proxy {request.meta['proxy']}: {error}") from None
            raise
        if address is not None and str(response.ip_address) != address:
            raise AddressRefusedError(f"curl connected to {response.ip_address}, though told to connect to {address}")
        return response

    async def _downloaded(self, request: Request, pin: list[str], wire_turn: WireTurn) -> Response:
        began, seconds = monotonic(), self._seconds(request)
        profile, to_connect = self._profile(request), min(seconds, self._connect_seconds)
        handler = self._impersonating(self._crawler, profile, pin, wire_turn, to_connect)
        try:
            async with Deadline(seconds):  # curl's own limit is for a server that sends nothing
                return await handler.download_request(request)
        except (UnsupportedURLSchemeError, ValueError) as error:  # no HTTP, or a head that makes no sense
            raise DownloadFailedError(str(error)) from error
        except DownloadTimeoutError:
            if to_connect < seconds > monotonic() - began:
                raise too_slow(route(request), to_connect) from None
            raise
        except TimeoutError:
            raise DownloadTimeoutError(f"Getting {request.url} took longer than {seconds} seconds.") from None
        finally:
            await handler.close()

    async def close(self) -> None:
        """Drop pending look-ups."""
        if self._resolver is not None:
            self._resolver.close()

    def _seconds(self, request: Request) -> float:
        return float(request.meta.get("download_timeout") or self._crawler.settings.getfloat("DOWNLOAD_TIMEOUT"))

    def _profile(self, request: Request) -> str:
        return self._rules.for_url(request.url).tls_profile or "none"

    async def _judged(self, request: Request) -> str | None:
        """The address to dial; None if a proxy resolves the name."""
        assert self._resolver is not None
        host = urlsplit(request.url).hostname or ""
        if request.meta.get("proxy"):
            await self._resolver.check(host, resolving=self._crawler.settings.getbool("GUARD_RESOLVE_PROXIED"))
            return None
        return (await self._resolver.resolve(host))[0]


def _load(profile: str | None) -> type[Impersonating]:
    try:
        from crawler.handlers.impersonation.handler import Impersonating
    except ImportError:
        allowed = "no profile, or the extra `tls` installed: pip install './shoal[tls]'"
        raise ConfigError("tls_profile", profile, allowed) from None
    return Impersonating


def _pin(request: Request, address: str | None) -> list[str]:
    """curl's replacement for DNS: every name maps to the address, however the host is spelled."""
    if address is None:
        return []
    shown = f"[{address}]" if ":" in address else address
    return [f"*:{urlsplit(request.url).port or _HTTPS_PORT}:{shown}"]
