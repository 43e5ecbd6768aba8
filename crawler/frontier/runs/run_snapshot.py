"""A snapshot of the counters of all generations on all shards, as far as runs need them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from crawler.frontier.run_record import Run, is_counted
from crawler.frontier.server.shard_stats import ShardStats
from crawler.frontier.server.wire_format import pairs, read_count


@dataclass(frozen=True, slots=True)
class RunSnapshot:
    """*rows*: by spider and generation, then by shard and stream. *now_ms*: the frontier's time. *uncounted*: as in
    FrontierStats."""

    rows: Mapping[tuple[str, str], Mapping[tuple[int, str], Mapping[str, int]]]
    now_ms: int
    uncounted: int = 0

    @classmethod
    def of(cls, shards: Iterable[ShardStats]) -> Self:
        """What the shards tell, in their order."""
        rows: dict[tuple[str, str], dict[tuple[int, str], Mapping[str, int]]] = {}
        now = unknown = 0
        for shard, stats in enumerate(shards):
            now, unknown = max(now, stats.now_ms), unknown + abs(stats.uncounted)
            for name, fields in stats.generations:
                stream, _, generation = name.decode().rpartition(":")
                streams = rows.setdefault((stream.partition(":")[0], generation), {})
                streams[shard, stream] = {"born": stats.born} | _numbers(fields)
        return cls(rows, now, unknown)

    def counters(self, spider: str, generation: str) -> dict[str, int]:
        """The counters of a generation, summed."""
        total: dict[str, int] = {}
        for row in self.rows.get((spider, generation), {}).values():
            for name, count in row.items():
                if is_counted(name):
                    total[name] = total.get(name, 0) + count
        return total

    def counted(self, run: Run) -> Run:
        """*run* with its counts in this snapshot."""
        return run.counted(self.counters(run.spider, run.generation), max(0, round(self.quiet_ms(run))))

    def quiet_ms(self, run: Run) -> int:
        """How long nothing was pushed to its generation or done there."""
        rows = self.rows.get((run.spider, run.generation), {}).values()
        worked = [last for row in rows if (last := row.get("last", 0))]  # 0: damaged
        return self.now_ms - max(worked if run.is_plain and worked else [run.opened_ms, *worked])

    def agrees(self, other: RunSnapshot, run: Run) -> bool:
        """Whether both snapshots agree on its generation, stream by stream and shard by shard."""
        return self._of(run) == other._of(run)

    def _of(self, run: Run) -> dict[tuple[int, str], dict[str, int]]:
        rows = self.rows.get((run.spider, run.generation), {})
        return {
            key: {name: count for name, count in row.items() if name == "born" or is_counted(name)}
            for key, row in rows.items()
        }


def _numbers(fields: Sequence[bytes]) -> dict[str, int]:
    named = ((name.decode(errors="replace"), value) for name, value in pairs(fields))
    return {name: read_count(value) for name, value in named if name == "last" or is_counted(name)}
