"""Which replica of a service leads: a lease in Redis, with a token that grows with each change of leader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crawler.frontier.server.data_marks import DataMarks
from crawler.frontier.server.shards import Shards


class DeposedError(Exception):
    """Another replica leads now, or Redis went back behind what was read: the write was refused and changed nothing."""


@dataclass(frozen=True, slots=True)
class LeaderLease:
    """Who leads, and for how much longer; *lost_data*: Redis was emptied since this replica asked last."""

    is_ours: bool
    token: int
    holder: str
    left_ms: int
    lost_data: bool = False


@dataclass(frozen=True, slots=True)
class Lead:
    """A leader's mandate: its token, and whether its lease is still valid by its own clock."""

    token: int
    holds: Callable[[], bool]

    def check(self) -> None:
        """Raise DeposedError if the lease has expired: the next step may be another replica's."""
        if not self.holds():
            raise DeposedError


class Leader:
    """The lease, as seen by replica *name*.

    The lease only saves work: a frozen replica believes for too long that it leads. What must not happen twice is
    claimed in Redis with the token, which a script compares with the newest one (lua/lib/schedules/leader.lua).
    """

    def __init__(self, shards: Shards, name: str, lease_ms: int) -> None:
        self._shards = shards
        self._name = name
        self._lease_ms = lease_ms
        self._marks = DataMarks(shards, lambda: None)

    async def ask(self) -> LeaderLease:
        """Take the lease if it is free, or extend it if it is ours."""
        is_ours, token, holder, left, *marks = await self._shards.run("lead", 0, self._name, self._lease_ms)
        lost_data = self._marks.is_other(0, *marks)
        return LeaderLease(bool(is_ours), int(token), holder.decode(errors="replace"), int(left), lost_data)

    async def resign(self) -> bool:
        """Let another replica lead at once; False if one does already."""
        return bool(await self._shards.run("resign", 0, self._name))
