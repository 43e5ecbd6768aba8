"""Cookie jars of sessions, in Redis: any worker can continue a session that another began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from crawler.frontier.server.outage import RedisOutage
from crawler.frontier.server.shards import Shards
from crawler.policy.cookies import Changes, Records

MAX_COOKIES: Final = 150  # of one jar; browsers keep about as many per site
_NOTHING: Final = Changes({}, (), 0)


@dataclass(frozen=True, slots=True)
class Jar:
    """One jar as stored in Redis. *refused*: cookies of the change that did not fit."""

    cookies: Records
    refused: int


class CookieJars:
    """Reads and merges jars, however long Redis is away: without its cookies a request would begin another session.
    *ttl_ms*: a jar expires that long after its last use, or after half of it at the earliest."""

    def __init__(self, shards: Shards, outage: RedisOutage, ttl_ms: int) -> None:
        self._shards = shards
        self._outage = outage
        self._ttl_ms = ttl_ms

    async def load(self, host: str, session: str) -> Jar:
        """The jar of *session* at *host*, a politeness group; empty where there is none."""
        return await self.merge(host, session, _NOTHING)

    async def merge(self, host: str, session: str, changes: Changes) -> Jar:
        """The jar after *changes*. Cookies that others set meanwhile stay; of the same one the last set counts."""
        arguments: list[str | int] = [f"{host}/{session}", self._ttl_ms, MAX_COOKIES, len(changes.removed)]
        arguments += [*changes.removed, *(part for pair in changes.changed.items() for part in pair)]
        shard = self._shards.of_host(host)
        refused, found = await self._outage.insist(lambda: self._shards.run("cookies", shard, *arguments))
        texts = [part.decode() for part in found]
        return Jar(dict(zip(texts[::2], texts[1::2], strict=True)), int(refused))
