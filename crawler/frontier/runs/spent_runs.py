"""Runs whose own budget is spent for good: it never renews, so what is left of them is dropped, and they end."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final, NamedTuple

from crawler.frontier.errors import FrontierFullError
from crawler.frontier.run_record import Run
from crawler.frontier.runs.control import Control
from crawler.frontier.runs.runs import Runs
from crawler.frontier.runs.sitemaps import Sitemaps
from crawler.frontier.server.shards import Shards
from crawler.frontier.state.budgets import KINDS
from crawler.frontier.streams import stream_of
from crawler.policy.tiers import TIERS
from crawler.utils.plural import several

REASON: Final = "budget"  # of what is dropped
TURN_MS: Final = 900  # between two looks, for any number of workers
QUIET_MS: Final = 10_000  # within which whoever names sitemaps has queued all of them
DROPPING_MS: Final = 60_000  # after which another worker drops beside this one, or in its place
_ROW: Final = struct.Struct("<9d")  # same layout as in lua/limits/run_budget.lua
_NOTHING: Final = (0.0,) * 9


class SpentRun(NamedTuple):
    """*requests* of *run* were dropped, as *what* (of KINDS) of its budget is spent."""

    run: Run
    what: str
    requests: int

    @property
    def told(self) -> str:
        """One line for a log."""
        left = several(self.requests, "request")
        return (
            f"Run {self.run.id} of {self.run.spider}: its budget is spent ({self.what}); dropped what was left: {left}"
        )


class SpentRuns:
    """Whoever looks drops it in slices, as of a cancelled run; what is pushed later goes with the next look."""

    def __init__(self, shards: Shards, runs: Runs) -> None:
        self._shards = shards
        self._runs = runs
        self._control = Control(shards)
        self._sitemaps = Sitemaps(shards)

    async def drop(self) -> AsyncIterator[SpentRun]:
        """Drop what is left of such runs, unless another worker looks; tells of each run of which something was."""
        if not await self._takes_turn(TURN_MS) or not (budgeted := await self._budgeted()):
            return
        runs = [run for run in await self._runs.under_way() if run.id in budgeted and not run.counts.leased]
        for run in runs:
            if not run.counts.pending:
                await self._seal(run)
            elif (dropped := await self._dropped(run)) is not None:
                yield dropped

    async def is_spent(self, run: Run) -> bool:
        """Whether its budget has no room; what is leased and was not sent may give some back."""
        return bool((await self._standing(run))[1])

    async def _seal(self, run: Run) -> None:
        """Seal a run that waits for sitemaps which were dropped: the last one to be read would."""
        if run.state != "open" or run.quiet_ms < QUIET_MS or not await self._sitemaps.left(run.spider, run.generation):
            return
        leased, what = await self._standing(run)
        if what and not leased:
            await self._runs.seal_seen(run)

    async def _dropped(self, run: Run) -> SpentRun | None:
        leased, what = await self._standing(run)
        if leased or not what:
            return None
        await self._takes_turn(DROPPING_MS, anew=True)
        try:
            requests = await self._control.drop(run, REASON)
        finally:  # a worker that closes leaves the rest to others
            await self._takes_turn(TURN_MS, anew=True)
        return SpentRun(run, KINDS[what], requests) if requests else None

    async def _standing(self, run: Run) -> tuple[float, str]:
        """How many of its requests are leased, and which kind of its budget is spent on all shards, "" for none.

        Requests that are leased count as spent, and no longer when they go back or end unsent. Where none is leased
        while all is spent that remains so: each shard is asked at a moment of its own, but whatever one of them could
        spend after that it would have been given by one that was not asked yet, whose share is smaller then.
        """
        streams = [f"{stream_of(run.spider, tier)}:{run.generation}" for tier in TIERS]
        answers = await self._shards.run_all("run_budget", _budget_of(run), *streams)
        leased, *columns = zip(_NOTHING, *(_ROW.unpack(answer) for answer in answers if answer), strict=True)
        used, most = map(sum, columns[:4]), map(max, columns[4:])
        spent = (what for what, has, limit in zip(KINDS, used, most, strict=True) if 0 < limit <= has)
        return sum(leased), next(spent, "")

    async def _budgeted(self) -> set[str]:
        runs = (await self._runs.unfinished())[1]
        names = [_budget_of(run) for run in runs]
        terms = await self._shards.client.hmget(self._shards.key(0, "budgets"), names) if names else []
        return {run.id for run, raw in zip(runs, terms, strict=True) if raw}

    async def _takes_turn(self, ms: int, *, anew: bool = False) -> bool:
        """Where Redis is full nobody waits for a turn: what is dropped makes room."""
        with suppress(FrontierFullError):
            return bool(await self._shards.client.set(self._shards.key(0, "spent:turn"), "1", nx=not anew, px=ms))
        return True


def _budget_of(run: Run) -> str:
    return f"r:{run.spider}:{run.generation}"
