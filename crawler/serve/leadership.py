"""Leads while it can: renews the leader's lease, and does the leader's work under it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from crawler.frontier.errors import FrontierError, FrontierUnavailableError
from crawler.frontier.state.leader import DeposedError, Lead, Leader, LeaderLease
from crawler.serve.outage import ServiceOutage
from crawler.utils import tasks

ASKS: Final = 3  # times per lease period: two may fail
REFUSED_SECONDS: Final = 5.0  # after an error that waiting does not cure

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LeaderTask:
    """A task of the leader, run every *seconds*. It has to be safe when two run it at once: see Lead."""

    name: str
    seconds: float
    call: Callable[[Lead], Awaitable[None]]


def boot_clock() -> float:
    """A clock that continues while the machine sleeps, as leases do."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Leadership:
    """One replica's part in leading. A failing task is logged and retried; it stops no other."""

    def __init__(
        self,
        leader: Leader,
        lease_seconds: float,
        work: Sequence[LeaderTask],
        clock: Callable[[], float] = boot_clock,
    ) -> None:
        self._leader = leader
        self._lease_seconds = lease_seconds
        self._work = work
        self._outage = ServiceOutage(clock)
        self._clock = clock
        self._until = 0.0
        self._answered = clock()
        self._running: list[asyncio.Task[None]] = []
        self.standing: LeaderLease | None = None  # by the last answer
        self.lead: Lead | None = None  # while this replica leads

    async def run(self) -> None:
        """Run until cancelled; then another replica may lead at once."""
        try:
            while True:
                seconds = await self._ask()
                await asyncio.sleep(seconds)
        finally:
            await self._stop()

    async def resign(self) -> None:
        """Let another replica lead at once. To be called after `run`."""
        if self.standing is not None and self.standing.is_ours:
            await self._leader.resign()

    @property
    def silence(self) -> float:
        """Seconds since Redis last answered; thread-safe."""
        return self._clock() - self._answered

    def holds(self) -> bool:
        """Whether the lease is still valid, by our own clock from before the call."""
        return self._clock() < self._until

    async def _ask(self) -> float:
        """Ask once; returns the seconds to wait before the next time."""
        began = self._clock()
        try:
            standing = await asyncio.wait_for(self._leader.ask(), self._lease_seconds)
        except (FrontierUnavailableError, TimeoutError) as error:
            self._outage.failed(error, began)
            await self._lapse()
            return min(1.0, self._lease_seconds / ASKS)
        except FrontierError as error:  # it says all: a traceback at each try would only hide it
            logger.error("No leader's lease; asking again in %.0f s: %s", REFUSED_SECONDS, error)
            await self._lapse()
            return REFUSED_SECONDS
        self._outage.over()
        self._answered = self._clock()
        await self._stand(standing, began)
        return min(self._lease_seconds / ASKS, standing.left_ms / 1000 + 0.05)

    async def _stand(self, standing: LeaderLease, began: float) -> None:
        if standing.lost_data:
            logger.error("Redis has lost its data, and with it all schedules: add them again")
        before, self.standing = self.standing, standing
        if before is None or (before.holder, before.token) != (standing.holder, standing.token):
            whom = "This replica leads" if standing.is_ours else f"{standing.holder} leads"
            logger.info("%s (token %d)", whom, standing.token)
        if not standing.is_ours:
            await self._stop()
            return
        if self.lead is not None and (self.lead.token != standing.token or self._is_over()):
            await self._stop()
        self._until = began + self._lease_seconds
        if self.lead is None:
            self.lead = Lead(standing.token, self.holds)
            self._running = [asyncio.create_task(self._again(task, self.lead), name=task.name) for task in self._work]

    def _is_over(self) -> bool:
        """Whether a task has ended: this process was frozen beyond its lease, which nobody took, or Redis was emptied
        meanwhile. The token is the same then, and nobody else would do the work."""
        return any(task.done() for task in self._running)

    async def _lapse(self) -> None:
        if self.lead is not None and not self.holds():
            logger.warning("The leader's lease has expired and Redis does not answer: this replica no longer leads")
            await self._stop()

    async def _stop(self) -> None:
        self.lead, self._until = None, 0.0
        running, self._running = self._running, []
        await tasks.end(*running)

    async def _again(self, task: LeaderTask, lead: Lead) -> None:
        while lead.holds():
            began = self._clock()
            try:
                await task.call(lead)
            except DeposedError:
                return
            except FrontierUnavailableError as error:
                self._outage.failed(error, self._clock())  # it may have worked for days before
            except FrontierError as error:
                logger.error("%s failed; retrying: %s", task.name, error)
            except Exception:
                logger.exception("%s failed; retrying", task.name)
            await asyncio.sleep(max(0.0, task.seconds - (self._clock() - began)))
