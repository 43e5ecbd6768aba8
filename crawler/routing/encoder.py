"""Turns requests into frontier messages, for workers and for `scrapy push`."""

from __future__ import annotations

from copy import copy
from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol, Self

from scrapy import Request, Spider
from scrapy.settings import BaseSettings
from scrapy.utils.request import RequestFingerprinterProtocol

from crawler import urls
from crawler.errors import CodecError, ConfigError, MessageError
from crawler.frontier.messages import MAX_NAME, Message
from crawler.frontier.streams import stream_of
from crawler.routing import codec, fingerprint, meta_values
from crawler.routing.host_rules import HostRule, HostRules
from crawler.routing.scoping import Scopes
from crawler.routing.tier_routing import TierRouting
from crawler.utils.caches import LONGEST, Memo

LONGEST_SPIDER: Final = MAX_NAME - 15  # bytes of a name; a queue's has that of a tier, too
LATEST: Final = 1e11  # Unix seconds; anything later is probably milliseconds


class QueuePlace(NamedTuple):
    """Where a request belongs, and its identity."""

    rule: HostRule
    stream: str
    digest: bytes

    @property
    def fingerprint(self) -> int:
        """The fingerprint as the frontier stores it."""
        return fingerprint.number(self.digest)


class Tracer(Protocol):
    """Begins the traces of requests; tracing/pushes.py is the one."""

    def wants(self, fingerprint: int) -> bool:
        """Whether a request is traced."""

    def mark(self, request: Request, fingerprint: int) -> None:
        """*request* is about to be queued."""


def check_name(spider: Spider | type[Spider]) -> None:
    """Raises ConfigError for a spider whose name cannot be that of queues."""
    name = str(spider.name or "")
    if not name.isprintable() or not 0 < len(name.encode(errors="replace")) <= LONGEST_SPIDER or set(":!") & set(name):
        allowed = (
            f"a name without ':', '!' or what cannot be printed, of at most {LONGEST_SPIDER} bytes: "
            "it is a part of the names of queues"
        )
        raise ConfigError("name of the spider", spider.name, allowed)


class Encoder:
    """Encodes the requests of one spider, with host rules and tiers."""

    def __init__(
        self,
        spider: Spider | type[Spider],
        settings: BaseSettings,
        fingerprinter: RequestFingerprinterProtocol,
        tier_routing: TierRouting,
    ) -> None:
        """Raises ConfigError for an unusable spider name or setting."""
        check_name(spider)
        self.spider = spider
        self.rules = HostRules.from_settings(settings)
        self.scopes = Scopes(spider, settings, self.rules.domains)
        self.tier_routing = tier_routing
        self.tracer: Tracer | None = None
        self._fingerprinter = fingerprinter
        self._links: Memo[tuple[HostRule, bytes]] | None = None  # of plain links by URL, if nothing else matters
        if type(fingerprinter) is fingerprint.RequestFingerprinter:
            self._links = Memo(self._link, 16_384, LONGEST)

    @property
    def by_url_alone(self) -> bool:
        """Whether a plain GET is known by its URL, in the way of our own fingerprinter."""
        return self._links is not None

    def without_traces(self) -> Self:
        """This encoder, sharing all it knows, for a look at requests that are not queued: it begins no trace."""
        other = copy(self)
        other.tracer = None
        return other

    def place(self, request: Request) -> QueuePlace:
        """Where *request* belongs; encodes nothing yet. Raises MessageError if its URL cannot be fetched, CodecError
        for anything else that is unusable, and nothing else."""
        slot = request.meta.get("download_slot")
        if slot:
            _check_slot(request, slot)
        try:
            if self._links is not None and not slot and not request.body and request.method == "GET":
                rule, digest = self._links[request.url]  # a site's links recur on each of its pages
            else:
                urls.check(request.url)
                rule, digest = self.rules.of(request), self._fingerprinter.fingerprint(request)
            return QueuePlace(rule, stream_of(self.spider.name, self.tier_routing.tier(request, rule)), digest)
        except MessageError:
            raise
        except ValueError as error:
            raise MessageError(f"not a URL ({error}): {request.url!r}") from None
        except Exception as error:  # for example from the project's own fingerprinter
            raise _unforeseen(request, error) from error

    def rule(self, request: Request) -> HostRule:
        """The rule of *request*, which was queued; raises CodecError if it has none, as its record has been altered."""
        if slot := request.meta.get("download_slot"):
            _check_slot(request, slot)
        try:
            return self.rules.of(request)
        except ValueError as error:
            raise CodecError(f"not a URL ({error}): {request.url!r}") from error

    def _link(self, url: str) -> tuple[HostRule, bytes]:
        request = Request(urls.check(url))
        return self.rules.of(request), self._fingerprinter.fingerprint(request)

    def message(self, request: Request, *, generation: str, dedupe: bool, place: QueuePlace | None = None) -> Message:
        """*request* as a frontier message; raises CodecError if it cannot be stored, MessageError if its URL cannot be
        fetched, and nothing else, whatever a spider put into it."""
        place = place or self.place(request)
        not_before_ms = _not_before_ms(request)
        if self.tracer is not None:
            self.tracer.mark(request, place.fingerprint)
        try:
            meta_values.check(request)
            return self._message(request, place, not_before_ms, generation, dedupe)
        except (CodecError, MessageError):
            raise
        except Exception as error:
            raise _unforeseen(request, error) from error

    def template(self, request: Request, *, generation: str) -> Message:
        """The same for a request that is not queued itself: others are made after it."""
        return self._message(request, self.place(request), 0, generation, dedupe=True)

    def _message(
        self, request: Request, place: QueuePlace, not_before_ms: int, generation: str, dedupe: bool
    ) -> Message:
        rule = place.rule
        pages, pages_per_host = self.scopes.of(generation).pages(request.url)
        return Message(
            host=rule.group,
            stream=place.stream,
            spider=self.spider.name,
            body=codec.encode(request, self.spider),
            fingerprint=place.fingerprint,
            digest=place.digest,
            priority=int(request.priority),  # of a subclass nothing is known
            dedupe=dedupe,
            generation=generation,
            not_before_ms=not_before_ms,
            delay_ms=rule.delay_ms,
            cap=rule.cap,
            burst=rule.burst,
            pages=pages,
            pages_per_host=pages_per_host,
            depth=_depth(request) if pages or pages_per_host else 0,
        )


def _depth(request: Request) -> int:
    depth = request.meta.get("depth", 0)
    return max(0, depth) if isinstance(depth, int) else 0


def _check_slot(request: Request, slot: Any) -> None:
    if not isinstance(slot, str) or not slot.isprintable() or len(slot.encode()) > MAX_NAME:
        raise codec.refused(request, "meta['download_slot']", slot, f"printable text of at most {MAX_NAME} bytes")


def _not_before_ms(request: Request) -> int:
    """`meta["not_before"]`: Unix seconds, or a datetime with a time zone."""
    value: Any = request.meta.get("not_before", 0)
    seconds = value
    if isinstance(value, datetime) and value.tzinfo is not None:
        seconds = value.timestamp()
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < LATEST:
        allowed = "Unix seconds, or a datetime with a time zone"
        raise codec.refused(request, "meta['not_before']", value, allowed)
    return round(seconds * 1000)


def _unforeseen(request: Request, error: Exception) -> CodecError:
    return CodecError(f"{codec.shown(request)} cannot be queued ({type(error).__name__}: {error})")
