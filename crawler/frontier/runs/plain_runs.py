"""Runs of plain starts and of start URLs in their key: begun by the first URL, sealed when no more will come.

They use the spider's current generation and never change it. Its counters continue from run to run: each counts what
came since the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, cast, get_args

from msgpack.exceptions import UnpackException

from crawler.errors import ConfigError
from crawler.frontier.errors import FrontierRefusedError
from crawler.frontier.messages import WorkerState
from crawler.frontier.run_record import Run, read_run
from crawler.frontier.runs.run_snapshot import RunSnapshot
from crawler.frontier.server.scripts import Client
from crawler.frontier.server.shards import Shards, unpack
from crawler.frontier.server.wire_format import pairs
from crawler.frontier.state.seeds import Kind, Seeds

_KINDS: Final = get_args(Kind)
LOST: Final = "lost"  # see lua/runs/run_begin.lua
LEASED: Final = "leased"  # likewise


@dataclass(frozen=True, slots=True)
class KnownRuns:
    """What shard 0 knows: unfinished runs, and for each spider its current generation, its start-URLs key, and the
    accepted count at which its last plain run ended."""

    last: str
    current: Mapping[str, str]
    starts: Mapping[str, str]
    until: Mapping[str, tuple[str, int]]
    runs: list[Run]

    @classmethod
    def of(cls, answer: list[Any]) -> Self:
        """Decode the answer of the script `runs`."""
        last, current, starts, until, raws, _ = answer
        ends = {spider.decode(errors="replace"): end for spider, raw in pairs(until) if (end := _end(raw)) is not None}
        runs = [run for raw in raws if (run := read_run(raw)) is not None]
        return cls(last.decode(), _texts(current), _texts(starts), ends, runs)


class PlainRuns:
    """Infers runs from counters, heartbeats and start-URLs keys."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def serves(self, spider: str, key: str, kind: str) -> None:
        """Note that workers of *spider* take start URLs from *key*; "" for none."""
        await self._shards.run("run_serves", 0, spider, f"{kind} {key}" if key else "")

    async def begin(self, spider: str, generation: str, accepted: int | str = "") -> Run | None:
        """The unfinished run in *generation*, else a new one; None if nothing was accepted since the last."""
        raw = await self._shards.run("run_begin", 0, spider, generation, accepted, self._shards.config.runs_kept)
        return read_run(raw) if raw else None

    async def holding(self, spider: str, generation: str) -> Run | None:
        """The run that a lease held in *generation* is part of, begun now if need be; None for an older generation.

        It cannot end before that lease does.
        """
        return await self.begin(spider, generation, LEASED)

    async def begun(self, known: KnownRuns, snapshot: RunSnapshot) -> list[Run]:
        """The runs that this call begins, because more was accepted since the last ones ended."""
        under_way = {(run.spider, run.generation) for run in known.runs}
        found: list[Run] = []
        for spider, generation in snapshot.rows:
            if generation != known.current.get(spider, "0") or (spider, generation) in under_way:
                continue
            accepted = _accepted(snapshot.counters(spider, generation))
            of, before = known.until.get(spider, ("", 0))
            before = before if of == generation else 0
            if accepted != before:
                run = await self.begin(spider, generation, LOST if accepted < before else accepted)
                found += [run] if run is not None else []
        return found

    async def is_complete(
        self, run: Run, known: KnownRuns, snapshot: RunSnapshot, alive: Sequence[WorkerState], leaving: str
    ) -> bool:
        """Whether no more will be pushed to it: its start requests are exhausted, or its start-URLs key has been empty
        for long enough, or the last worker that reads it is *leaving*."""
        workers = [one for one in alive if one.info.get("spider") == run.spider]
        if any(_offers(worker) for worker in workers) or await self.awaits(run, known):
            return False
        if workers and known.starts.get(run.spider) == "":
            return True
        if snapshot.counted(run).counts.pending:
            return False
        return {one.name for one in workers} == {leaving} or snapshot.quiet_ms(run) >= self._shards.config.run_idle_ms

    async def awaits(self, run: Run, known: KnownRuns) -> bool:
        """Whether start URLs wait in their key, or are being read; unknown is not empty."""
        return await self._waiting(known.starts.get(run.spider, "")) != 0

    async def start_urls(self, spider: str | None) -> dict[str, int]:
        """How many start URLs wait for workers, by spider, or of *spider*: in the keys that its workers last took
        theirs from, if there are any. A key that cannot be counted is left out."""
        try:
            flat = await self._shards.client.hgetall(self._shards.key(0, "starts"))
        except FrontierRefusedError:  # damaged: noted again by the next worker
            return {}
        places = {name.decode(errors="replace"): place.decode(errors="replace") for name, place in flat.items()}
        found = {name: await self._waiting(place) for name, place in places.items() if spider in {None, name}}
        return {name: count for name, count in sorted(found.items()) if count}

    async def _waiting(self, place: str) -> int | None:
        """How many start URLs wait in *place*, as `serves` noted it, or are being read; None for an invalid or
        unreadable key."""
        kind, _, key = place.partition(" ")
        if not key or kind not in _KINDS:
            return 0
        try:
            return await Seeds(cast("Client", self._shards.client), key, cast("Kind", kind)).pending()
        except (FrontierRefusedError, ConfigError):
            return None


def _accepted(counters: Mapping[str, int]) -> int:
    """How many requests it ever accepted: a letter that goes to another run leaves the count."""
    return counters.get("accepted", 0) + counters.get("retried", 0)


def _offers(worker: WorkerState) -> bool:
    """Whether it has, or may still have, requests that no page yielded."""
    return bool(worker.info.get("outbox") or worker.info.get("starting"))


def _texts(flat: list[bytes]) -> dict[str, str]:
    return {name.decode(errors="replace"): value.decode(errors="replace") for name, value in pairs(flat)}


def _end(raw: bytes) -> tuple[str, int] | None:
    try:
        row = unpack(raw)
        counts = {name.decode(): int(count) for name, count in row[b"counts"].items()}
        return row[b"generation"].decode(), _accepted(counts)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, UnpackException):
        return None
