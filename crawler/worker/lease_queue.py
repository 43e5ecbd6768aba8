"""scrapy-redis' queue interface over the frontier: the leases that wait in this worker."""

from __future__ import annotations

from scrapy import Request, Spider
from scrapy.settings import BaseSettings
from scrapy_redis.queue import Base

from crawler.errors import ConfigError
from crawler.frontier.messages import Lease
from crawler.frontier.server.scripts import Client
from crawler.frontier.streams import stream_of, tier_of
from crawler.policy import tiers
from crawler.routing import codec
from crawler.routing.encoder import Encoder
from crawler.routing.tier_routing import TierRouting
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_buffer import Buffer


class FrontierQueue(Base):  # type: ignore[misc]
    """scrapy-redis' queue: here a buffer, with the encoding to and from Redis.

    The constructor takes scrapy-redis' arguments. *key* is accepted but unused, because all spiders share one frontier
    (FRONTIER_KEY); a *serializer* is refused: requests are msgpack, never pickle.
    """

    def __init__(self, server: Client, spider: Spider, key: str, serializer: object = None) -> None:
        if serializer is not None:
            raise ConfigError(
                "SCHEDULER_SERIALIZER", serializer, "None: requests are stored as msgpack, never as pickle"
            )
        self.server = server
        self.spider = spider
        self.key = key % {"spider": spider.name}
        self.buffer = Buffer()
        settings = spider.crawler.settings
        self.tier_routing = TierRouting(served_tiers(settings))
        self.encoder = Encoder(spider, settings, spider.crawler.request_fingerprinter, self.tier_routing)

    def __len__(self) -> int:
        """The number of leases buffered in this worker; `scrapy status` shows what waits in Redis."""
        return len(self.buffer)

    def push(self, request: Request) -> None:
        """Refused: the frontier is not filled one request at a time and without parents."""
        raise NotImplementedError("use Scheduler.enqueue_request(), which stores children before their parent ends")

    def pop(self, timeout: int = 0) -> HeldLease | None:
        """The next lease of the buffer; never waits, *timeout* is ignored."""
        return self.buffer.pop()

    def request(self, lease: Lease) -> Request:
        """The request of *lease*, its tier in meta; raises CodecError if this worker cannot decode it, or it
        belongs to no host."""
        request = codec.decode(lease.body, self.spider)
        codec.check_arguments(lease.body, request, self.spider)
        request.meta["tier"] = tier_of(lease.stream)
        self.encoder.rule(request)
        return request

    def tier_elsewhere(self, request: Request) -> tiers.Tier | None:
        """The tier that *request*, just leased, has to move to instead of being fetched; else None."""
        return self.tier_routing.elsewhere(request, self.encoder.rules.of(request), request.meta["tier"])

    def streams(self) -> list[str]:
        """The streams that this worker leases from."""
        return [
            stream_of(self.spider.name, tier) for tier in self.tier_routing.own if tier not in self.tier_routing.spent
        ]

    def clear(self) -> None:
        """Refused: a worker never deletes shared state."""
        raise NotImplementedError("a worker never deletes shared work: `scrapy push --recrawl` starts a new generation")


def served_tiers(settings: BaseSettings) -> tuple[tiers.Tier, ...]:
    """The tiers of this worker, http if TIER is unset; raises ConfigError."""
    if settings.get("TIER") is None:
        return tiers.TIERS[:1]
    if not (served := tiers.listed(settings, "TIER")):
        raise ConfigError("TIER", settings["TIER"], "one or more of " + ", ".join(tiers.TIERS))
    return served
