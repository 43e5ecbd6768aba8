"""Makes frontier messages out of requests, for a worker and for `scrapy push` alike."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy import Request, Spider
from scrapy.settings import BaseSettings
from scrapy.utils.request import RequestFingerprinterProtocol

from crawler import urls
from crawler.errors import MessageError
from crawler.frontier import codec, fingerprint
from crawler.frontier.guide import TierGuide, stream_of
from crawler.frontier.hostrules import HostRule, HostRules
from crawler.frontier.messages import Message


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request belongs, and what it is known by."""

    rule: HostRule
    stream: str
    digest: bytes

    @property
    def fingerprint(self) -> int:
        """As the frontier stores it."""
        return fingerprint.number(self.digest)


class Encoder:
    """Knows the spider, how hosts are to be treated, and in which tier they are."""

    def __init__(
        self,
        spider: Spider | type[Spider],
        settings: BaseSettings,
        fingerprinter: RequestFingerprinterProtocol,
        guide: TierGuide,
    ) -> None:
        self.spider = spider
        self.rules = HostRules.from_settings(settings)
        self.guide = guide
        self._fingerprinter = fingerprinter

    def place(self, request: Request) -> Place:
        """Where *request* belongs; encodes nothing yet. Raises MessageError when its URL cannot be fetched."""
        urls.check(request.url)
        try:
            rule, digest = self.rules.of(request), self._fingerprinter.fingerprint(request)
        except ValueError as error:
            raise MessageError(f"not a URL ({error}): {request.url!r}") from None
        return Place(rule, stream_of(self.spider.name, self.guide.tier(request, rule)), digest)

    def message(self, request: Request, *, generation: str, dedupe: bool, place: Place | None = None) -> Message:
        """*request* as the frontier takes it; raises CodecError when it cannot be stored, MessageError when its URL
        cannot be fetched."""
        place = place or self.place(request)
        rule = place.rule
        return Message(
            host=rule.group,
            stream=place.stream,
            spider=self.spider.name,
            body=codec.encode(request, self.spider),
            fingerprint=place.fingerprint,
            digest=place.digest,
            priority=request.priority,
            dedupe=dedupe,
            generation=generation,
            not_before_ms=round(request.meta.get("not_before", 0) * 1000),
            delay_ms=rule.delay_ms,
            cap=rule.cap,
            burst=rule.burst,
        )
