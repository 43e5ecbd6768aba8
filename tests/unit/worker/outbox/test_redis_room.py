"""What a full Redis means for a worker, and who may end it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from crawler.frontier.config import FrontierConfig
from crawler.worker.outbox.redis_room import RedisRoom
from crawler.worker.pauses import Pauses


class Desk:
    """A Room, and a Redis with a configurable fill level."""

    def __init__(self) -> None:
        self.used = 0.5
        self.recalled = 0
        self.full: set[int] | None = None  # shards; None: both as soon as the fullest is
        gauge = SimpleNamespace(used=self._used, full=self._full, told=self._told)
        config, shards = FrontierConfig(lease_ms=1_000), SimpleNamespace(there=[0, 1])
        frontier: Any = SimpleNamespace(config=config, gauge=gauge, recall=self._recall, shards=shards)
        self.pauses = Pauses()
        self.room = RedisRoom(frontier, self.pauses)

    async def _used(self) -> float:
        return self.used

    async def _full(self) -> set[int]:
        return ({0, 1} if self.used >= 0.9 else set()) if self.full is None else self.full

    async def _told(self) -> str:
        return f"Redis uses {self.used:.0%} of its maxmemory"

    async def _recall(self) -> int:
        self.recalled += 1
        return 0


async def test_leasing_is_slow_beyond_our_mark_and_while_requests_are_refused() -> None:
    desk = Desk()
    assert await desk.room.look(refused=False)
    assert bool(desk.room.full) is False
    desk.used = 0.95
    assert await desk.room.look(refused=False) is False
    assert "Redis uses 95% of its maxmemory, FRONTIER_MEMORY_LIMIT is 90%" in desk.pauses.slowed
    assert desk.pauses.reason == ""
    desk.used = 0.5
    await desk.room.look(refused=True)
    assert bool(desk.room.full) is True
    await desk.room.look(refused=False)
    assert (desk.room.full, desk.pauses.slowed) == (False, "")


async def test_leasing_is_not_slow_while_one_shard_has_room_for_what_its_pages_lead_to() -> None:
    desk = Desk()
    desk.used, desk.full = 1.01, {1}
    assert not await desk.room.look(refused=False)
    assert desk.pauses.slowed == ""
    desk.room.refused()
    await desk.room.look(refused=True)
    assert "Redis refuses new requests" in desk.pauses.slowed
    await desk.room.look(refused=False)
    assert desk.pauses.slowed == ""


async def test_what_was_put_off_is_recalled_once_each_time_that_there_is_room_again() -> None:
    desk, recalled = Desk(), []
    for desk.used in (0.5, 0.5, 1.01, 0.97, 0.94, 0.5, 1.01, 0.5):
        await desk.room.look(refused=False)
        recalled.append(desk.recalled)
    assert recalled == [1, 1, 1, 1, 2, 2, 2, 3]


def test_each_owner_clears_its_own_reason(caplog: pytest.LogCaptureFixture) -> None:
    pauses = Pauses()
    pauses.stop("storage", "the spool is full")
    pauses.stop("other", "no disk")
    pauses.slow("full")
    pauses.stop("storage", "the spool is fuller")
    assert (pauses.reason, pauses.slowed) == ("the spool is fuller; no disk", "full")
    for owner in ("storage", "nobody"):
        pauses.stop(owner, "")
    assert (pauses.reason, pauses.slowed) == ("no disk", "full")
    pauses.stop("other", "")
    pauses.slow("")
    assert (pauses.reason, pauses.slowed) == ("", "")
    assert caplog.messages == [
        "Leasing is paused: the spool is full",
        "Leasing is paused: no disk",
        "Leasing is slowed to one request at a time: full",
        "Leasing resumes",
        "Leasing resumes at full speed",
    ]
