"""The stats of a run, summed over its workers."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.frontier.errors import FrontierRefusedError
from crawler.frontier.run_record import Run
from crawler.frontier.server.shards import Shards
from crawler.frontier.state.workers import Workers
from crawler.policy.run_stats import Row


class RunTotals:
    """At most 300 numbers a run, kept as long as its record."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def add(self, worker: str, number: int, rows: Sequence[Row]) -> None:
        """Add *rows*; the worker's call of that *number* counts once, however often it is repeated."""
        parts = [part for row in rows for part in (row.run, row.name, row.how, repr(row.value))]
        await self._shards.run("run_stats", 0, worker, number, *parts)

    async def of(self, run_id: str) -> dict[str, float]:
        """The stats of a run by name; empty where there are none."""
        try:
            found = await self._shards.client.hgetall(self._shards.key(0, f"stats:{run_id}"))
        except FrontierRefusedError:  # of another type: the next worker that tells sets it aside
            return {}
        read = ((name.decode(errors="replace"), _number(value)) for name, value in found.items())
        return dict(sorted((name, value) for name, value in read if value is not None))

    async def complete(self, run: Run) -> bool:
        """Whether all live workers of its spider have told what they counted until *run* ended."""
        alive = await Workers(self._shards).alive()
        names = [worker.name for worker in alive if worker.info.get("spider") == run.spider]
        told = [await self._shards.client.get(self._shards.key(0, f"told:{name}")) for name in names]
        return all(_told_ms(raw) >= run.ended_ms for raw in told)


def _number(raw: bytes) -> float | None:
    try:
        value = float(raw)
    except ValueError:
        return None  # damaged
    return int(value) if value.is_integer() else value


def _told_ms(raw: bytes | None) -> int:
    number = (raw or b"").rpartition(b" ")[2]
    return int(number) if number.isdigit() else 0
