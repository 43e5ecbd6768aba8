"""Everything this worker tells the frontier, in batches and in the one order that loses nothing.

A flush sends starts and reports (they free hosts) and new requests side by side, then the endings of the pages they
came from: a page is acknowledged only after its children are stored. What a flush could not send stays in front.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Handle, Message, PushOutcome, Report
from crawler.frontier.server.outage import UNAVAILABLE, Outage
from crawler.frontier.server.shards import BATCH
from crawler.frontier.streams import tier_of
from crawler.worker.lease_endings import Bury, Ending, Move, Nack

logger = logging.getLogger(__name__)
T = TypeVar("T")


Start = tuple[Handle, asyncio.Future[bool]]


class Outbox:
    """Filled without waiting from anywhere in the worker; `run` sends it."""

    def __init__(
        self,
        frontier: Frontier,
        stats: StatsCollector,
        outage: Outage,
        flush_seconds: float,
        confirmed: Callable[[Message], None],
        wake: Callable[[], None],
    ) -> None:
        """*confirmed* is told of each request that is stored; *wake* when there may be more to lease than before."""
        self._frontier = frontier
        self._stats = stats
        self._outage = outage
        self._flush_seconds = flush_seconds
        self._confirmed = confirmed
        self._wake = wake
        self._starts: deque[Start] = deque()
        self._suspects: deque[Start] = deque()  # charged before they are sent
        self._reports: deque[Report] = deque()
        self._pushes: deque[Message] = deque()
        self._offers: deque[Message] = deque()
        self._endings: deque[Ending] = deque()
        self._given_back: deque[Handle] = deque()
        before: tuple[deque[Any], ...] = (self._suspects, self._starts, self._reports, self._pushes, self._offers)
        self._queues = (*before, self._endings, self._given_back)  # in the order in which they are sent
        self._refused: list[Message] = []
        self._filled = asyncio.Event()
        self._flushing = asyncio.Lock()
        self.broken = False

    def __len__(self) -> int:
        return sum(map(len, self._queues)) + len(self._refused) + self._flushing.locked()

    def push(self, message: Message) -> None:
        """Queue a child of leased work: backpressure never holds it up, or its parent could not end."""
        self._pushes.append(message)
        self._filled.set()

    def offer(self, message: Message) -> None:
        """Queue a request that nothing waits for (a start URL); while the frontier is full it waits here."""
        self._offers.append(message)
        self._filled.set()

    def ending(self) -> list[Handle]:
        """The leases whose end waits here to be told, for any thread."""
        return [one if isinstance(one, tuple) else one.handle for one in list(self._endings)]

    def offer_again(self) -> None:
        """Try once more what the frontier refused for being full."""
        refused, self._refused = self._refused, []
        for message in refused:
            self.offer(message)

    def end(self, ending: Ending) -> None:
        """Settle a lease, after everything pushed so far."""
        self._endings.append(ending)
        self._filled.set()

    def give_back(self, handle: Handle) -> None:
        """Return a lease that was not started, uncharged."""
        self._given_back.append(handle)
        self._filled.set()

    def report(self, report: Report) -> None:
        """Tell how the host answered; frees its slot."""
        self._reports.append(report)
        self._filled.set()

    def start(self, handle: Handle, *, on_wire: bool = False) -> asyncio.Future[bool]:
        """Charge a delivery; False when the lease is no longer ours. *on_wire*: it goes out at this moment."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if self.broken:
            future.set_result(False)
            return future
        (self._starts if on_wire else self._suspects).append((handle, future))
        self._filled.set()
        return future

    def give_up(self) -> None:
        """Nothing will be sent any more: let go of who waits, and leave the leases to expire."""
        self.broken = True
        waiting = [*self._suspects, *self._starts]
        _answer(waiting, [False] * len(waiting))
        for queue in self._queues:
            queue.clear()

    async def run(self) -> None:
        """Flush for as long as the worker lives."""
        while True:
            await self._filled.wait()
            await asyncio.sleep(self._flush_seconds)
            await self.flush()

    async def flush(self) -> None:
        """Send all that is waiting now; returns when it is sent, however long Redis is away."""
        async with self._flushing:
            self._filled.clear()
            while not await self._try_flush():
                pass

    async def _try_flush(self) -> bool:
        if not any(self._queues):
            return True
        endings = len(self._endings)  # later ones may belong to children pushed while this flush runs
        try:
            await _drain(self._suspects, len(self._suspects), self._send_suspects)
            if self._pushes or self._offers:
                await _both(self._settle(0), self._send_new())
            await self._settle(endings)
            await _drain(self._given_back, len(self._given_back), self._send_given_back)
        except UNAVAILABLE as error:
            await self._outage.wait(error)
            return False
        self._outage.over()
        return True

    async def _send_new(self) -> None:
        await _drain(self._pushes, len(self._pushes), partial(self._send_messages, forced=True))
        await _drain(self._offers, len(self._offers), partial(self._send_messages, forced=False))

    async def _send_suspects(self, batch: Sequence[Start]) -> None:
        _answer(batch, await self._frontier.start([handle for handle, _ in batch]))

    async def _settle(self, endings: int) -> None:
        """Starts and reports, with the first *endings* endings: one call for all but the few that are no acks."""
        while self._starts or self._reports or endings > 0:
            starts, reports = list(islice(self._starts, BATCH)), list(islice(self._reports, BATCH))
            ended = list(islice(self._endings, min(endings, BATCH)))
            acks = [ending for ending in ended if isinstance(ending, tuple)]
            if starts or reports or acks:
                answers = await self._frontier.settle([handle for handle, _ in starts], reports, acks)
                _answer(starts, answers[0])
                _drop(self._starts, len(starts))
                self._reported(reports, answers[1])
                _drop(self._reports, len(reports))
                if reports:
                    self._wake()
                if acks:
                    self._stats.inc_value(names.ACKED, sum(answers[2]))
                    self._count_stale(answers[2])
            await self._send_endings(ended)
            _drop(self._endings, len(ended))
            endings -= len(ended)

    def _reported(self, batch: Sequence[Report], answers: Sequence[int]) -> None:
        self._count_stale(answers)
        for report, answer in zip(batch, answers, strict=True):
            if answer > 1:
                self._stats.inc_value(names.BREAKER_OPENED)
                logger.warning(
                    "%s does not work: no worker visits it for %.0f s, then one request tries",
                    report.host,
                    answer / 1000,
                )
            elif answer < 0:
                self._stats.inc_value(names.BREAKER_CLOSED)
                logger.info("%s works again", report.host)

    async def _send_messages(self, batch: Sequence[Message], *, forced: bool) -> None:
        for message, outcome in zip(batch, await self._frontier.push(batch, forced=forced), strict=True):
            self._pushed(message, outcome)
        self._wake()

    def _pushed(self, message: Message, outcome: PushOutcome) -> None:
        match outcome:
            case PushOutcome.ACCEPTED:
                self._stats.inc_value(names.PUSHED)
                self._confirmed(message)
            case PushOutcome.DUPLICATE | PushOutcome.DUPLICATE_DEAD:
                self._stats.inc_value(names.DUPLICATES)
                self._confirmed(message)
            case _:
                self._refuse(message, outcome)

    def _refuse(self, message: Message, outcome: PushOutcome) -> None:
        self._stats.inc_value(names.REFUSED)
        if not self._refused:
            logger.warning("The frontier takes no new start URLs (%s): they wait in this worker", outcome)
        self._refused.append(message)

    async def _send_endings(self, batch: Sequence[Ending]) -> None:
        for ending in batch:
            if isinstance(ending, Nack):
                await self._nack(ending)
            elif isinstance(ending, Move):
                await self._move(ending)
            elif isinstance(ending, Bury):
                body, priority = ending.body, ending.priority
                ours = await self._frontier.bury(
                    *ending.handle, reason=ending.reason, detail=ending.detail, body=body, priority=priority
                )
                self._stats.inc_value(names.BURIED.format(ending.reason), int(ours))
                self._count_stale([ours])

    async def _nack(self, nack: Nack) -> None:
        ours = await self._frontier.nack(
            *nack.handle, delay_ms=nack.delay_ms, body=nack.body, priority=nack.priority, reason=nack.reason
        )
        self._stats.inc_value(names.NACKED, int(ours))
        self._stats.inc_value(names.NACKED_FOR.format(nack.reason), int(ours))
        logger.debug("%s is put back for %d ms: %s", nack.handle[0], nack.delay_ms, nack.reason)
        self._count_stale([ours])

    async def _move(self, move: Move) -> None:
        how = {"stream": move.stream, "delay_ms": move.delay_ms, "body": move.body, "priority": move.priority}
        ours = await self._frontier.move(*move.handle, **how)  # type: ignore[arg-type]
        self._stats.inc_value(names.TIER_MOVES.format(tier_of(move.stream)), int(ours))
        self._count_stale([ours])

    async def _send_given_back(self, batch: Sequence[Handle]) -> None:
        answers = await self._frontier.give_back(batch)
        self._stats.inc_value(names.GIVEN_BACK, sum(answers))

    def _count_stale(self, answers: Sequence[int]) -> None:
        if stale := sum(not answer for answer in answers):
            self._stats.inc_value(names.STALE, stale)


async def _both(one: Awaitable[None], other: Awaitable[None]) -> None:
    """Side by side, each to its end; then raises what failed."""
    for result in await asyncio.gather(one, other, return_exceptions=True):
        if result is not None:
            raise result


async def _drain(queue: deque[T], count: int, send: Callable[[Sequence[T]], Awaitable[None]]) -> None:
    """Send the first *count* entries; each leaves the queue only once its batch was sent."""
    while count > 0:
        batch = list(islice(queue, min(count, BATCH)))
        await send(batch)
        _drop(queue, len(batch))
        count -= len(batch)


def _drop(queue: deque[Any], count: int) -> None:
    for _ in range(count):
        queue.popleft()


def _answer(batch: Sequence[Start], answers: Sequence[bool]) -> None:
    for (_, future), ours in zip(batch, answers, strict=True):
        if not future.done():  # its request may have been cancelled meanwhile
            future.set_result(ours)
