"""Downloader middleware that gives requests the header profile of their domain."""

from __future__ import annotations

from typing import Final, Self
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import ACCEPTED_ENCODINGS
from scrapy.exceptions import NotConfigured
from scrapy.http import Headers
from scrapy.utils.python import without_none_values

from crawler import config
from crawler.meta import HEADER_PROFILE
from crawler.policy.headers import PROFILES, Profile
from crawler.policy.rules.domains import Rules, load_rules
from crawler.worker.scheduler import in_use

_DECODABLE: Final = frozenset(name.decode() for name in ACCEPTED_ENCODINGS)


class HeadersMiddleware:
    """Runs after the default headers, which a profile replaces, and before USER_AGENT, whose place it takes.

    A request with its own User-Agent is left alone, and so is robots.txt: there we say who we are.
    """

    def __init__(self, rules: Rules, defaults: Headers) -> None:
        self._rules = rules
        self._defaults = defaults

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off where no domain names a profile, or the spider does not use the shared frontier."""
        if not in_use(crawler.settings):
            raise NotConfigured
        rules = load_rules(crawler.settings["DOMAINS_FILE"])
        if not any(rule.headers in PROFILES for rule in (rules.default, *rules.by_host.values())):
            raise NotConfigured
        return cls(rules, Headers(without_none_values(config.mapping(crawler.settings, "DEFAULT_REQUEST_HEADERS"))))

    def process_request(self, request: Request) -> None:
        """Set the profile's headers."""
        if profile := request.meta.pop(HEADER_PROFILE, None):
            self._undress(request, PROFILES[profile])
        name = self._rules.for_url(request.url).headers
        own = {key: values for key, values in request.headers.items() if values != self._defaults.getlist(key)}
        if name is None or name == "none" or b"User-Agent" in own or urlsplit(request.url).path == "/robots.txt":
            return
        plain = {_text(key): _text(b", ".join(values)) for key, values in own.items()}
        dressed = PROFILES[name].dress(request.url, plain, _DECODABLE)
        request.headers.clear()
        for key, value in dressed.items():
            request.headers.setlist(key, own.get(key.encode(), [value]))
        request.meta[HEADER_PROFILE] = name

    def _undress(self, request: Request, profile: Profile) -> None:
        """Restore the original headers: the next domain may use another profile, or none."""
        for key, values in list(request.headers.items()):
            if profile.sends(_text(key), _text(b", ".join(values))):
                del request.headers[key]
        for key, values in self._defaults.items():
            request.headers.setdefault(key, values)


def _text(value: bytes) -> str:
    return value.decode("latin-1")
