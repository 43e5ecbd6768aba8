"""Entries of the outbox whose shard is away: set aside, so that those of other shards are sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Sequence
from time import monotonic
from typing import Any

from crawler.frontier.messages import Handle, Report
from crawler.frontier.server import keys
from crawler.worker.outbox.lease_endings import Ending, handle_of
from crawler.worker.outbox.queues import Start


class EntriesAway:
    """Takes entries out of *queues*, and puts them back in their order once their shard is there."""

    def __init__(self, queues: Sequence[deque[Any]]) -> None:
        self._queues = [(queue, deque[Any]()) for queue in queues]
        self.since: float | None = None  # when the first of these was set aside

    def __len__(self) -> int:
        return sum(len(kept) for _, kept in self._queues)

    def sort(self, away: Container[int]) -> None:
        """Set aside what is about shards that are *away* now, and nothing else."""
        for queue, kept in self._queues:
            entries = [*kept, *queue]
            queue.clear()
            kept.clear()
            for entry in entries:
                (kept if _shard_of(entry) in away else queue).append(entry)
        self.since = (self.since or monotonic()) if self else None


def _shard_of(entry: Start | Report | Ending | Handle) -> int:
    if isinstance(entry, Report):
        return keys.shard_of_id(entry.id)
    lease = entry[0] if isinstance(entry, tuple) and isinstance(entry[0], tuple) else entry
    return keys.shard_of_id(handle_of(lease)[0])
