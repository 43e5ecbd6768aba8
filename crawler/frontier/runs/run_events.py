"""Events of runs, for hooks: each is given to one worker at a time until one reports it done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from crawler.frontier.errors import FrontierRefusedError
from crawler.frontier.run_record import Run, read_run
from crawler.frontier.server.shards import Shards

GROUP: Final = "hooks"
AT_ONCE: Final = 10
LOOK_BACK_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class RunEvent:
    """*id* is the same for every delivery; *tries* counts deliveries, including this one."""

    id: str
    event: str  # start, finish, cancel or failing
    run: Run
    tries: int


class RunEvents:
    """A consumer group of the stream that the scripts append to: each group sees every event.

    Its first worker also delivers what happened in the minute before it, such as the start of a run that was
    pushed while it started; older events are ignored.
    """

    def __init__(self, shards: Shards, group: str = GROUP) -> None:
        self._client = shards.client
        self._group = group
        self._key = shards.key(0, "runs:events")

    async def open(self) -> None:
        """Create the group, unless it exists."""
        now_s, _ = await self._client.time()
        try:
            first = f"{(now_s - LOOK_BACK_SECONDS) * 1000}-0"
            await self._client.xgroup_create(self._key, self._group, id=first, mkstream=True)
        except FrontierRefusedError as error:
            if "BUSYGROUP" not in str(error):
                raise

    async def due(self, worker: str, wait_ms: Callable[[int], int]) -> list[RunEvent]:
        """New events, and those delivered at least *wait_ms* (of their tries) ago and not done."""
        try:
            return [*await self._again(worker, wait_ms), *await self._news(worker)]
        except FrontierRefusedError as error:
            if "NOGROUP" not in str(error):  # Redis was emptied
                raise
            await self.open()
            return []

    async def done(self, event_id: str) -> None:
        """Mark the event as done."""
        await self._client.xack(self._key, self._group, event_id)

    async def _news(self, worker: str) -> list[RunEvent]:
        answer = await self._client.xreadgroup(self._group, worker, {self._key: ">"}, count=AT_ONCE)
        streams = answer.values() if isinstance(answer, Mapping) else [rows for _, rows in answer or []]
        rows = [row for found in streams for row in _flat(found)]
        return await self._read(rows, {})

    async def _again(self, worker: str, wait_ms: Callable[[int], int]) -> list[RunEvent]:
        waiting = await self._client.xpending_range(self._key, self._group, min="-", max="+", count=10 * AT_ONCE)
        found: list[RunEvent] = []
        for one in waiting:
            tries = int(one["times_delivered"])
            wait = wait_ms(tries)
            if one["time_since_delivered"] >= wait:
                rows = await self._client.xclaim(
                    self._key, self._group, worker, min_idle_time=wait, message_ids=[one["message_id"]]
                )
                found += await self._read(_flat(rows), {one["message_id"]: tries + 1})
        return found

    async def _read(self, rows: list[Any], tries: Mapping[bytes, int]) -> list[RunEvent]:
        events: list[RunEvent] = []
        for event_id, fields in rows:
            told = fields or {}
            event, run = told.get(b"event", b"").decode(errors="replace"), read_run(told.get(b"record", b""))
            if run is None or not event.isalpha():  # damaged, or trimmed away
                await self._client.xack(self._key, self._group, event_id)
                continue
            events.append(RunEvent(event_id.decode(), event, run, tries.get(event_id, 1)))
        return events


def _flat(rows: Any) -> list[Any]:
    """The (id, fields) pairs of one stream, from either protocol version."""
    while rows and isinstance(rows, list) and rows and isinstance(rows[0], list):
        rows = rows[0]
    return list(rows or [])
