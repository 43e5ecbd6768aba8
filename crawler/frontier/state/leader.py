"""Which of the replicas of a service leads: a lease in Redis, with a token that grows with each change of leader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crawler.frontier.server.shards import Shards


class DeposedError(Exception):
    """Another replica leads since: what this one wanted to write is refused, and nothing changed."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Who leads, for how much longer, and by the server's own clock when that was."""

    is_ours: bool
    token: int
    holder: str
    left_ms: int
    clock_ms: int


@dataclass(frozen=True, slots=True)
class Lead:
    """What a leader's work is done under: its token, and whether its lease still runs by its own clock."""

    token: int
    holds: Callable[[], bool]

    def check(self) -> None:
        """Raise DeposedError where the lease is over: the next thing may be another replica's to do."""
        if not self.holds():
            raise DeposedError


class Leader:
    """The lease as the replica *name* sees it.

    The lease only spares work: a replica that is frozen believes for too long that it leads. What must not happen twice
    is claimed in Redis under the token, which a script compares with the newest one (lua/lib/leader.lua).
    """

    def __init__(self, shards: Shards, name: str, lease_ms: int) -> None:
        self._shards = shards
        self._name = name
        self._lease_ms = lease_ms

    async def ask(self) -> Standing:
        """Take the lease where it is free, and prolong it where it is ours."""
        is_ours, token, holder, left, clock = await self._shards.run("lead", 0, self._name, self._lease_ms)
        return Standing(bool(is_ours), int(token), holder.decode(errors="replace"), int(left), int(clock))

    async def resign(self) -> bool:
        """Let another lead at once; False when one does already."""
        return bool(await self._shards.run("resign", 0, self._name))
