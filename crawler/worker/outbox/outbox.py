"""Everything this worker sends to the frontier, in batches and in the order that loses nothing.

A flush sends starts and reports (they free hosts) and new requests side by side, then the endings of the pages they
came from: a page ends only after its own children are stored, whatever Redis answers. What a flush could not send stays
in front. Children that Redis has no room for delay only their own page: other endings free memory.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.errors import FrontierUnavailableError, ShardAwayError
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Handle, Message, Report
from crawler.frontier.server.outage import RedisOutage
from crawler.worker.outbox.children import AGAIN_SECONDS
from crawler.worker.outbox.entries_away import EntriesAway
from crawler.worker.outbox.lease_endings import Ending, handle_of
from crawler.worker.outbox.lost_links import LostLinks
from crawler.worker.outbox.new_requests import NewRequests
from crawler.worker.outbox.pending_counts import PendingCounts
from crawler.worker.outbox.queues import both, resolve
from crawler.worker.outbox.redis_room import RedisRoom
from crawler.worker.outbox.returns import Returns
from crawler.worker.outbox.settler import Settler
from crawler.worker.outbox.waiting_endings import WaitingEndings

FLUSH_SECONDS: Final = 0.005  # how long a batch is collected before it is sent


class Outbox:
    """Filled from anywhere in the worker without waiting; `run` sends it."""

    def __init__(
        self,
        frontier: Frontier,
        stats: StatsCollector,
        outage: RedisOutage,
        confirmed: Callable[[Message], None],
        wake: Callable[[], None],
        room: RedisRoom,
    ) -> None:
        """*confirmed* is called for each stored request; *wake* when there may be more to lease."""
        self._frontier = frontier
        self._stats = stats
        self._outage = outage
        self._wake = wake
        self._filled = asyncio.Event()
        self._lost_links = LostLinks()
        self.new = NewRequests(frontier, stats, room, self._lost_links, confirmed, self._complete, self._pushed)
        self._waiting = WaitingEndings(self.new.children, frontier.config.lease_ms / 1000)
        self.counts = PendingCounts(frontier, self._filled.set)
        self._settler = Settler(frontier, stats, self._lost_links, wake)
        self.breakers = self._settler.breakers
        self._returns = Returns(frontier, stats, self._lost_links, self._settler.sender.count_stale)
        self._abandoned: deque[Handle] = deque()
        self._queues: tuple[deque[Any], ...] = (*self._settler.queues, self._abandoned, *self._returns.queues)
        self._aside = EntriesAway(self._queues)
        self._flushing = asyncio.Lock()
        self._flushing_since: float | None = None  # or its last answer
        self._closing = False
        self.broken = False

    def __len__(self) -> int:
        if self.broken:
            return 0
        waiting = len(self._aside) + len(self.counts) + len(self.new) + len(self._waiting)
        return sum(map(len, self._queues)) + waiting + self._flushing.locked()

    @property
    def waiting(self) -> list[Handle]:
        """Pages that have ended except for unstored children: their leases have to be renewed."""
        return self._waiting.handles

    def push(self, message: Message, parent: Handle, page: bytes = b"") -> None:
        """Queue a child of leased work. Our own limits never refuse it, or its *parent*, the request *page*, could not
        end."""
        self.new.children.add(message, parent, page)
        self._filled.set()

    def offer(self, message: Message) -> None:
        """Queue a request that no page waits for (a start request); while the frontier is full it waits here."""
        self.new.offers.add(message)
        self._filled.set()

    def ending(self) -> list[Handle]:
        """The leases whose ending waits here to be sent; thread-safe."""
        return [*map(handle_of, list(self._settler.endings)), *self._waiting.handles]

    def offer_again(self) -> None:
        """Retry at once what the frontier refused because it was full."""
        self.new.offers.try_now()
        self._filled.set()

    def end(self, ending: Ending) -> None:
        """End a lease, after all that was pushed as its children."""
        self._settler.endings.append(ending)
        self._filled.set()

    def abandon(self, handle: Handle) -> None:
        """The lease is lost: whoever has its page now finds its children too."""
        self._abandoned.append(handle)
        self._filled.set()

    def give_back(self, handle: Handle) -> None:
        """Return a lease that was not started, uncharged."""
        self._returns.given_back.append(handle)
        self._filled.set()

    def lose(self) -> None:
        """What Redis confirmed last may be gone: pages under way find their requests again, start requests are sent
        again."""
        self._lost_links.lose()
        self.new.offers.lose()
        self._filled.set()

    def report(self, report: Report) -> None:
        """Report how the host answered, which frees its slot."""
        self._settler.reports.append(report)
        self._filled.set()

    def start(self, handle: Handle, *, on_wire: bool = False) -> asyncio.Future[bool]:
        """Charge a delivery; False if the lease is no longer ours. *on_wire*: it is being sent now."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if self.broken:
            future.set_result(False)
            return future
        (self._settler.starts if on_wire else self._settler.suspects).append((handle, future))
        self._filled.set()
        return future

    def give_up(self) -> None:
        """Send nothing any more: release all waiters and leave the leases to expire."""
        self.broken = True
        self._aside.sort(())
        waiting = [*self._settler.suspects, *self._settler.starts]
        resolve(waiting, [False] * len(waiting))

    def stuck_for(self, closing: float) -> float:
        """Seconds that the current flush has been waiting for an answer of Redis, or, since *closing* (on the monotonic
        clock), what was set aside: a shard may be away for hours while others are crawled."""
        aside = self._aside.since and max(self._aside.since, closing)
        return max((monotonic() - since for since in (self._flushing_since, aside) if since), default=0.0)

    async def run(self) -> None:
        """Flush while the worker lives: at once after a pause, else with a short one between."""
        flushed = float("-inf")
        while True:
            patience = AGAIN_SECONDS if self.new or self._waiting else None
            with suppress(TimeoutError):
                await asyncio.wait_for(self._filled.wait(), patience)
            await asyncio.sleep(max(0.0, flushed + FLUSH_SECONDS - monotonic()))
            await self.flush()
            flushed = monotonic()

    async def close(self) -> None:
        """Send everything there is room for, and give back pages whose children find none."""
        self.new.try_now()
        await self.flush()
        self._closing = True
        await self.flush()
        while not self.broken and (self._aside or self.new.offers.away or self.counts.due):  # of shards that are away
            await asyncio.sleep(AGAIN_SECONDS)
            self.new.offers.try_now()
            await self.flush()

    async def flush(self) -> None:
        """Send everything that waits now; returns when it is sent, however long Redis is away, but for what is about
        shards that are away."""
        async with self._flushing:
            self._filled.clear()
            self._flushing_since = monotonic()
            while not await self._try_flush():
                pass
            self._flushing_since = None

    async def _try_flush(self) -> bool:
        self.new.offers.forget_old()
        away = self._frontier.shards.away
        if not self.broken and (away or self._aside):
            self._aside.sort(away)
        if self.broken or not (any(self._queues) or self.new.due() or self._waiting or self.counts.due):
            return True
        self._forget_abandoned()
        self._give_up_waiting()
        endings = len(self._settler.endings)  # later ones may belong to children pushed while this flush runs
        try:
            await self.counts.send()
            await self._settler.send_suspects()
            if self.new.due():
                await both(self._settler.send(0), self.new.send())
            await self._settler.send(await self._hold_back(endings))
            await self._returns.send()
            await self.breakers.judge()
        except ShardAwayError:
            return False  # others go on
        except FrontierUnavailableError as error:
            await self._outage.wait(error)
            return False
        self._outage.over()
        return True

    def _pushed(self) -> None:
        self._flushing_since = monotonic()  # a page may have 300,000 links
        self._wake()

    def _complete(self, handle: Handle) -> None:
        """All children of a page are stored: its ending goes out with the next flush."""
        if (ending := self._waiting.release(handle)) is not None:
            self.end(ending)

    async def _hold_back(self, count: int) -> int:
        """Take endings with unstored children out of the first *count*; returns how many of these are left.

        Such a page was fetched and parsed: while it waits for room it is not charged, however that ends.
        """
        held = self._waiting.hold_back(self._settler.endings, count) if self.new.children else []
        if held and self.new.children.refused:
            self._stats.inc_value(names.WAITED_FOR_ROOM, len(held))
            await self._frontier.renew(held, for_room=True)
        return min(count - len(held), len(self._settler.endings))

    def _give_up_waiting(self) -> None:
        """Give back pages that have waited longer than a lease."""
        endings, pages = self._waiting.give_up(everything=self._closing)
        self._settler.endings.extend(endings)
        self._returns.put_off.extend(pages)

    def _forget_abandoned(self) -> None:
        if self._abandoned:
            lost = [self._abandoned.popleft() for _ in range(len(self._abandoned))]
            self._waiting.forget(lost)
            self._lost_links.ended(lost)
