"""What the script `stats` tells of one shard, by name: lua/upkeep/stats.lua says what each part means."""

from __future__ import annotations

from typing import Any, NamedTuple


class ShardStats(NamedTuple):
    """Counters as they are stored; damaged ones are no numbers, see `read_count`."""

    born: int  # when its data began; another value: it was lost meanwhile
    now_ms: int  # the frontier's time
    seq: int
    token: int  # with `seq`: changes whenever anything is queued or leased
    evicted: int  # dead letters lost for want of room
    generations: list[Any]  # [<stream>:<generation>, [field, value, ...]]
    streams: list[Any]  # [stream, hosts due, hosts waiting, hosts with suspects]
    uncounted: int  # requests missing in the counters

    def with_more(self, more: ShardStats) -> ShardStats:
        """These and those of a further call, for *more* generations."""
        known = {row[0] for row in self.streams}
        streams = [row for row in more.streams if row[0] not in known]
        return self._replace(generations=self.generations + more.generations, streams=self.streams + streams)
