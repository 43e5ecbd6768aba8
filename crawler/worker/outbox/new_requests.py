"""Requests on their way into the frontier: those found on pages, and those of `start()`, which no page waits for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Handle, Message, PushOutcome
from crawler.frontier.server.shards import url_in
from crawler.worker.outbox.children import Children
from crawler.worker.outbox.lost_links import LostLinks
from crawler.worker.outbox.offers import Offers
from crawler.worker.outbox.redis_room import RedisRoom


class NewRequests:
    """`children` are never refused by our own limits, or their page could not end; `offers` wait while it is full.

    *confirmed* is called for each stored request, *complete* for each page whose requests are all stored, *answered*
    after each call.
    """

    def __init__(
        self,
        frontier: Frontier,
        stats: StatsCollector,
        room: RedisRoom,
        links: LostLinks,
        confirmed: Callable[[Message], None],
        complete: Callable[[Handle], None],
        answered: Callable[[], None],
    ) -> None:
        self._frontier = frontier
        self._stats = stats
        self._room = room
        self._confirmed = confirmed
        self._complete = complete
        self._answered = answered
        shards = frontier.shards
        self.children = Children(
            lambda one: shards.of_host(one.host), self._stored, self._completed, links, shards.away
        )
        refused = partial(stats.inc_value, names.REFUSED)
        self.offers = Offers(self._stored, refused, lambda one: shards.serves(one.host))
        self._largest: tuple[str, int] | None = None

    def __len__(self) -> int:
        return len(self.children) + len(self.offers)

    @property
    def slows(self) -> bool:
        """Whether leasing has to slow down for those found on pages."""
        return self.children.slows(self._frontier.shards.there)

    def largest_waiting(self) -> tuple[str, int] | None:
        """URL of the page whose requests need the most room, and the bytes; remembered after it is put off, until there
        is room."""
        if (largest := self.children.largest) is not None:
            found = url_in(largest[0]), largest[1]
            self._largest = found if self._largest is None or found[1] >= self._largest[1] else self._largest
        elif not self._room.full:
            self._largest = None
        return self._largest

    def try_now(self) -> None:
        """Retry at the next `send` what was refused."""
        self.children.try_now()
        self.offers.try_now()

    def due(self) -> bool:
        """Whether `send` has anything to do."""
        return self.children.due() or self.offers.due()

    async def send(self) -> None:
        """Send everything there is room for; the frontier's errors pass through."""
        await self.children.send(partial(self._push, forced=True))
        if self.slows:
            self._room.refused()
        await self.offers.send(partial(self._push, forced=False))

    async def _push(self, batch: Sequence[Message], *, forced: bool) -> list[PushOutcome]:
        outcomes = await self._frontier.push(batch, forced=forced)
        self._answered()
        return outcomes

    def _stored(self, message: Message, outcome: PushOutcome) -> None:
        self._stats.inc_value(names.PUSHED if outcome is PushOutcome.ACCEPTED else names.DUPLICATES)
        self._confirmed(message)

    def _completed(self, page: Handle) -> None:
        self._largest = None
        self._complete(page)
