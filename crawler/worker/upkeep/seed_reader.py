"""Moves start URLs from the spider's key into the frontier: leased, pushed, and removed once they are stored.

What a push command or a schedule sends does not pass here; what a seed becomes is the encoder's matter.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from typing import Final

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy_redis.spiders import RedisMixin

from crawler import scrapy_hooks
from crawler import stats as names
from crawler.errors import ShoalError
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Message
from crawler.frontier.server.drops import same_server
from crawler.frontier.state.seeds import Seed, Seeds
from crawler.routing.encoder import Encoder
from crawler.utils.masking import mask
from crawler.worker.scope_cuts import ScopeCuts
from crawler.worker.upkeep.generation import CurrentGeneration

SEEDS_AT_ONCE = 64
MOST_SHOWN = 200  # bytes of an entry in an error
_LOGIN: Final = re.compile(rb"""(https?://|//(?=[^\s/?#"'<>\\@:]*:))[^\s/?#"'<>\\]*@""", re.IGNORECASE)

logger = logging.getLogger(__name__)


class SeedReader:
    """Reads while the frontier has room; `queue` is None for a spider without a key of start URLs."""

    def __init__(
        self,
        crawler: Crawler,
        frontier: Frontier,
        encoder: Encoder,
        generation: CurrentGeneration,
        cuts: ScopeCuts,
        wake: Callable[[], None],
    ) -> None:
        """*wake* is called when there is more to lease."""
        self._crawler = crawler
        self._frontier = frontier
        self._encoder = encoder
        self._generation = generation
        self._cuts = cuts
        self._wake = wake
        key = start_key(crawler.spider)
        self.queue = Seeds.from_settings(frontier.client, key, crawler.settings) if key else None
        self._full = ""
        self._reading = asyncio.Lock()

    async def finish(self) -> None:
        """Return once the start URLs in hand are stored; a closing worker takes no more."""
        async with self._reading:
            pass

    async def pending(self) -> bool:
        """Whether start URLs are left to read."""
        return self.queue is not None and bool(await self.queue.pending())

    async def read(self) -> None:
        """Move start URLs into the frontier while there are full batches."""
        async with self._reading:
            while await self._read_some() == SEEDS_AT_ONCE:
                pass

    async def _read_some(self) -> int:
        """Each leaves its key only once its requests are stored; returns how many did."""
        if self.queue is None:
            return 0
        if scrapy_hooks.is_closing(self._crawler.engine) or self._crawler.engine.paused:
            return 0
        await self._generation.ensure()
        self._say_full(await self._frontier.why_full())
        if self._full or not (seeds := await self.queue.lease(SEEDS_AT_ONCE)):
            return 0
        messages = [await self._messages(seed) for seed in seeds]
        with same_server(self._frontier.client):  # another one may have lost what this one was told
            stored = await self._push(seeds, messages)
        self._crawler.stats.inc_value(names.SEEDS, len(stored))
        self._wake()
        return len(stored)

    async def _push(self, seeds: Sequence[Seed], messages: Sequence[Sequence[Message]]) -> list[Seed]:
        """Push their *messages*, then end the leases of *seeds*; returns those that the frontier had room for."""
        assert self.queue is not None
        outcomes = iter(await self._frontier.push([one for asked in messages for one in asked]))
        stored: list[Seed] = []
        refused: list[Seed] = []
        for seed, asked in zip(seeds, messages, strict=True):
            full = max([next(outcomes).is_full for _ in asked], default=False)
            (refused if full else stored).append(seed)
        await self.queue.ack(stored)
        await self.queue.give_back(refused)
        return stored

    def _say_full(self, why: str) -> None:
        if why and not self._full:
            logger.warning("No start URLs are accepted for now: %s", why)
        if self._full and not why:
            logger.warning("Start URLs are accepted again")
        self._full = why

    async def _messages(self, seed: Seed) -> list[Message]:
        """The messages of *seed*; an invalid one becomes a dead letter and has none.

        Any exception of a spider's own `make_request_from_data` is about this entry and must not end the worker.
        """
        spider, generation = self._crawler.spider, self._generation.id
        assert isinstance(spider, RedisMixin)
        try:
            made = spider.make_request_from_data(seed.raw)
            requests = [made] if isinstance(made, Request) else list(made or ())
            kept = [r for r in requests if not self._is_cut(r, generation)]
            return [self._encoder.message(r, generation=generation, dedupe=not r.dont_filter) for r in kept]
        except Exception as error:
            words = _words(error, seed)
            is_news = await self._frontier.dead.bury_seed(
                without_passwords(seed.raw),
                spider=spider.name,
                reason="bad_seed",
                detail={"error": words},
                generation=generation,
            )
            if not is_news:
                logger.info("A start URL is a dead letter already: %s", words)
                return []
            self._crawler.stats.inc_value(names.SEEDS_BAD)
            is_stock = type(spider).make_request_from_data is RedisMixin.make_request_from_data
            unforeseen = None if is_stock or isinstance(error, ShoalError) else error
            logger.error("A start URL became a dead letter: %s", words, exc_info=unforeseen)
            return []

    def _is_cut(self, request: Request, generation: str) -> bool:
        rule = self._encoder.scopes.of(generation).pushed(request.url)
        if rule:
            self._cuts.count(rule, request.url, generation)
        return bool(rule)


def without_passwords(raw: bytes) -> bytes:
    """*raw*, which need be no URL, without user and password of what is one: no request would have them."""
    return _LOGIN.sub(rb"\1", raw)


def _words(error: Exception, seed: Seed) -> str:
    """What a person reads of it; an error that is not ours does not name the entry."""
    if isinstance(error, ShoalError):
        return mask(str(error))
    entry = seed.raw[:MOST_SHOWN].decode(errors="replace")
    return mask(f"{type(error).__name__}: {error}: no request can be made of {entry!r}")


def start_key(spider: Spider | None) -> str:
    """The Redis key of *spider*'s start URLs; empty for a spider without one."""
    return str(spider.redis_key or "") if isinstance(spider, RedisMixin) else ""
