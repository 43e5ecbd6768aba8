"""Runs: every push, schedule tick and start of a spider is one, with an id, a name, counters and an end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from crawler.frontier.messages import MAX_NAME, WorkerState
from crawler.frontier.run_record import (
    Overlap,
    Run,
    RunError,
    RunSkippedError,
    UnknownRunError,
    generation_of,
    read_run,
    run_id_of,
)
from crawler.frontier.runs.control import Control, Target, run_target
from crawler.frontier.runs.plain_runs import KnownRuns, PlainRuns
from crawler.frontier.runs.run_snapshot import RunSnapshot
from crawler.frontier.script_constants import RUNS_AT_ONCE
from crawler.frontier.server.shards import Shards, pack
from crawler.frontier.server.wire_format import flag
from crawler.frontier.state.workers import Workers

_OPENED, _KNOWN, _BUSY = 0, 1, 2  # as in lua/runs/run_open.lua
WAIT_SECONDS: Final = 1.0  # between checks whether a run has finished
RETRY: Final = "dead retry"  # a producer that takes seconds, and is never gone on with:
LEFT_MS: Final = 3_600_000  # where nothing has happened to its open run for so long, it was killed


class Runs:
    """A run ends when it is sealed and everything it accepted is done, dead or dropped: whoever notices (a worker,
    `scrapy serve`, `scrapy runs wait`) ends it, exactly once."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self.plain = PlainRuns(shards)
        self._workers = Workers(shards)
        self._anew: dict[str, bool] = {}

    async def open(
        self,
        spider: str,
        *,
        name: str = "",
        fresh: bool = False,
        producer: str = "",
        key: str = "",
        overlap: Overlap = "refuse",
        shares: str = "",
        links: bool = True,
    ) -> Run:
        """Open a run; a second call with the same *key* returns the run of the first.

        *fresh*: known URLs are crawled again; else its fingerprints are those of the spider's current generation, or of
        the generation *shares*. *overlap*: what to do while a run of this spider and name is not over; without a name
        none is in the way. Raises RunError when that is refused, RunSkippedError for "skip"; "queue" returns when the
        other is over; "replace" cancels it. *links*: whether the links of its pages are followed, which those of a
        fresh run need not be.
        """
        _check(name=name, producer=producer, key=key, spider=spider)
        overlaps, kept = flag(overlap == "allow"), self._shards.config.runs_kept
        asked = (spider, name, producer, key, overlaps, flag(fresh), shares, kept)
        while True:
            outcome, raw = await self._shards.run("run_open", 0, *asked)
            run = _read(raw)
            if outcome != _BUSY:
                break
            await self._make_way(run, overlap)
        if not run.is_over and not (run.fresh and links):
            await self._shards.run_all("run_share", spider, run.generation, run.shares)
        return run

    async def _make_way(self, run: Run, overlap: Overlap) -> None:
        """Return when another try is worthwhile; raises RunError if it is not."""
        if await self.settle():
            return  # it may have finished unnoticed
        if overlap == "queue":
            await asyncio.sleep(WAIT_SECONDS)
            return
        if overlap == "replace":
            await self.cancel(run.id, run.opened_ms)
            await self.clear()
            return
        kind = RunSkippedError if overlap == "skip" else RunError
        words = f"run {run.id} of {run.spider} is also named {run.name!r} and is not over ({run.state})"
        raise kind(words, run)

    async def seal(self, run_id: str) -> Run:
        """Nothing more will be pushed to it: it ends with its last page. Raises RunError if there is no such run."""
        return await self._change(run_id, "sealed")

    async def seal_seen(self, run: Run) -> Run | None:
        """As `seal`, of *run* and none that was given its number since, as Redis was emptied; None where it is lost."""
        with suppress(UnknownRunError):
            return await self._change(run.id, "sealed", run.opened_ms)
        return None

    async def cancel(self, run_id: str, opened_ms: int = 0) -> Run:
        """End it with what is leased now: scripts drop what would be queued again, and `clear` what is queued.

        Raises RunError where there is no such run, or another than *opened_ms* tells of, and for one in the crawl that
        start URLs join, which goes on behind it; one that is over stays as it is.
        """
        if (run := await self.get(run_id)) is not None and run.is_plain and not run.is_over:
            words = f"run {run_id} is part of the crawl that plain starts and start URLs join, which goes on"
            raise RunError(f"{words}: `scrapy control purge --spider {run.spider}` drops what is queued", run)
        raw = await self._shards.run("run_cancel", 0, run_id, opened_ms)
        if not raw:
            raise UnknownRunError(run_id, was_there=opened_ms > 0)
        run = _read(raw)
        if not run.is_over:
            await Control(self._shards).say("cancel", run_target(run))
        return run

    async def alarm(self, run_id: str) -> bool:
        """Too many of its requests fail: told once, as an event for hooks. Whether this call did."""
        generation_of(run_id)
        return bool(await self._shards.run("run_alarm", 0, run_id))

    async def clear(self) -> int:
        """Drop what is queued of cancelled runs; returns how many requests that was. Any worker may call this."""
        cancelled = [run for run in (await self.unfinished())[1] if run.cancelled_ms]
        control, total = Control(self._shards), 0
        for run in cancelled:
            await control.say("cancel", run_target(run))  # whoever cancelled it may have been killed in between
            if (await self._snapshot()).counted(run).counts.queued:
                total += await control.sift(Target(run.spider, run.generation), "drop", "cancelled")
        return total + await control.sort_aside(cancelled=bool(cancelled))

    async def resume(self, run_id: str) -> Run:
        """Reopen it for pushes, sealed or not; raises RunError if it has ended or does not exist."""
        run = await self._change(run_id, "open")
        if run.is_over or run.cancelled_ms:
            what = run.state if run.is_over else "cancelled"
            raise RunError(f"run {run_id} is {what}: a run that is over never goes on, open another one", run)
        if run.shares:  # whoever opened it may have been killed before it had said so everywhere
            await self._shards.run_all("run_share", run.spider, run.generation, run.shares)
        return run

    async def _change(self, run_id: str, state: str, opened_ms: int = 0) -> Run:
        generation_of(run_id)
        raw = await self._shards.run("run_seal", 0, run_id, state, opened_ms)
        if not raw:
            raise UnknownRunError(run_id)
        return _read(raw)

    async def known(self, run_id: str, opened_ms: int = 0) -> Run:
        """As `get`; raises UnknownRunError, also for another than *opened_ms* tells of."""
        run = await self.get(run_id)
        if run is None or opened_ms not in {0, run.opened_ms}:
            raise UnknownRunError(run_id, was_there=opened_ms > 0)
        return run

    async def get(self, run_id: str) -> Run | None:
        """The run with that id and its counts; None if there is none (any more)."""
        raw = await self._shards.client.hget(self._shards.key(0, "runs"), run_id)
        run = read_run(raw) if raw else None
        if run is None or run.is_over:
            return run
        return (await self._snapshot()).counted(run)

    async def find(self, spider: str | None = None, *, limit: int = 20) -> list[Run]:
        """The newest runs, of *spider* or of all, newest first, with their counts."""
        client, found = self._shards.client, list[Run]()
        for at in range(0, await client.zcard(self._shards.key(0, "runs:at")), _PAGE):
            ids = await client.zrevrange(self._shards.key(0, "runs:at"), at, at + _PAGE - 1)
            raws = await client.hmget(self._shards.key(0, "runs"), ids) if ids else []
            runs = (read_run(raw) for raw in raws if raw)
            found += [run for run in runs if run is not None and spider in {None, run.spider}]
            if len(found) >= limit:
                break
        if all(run.is_over for run in found[:limit]):
            return found[:limit]
        snapshot = await self._snapshot()
        return [snapshot.counted(run) for run in found[:limit]]

    def forget(self) -> None:
        """Redis may have lost its runs, and given their numbers to others."""
        self._anew.clear()

    async def revisits(self, generation: str) -> bool:
        """Whether pages of *generation* may have been fetched in an earlier one."""
        run_id = run_id_of(generation)
        if not run_id:
            return generation != "0"
        if generation not in self._anew:
            raw = await self._shards.client.hget(self._shards.key(0, "runs"), run_id)
            run = read_run(raw) if raw else None
            self._anew[generation] = run is None or run.fresh or run.shares != "0"
        return self._anew[generation]

    async def begin(self, spider: str, generation: str) -> Run:
        """The run of a plain start in *generation*: the unfinished one there, or a new one."""
        run = await self.plain.begin(spider, generation)
        assert run is not None
        return run

    async def unfinished(self) -> tuple[str, list[Run]]:
        """The last generation number given to a run, and the unfinished runs, without counts."""
        known = await self._known(0)
        assert known is not None
        return known.last, known.runs

    async def under_way(self, spider: str | None = None) -> list[Run]:
        """The unfinished runs, of *spider* or of all, newest first, with their counts."""
        found = [run for run in (await self.unfinished())[1] if spider in {None, run.spider}]
        snapshot = await self._snapshot() if found else RunSnapshot({}, 0)
        return sorted(map(snapshot.counted, found), key=lambda run: run.opened_ms, reverse=True)

    async def _known(self, turn_ms: int) -> KnownRuns | None:
        """What the script `runs` tells, in calls that hold the server up for a moment each; None out of turn."""
        if not (answer := await self._shards.run("runs", 0, turn_ms)):
            return None
        while left := answer[5]:
            more = await self._shards.run("runs", 0, 0, *left[:RUNS_AT_ONCE])
            answer[4] += more[4]
            answer[5] = more[5] + left[RUNS_AT_ONCE:]
        return KnownRuns.of(answer)

    async def settle(self, *, turn_ms: int = 0, leaving: str = "") -> list[Run]:
        """End finished runs, and begin those that started implicitly; returns the runs ended by this call.

        *turn_ms*: does nothing if another such call was made within that time. *leaving*: the calling worker, if it is
        about to sign off.

        A run's counters change in the script that changes what they count, and children are pushed before their parent
        is acknowledged. So two snapshots of all shards that agree on a generation show one moment of it, whatever
        changes elsewhere: its accepted count only grows.
        """
        if (known := await self._known(turn_ms)) is None:
            return []
        first = await self._snapshot()
        if first.uncounted:
            return []  # unknown is not finished
        runs = [*known.runs, *await self.plain.begun(known, first)]
        alive = await self._workers.alive() if any(run.is_plain and run.state == "open" for run in runs) else []
        sealed = [run for one in runs if (run := await self._sealed(one, known, first, alive, leaving))]
        over = [run for run in sealed if not first.counted(run).counts.pending]
        over = [run for run in over if not run.is_plain or not await self.plain.awaits(run, known)]
        if not over:
            return []
        second = await self._snapshot()
        found = [await self._end(run, second) for run in over if first.agrees(second, run)]
        return [run for run in found if run is not None]

    async def _sealed(
        self, run: Run, known: KnownRuns, snapshot: RunSnapshot, alive: Sequence[WorkerState], leaving: str
    ) -> Run | None:
        """*run* once it is sealed: a plain one by whoever sees that it is complete; one that its producer left open,
        when nothing has happened to it for FRONTIER_RETENTION_SECONDS, or LEFT_MS."""
        if run.state != "open":
            return run if run.state == "sealed" else None
        if run.is_plain:
            is_complete = await self.plain.is_complete(run, known, snapshot, alive, leaving)
        else:
            idle = snapshot.quiet_ms(run) >= (LEFT_MS if run.producer == RETRY else self._shards.config.retention_ms)
            is_complete = idle and not snapshot.counted(run).counts.pending
        return await self.seal_seen(run) if is_complete else None

    async def _end(self, run: Run, snapshot: RunSnapshot) -> Run | None:
        counters = snapshot.counters(run.spider, run.generation)
        until = pack(counters) if run.is_plain else b""
        counts = pack(run.counted(counters).counts.stored())
        if not (raw := await self._shards.run("run_end", 0, run.id, run.sealed_ms, counts, until, run.asked)):
            return None
        if run.is_plain:
            await self._shards.run_all("run_since", run.spider, run.generation)
        await Control(self._shards).say("resume", run_target(run))  # or what is over would be held back for ever
        return _read(raw)

    async def _snapshot(self) -> RunSnapshot:
        return RunSnapshot.of(await self._shards.stats_all())


_PAGE: Final = 100


def _check(**texts: str) -> None:
    for what, text in texts.items():
        if len(text.encode(errors="replace")) > MAX_NAME or not text.isprintable():
            raise RunError(f"{what} {text!r:.80} of a run: expected at most {MAX_NAME} bytes that can be printed")


def _read(raw: Any) -> Run:
    run = read_run(raw)
    if run is None:
        raise RunError(f"a run's record in Redis is damaged: {raw!r:.200}")
    return run
