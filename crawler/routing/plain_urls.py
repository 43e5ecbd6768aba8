"""Push rows of plain URLs, at a tenth of the cost of a Request and a Message.

A URL is plain if Scrapy and `urls.canonicalize` change nothing but the order of its parameters: lower case, no port, no
dot segments, nothing to quote. Most pushed URLs are. The rows equal those of `Encoder.message` byte for byte; other
URLs go through that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha1
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast
from urllib.parse import urlsplit

import msgpack
from scrapy import Request

from crawler import urls
from crawler.errors import MessageError
from crawler.frontier.pushing import Row
from crawler.frontier.server.wire_format import RowsLike
from crawler.frontier.streams import stream_of
from crawler.meta import TABLE
from crawler.routing import codec, fingerprint
from crawler.routing.encoder import Encoder
from crawler.urls import MAX_URL_LENGTH, TRACKING
from crawler.utils.caches import Memo

HOSTS: Final = 16_384  # remembered, in about 10 MB
_plain: Final = re.compile(
    r"(https?://)([a-z0-9-]+(?:\.[a-z0-9-]+)+)(/[A-Za-z0-9/%!$&'()*+,:;=@~._-]*)"
    r"(?:\?([A-Za-z0-9_.~-]+=[A-Za-z0-9_.~-]*(?:&[A-Za-z0-9_.~-]+=[A-Za-z0-9_.~-]*)*))?"
).fullmatch
_NAME: Final = re.compile(
    r"(?:(?!..--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!..--)[a-z][a-z0-9-]{0,61}[a-z0-9]"
).fullmatch
_tracking: Final = TRACKING.match
_TEMPLATE: Final = "http://a.example/"
_FIELDS: Final = {"url", "meta"}
_STEERING: Final = frozenset(key.name for key in TABLE)


class PlainUrls:
    """Rows for the spider of *encoder*: deduplicated, of one generation and priority. What is known of tiers when a
    host is first met applies to all its URLs. None for what the scope excludes, unless *in_scope* says that somebody
    has looked."""

    def __init__(self, encoder: Encoder, generation: str, priority: int, *, in_scope: bool = False) -> None:
        self._encoder = encoder
        self._generation = generation
        self._tracer = encoder.tracer
        scope = encoder.scopes.of(generation)
        self._excluded = scope.pushed if scope.excludes and not in_scope else None
        # By the domain's rules: like those of the first such host.
        self._kinds: dict[int, tuple[str, RowsLike] | None] = {}
        self._hosts: Memo[tuple[str, RowsLike] | None] = Memo(self._host, HOSTS, MAX_URL_LENGTH)
        template = Request(_TEMPLATE, priority=priority)
        self._template = encoder.template(template, generation=generation)
        packed = self._template.body
        self._before, _, self._after = packed.partition(msgpack.packb(_TEMPLATE))
        self._rest = {"p": priority} if priority else {}
        self._pack = msgpack.Packer(datetime=True).pack

    def row(self, url: str) -> Row | None:
        """The row of *url*; None if it is not plain."""
        if (found := _plain(url)) is None or (canonical := _canonical(found)) is None:
            return None
        return self._row(found[2], url, canonical, b"".join((self._before, self._pack(url), self._after)))

    def looked_at(self, url: str) -> Row | None:
        """The row of a URL that Scrapy escapes or that has other forms; at half of the cost. None if it is unusual."""
        try:
            url = urls.check(Request(urls.check(url)).url)
            host, canonical = urlsplit(url).hostname, urls.canonicalize(url)
        except (MessageError, ValueError):
            return None  # reported when a message is made of it
        if host is None:
            return None
        return self._row(host, url, canonical, b"".join((self._before, self._pack(url), self._after)))

    def row_of(self, fields: dict[str, Any]) -> Row | None:
        """The row of a message with a plain URL and at most meta that the crawler ignores; else None."""
        url, meta = fields.get("url"), fields.get("meta", {})
        if not fields.keys() <= _FIELDS or type(url) is not str or type(meta) is not dict or not _is_own(meta):
            return None
        if (found := _plain(url)) is None or (canonical := _canonical(found)) is None:
            return None
        try:
            body = self._pack({"u": url} | ({"d": meta} if meta else {}) | self._rest)
        except (ValueError, OverflowError):  # a lone surrogate, nested too deeply, a number of more than 64 bits
            return None
        return self._row(found[2], url, canonical, body) if len(body) <= codec.MAX_BYTES else None

    def _row(self, host: str, url: str, canonical: str, body: bytes) -> Row | None:
        if (like := self._hosts[host]) is None or (self._excluded is not None and self._excluded(url)):
            return None
        digest = sha1(b"GET\n%b\n" % canonical.encode(), usedforsecurity=False).digest()
        number = fingerprint.number(digest)
        if self._tracer is not None and self._tracer.wants(number):
            return None  # its trace begins where a message is made of it
        return like[0], like[1].row(number, digest, body)

    def _host(self, host: str) -> tuple[str, RowsLike] | None:
        """How URLs of *host* are queued; None if the host may be rewritten."""
        if not self._encoder.by_url_alone or not _is_name(host):
            return None
        rules = self._encoder.rules
        site = rules.domains.for_host(host)
        if not rules.is_alone(host, site) or host in self._encoder.tier_routing.hosts:
            return self._host_of_its_own(host)
        if (kind := id(site)) not in self._kinds:
            self._kinds[kind] = self._host_of_its_own(host)
        like = self._kinds[kind]
        return like and (host, like[1].at(host))

    def _host_of_its_own(self, host: str) -> tuple[str, RowsLike] | None:
        url = f"http://{host}/"
        scope = self._encoder.scopes.of(self._generation)
        try:
            rule = self._encoder.rules.of(plain := cast("Request", _Plain(url)))
            stream = stream_of(self._encoder.spider.name, self._encoder.tier_routing.tier(plain, rule))
            pages, per_host = scope.pages(url)
            message = replace(
                self._template,
                host=rule.group,
                stream=stream,
                delay_ms=rule.delay_ms,
                cap=rule.cap,
                burst=rule.burst,
                pages=pages,
                pages_per_host=per_host,
            )
        except (MessageError, ValueError):
            return None
        return message.host, RowsLike.of(message)


class _Plain(NamedTuple):
    """What rules look at of a request for a plain URL."""

    url: str
    meta: Mapping[str, Any] = MappingProxyType({})


def _is_name(host: str) -> bool:
    """Whether *host* is a name as DNS has them: no address, which may be written in several ways."""
    return len(host) <= 253 and _NAME(host) is not None


def _is_own(meta: dict[str, Any]) -> bool:
    """Whether all of *meta* is the spider's own."""
    return _STEERING.isdisjoint(meta) and not any(name.startswith("playwright") for name in meta)


def plain_form(url: str) -> str | None:
    """`canonicalize(url)` if that differs from *url* at most in the order of parameters; None if it may differ more."""
    return None if (found := _plain(url)) is None else _canonical(found)


def _canonical(found: re.Match[str]) -> str | None:
    """`plain_form` of what `_plain` has matched."""
    url, query = found[0], found[4]
    if len(url) > MAX_URL_LENGTH or "/." in found[3]:
        return None
    if query is None:
        return url
    if "&" not in query:
        return None if _tracking(query.partition("=")[0]) else url
    pairs = [pair.split("=") for pair in query.split("&")]
    if any(_tracking(name) for name, _ in pairs):
        return None
    pairs.sort()
    return f"{found[1]}{found[2]}{found[3]}?{'&'.join(map('='.join, pairs))}"
