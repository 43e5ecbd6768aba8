"""Cookie jars of sessions in Redis: any worker can continue a session that another one started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from crawler.frontier.server.outage import RedisOutage
from crawler.frontier.server.shards import Shards
from crawler.frontier.server.wire_format import pairs
from crawler.policy.cookies import Changes, Records

MAX_COOKIES: Final = 150  # per jar; browsers keep about as many per site
_NOTHING: Final = Changes({}, (), 0)


@dataclass(frozen=True, slots=True)
class Jar:
    """One jar as stored in Redis, whatever that is. *refused*: cookies of the change that did not fit."""

    cookies: Records
    refused: int


class CookieJars:
    """Reads and merges jars; waits while Redis is away, as a request without its cookies would start another session.
    *ttl_ms*: a jar expires this long after its last use, at the earliest after half of it."""

    def __init__(self, shards: Shards, outage: RedisOutage, ttl_ms: int) -> None:
        self._shards = shards
        self._outage = outage
        self._ttl_ms = ttl_ms

    async def load(self, host: str, session: str) -> Jar:
        """The jar of *session* at *host*, a politeness group; empty if there is none."""
        return await self.merge(host, session, _NOTHING)

    async def merge(self, host: str, session: str, changes: Changes) -> Jar:
        """Apply *changes* and return the jar. Cookies that others set meanwhile stay; for the same cookie the last one
        wins."""
        arguments: list[str | bytes | int] = [f"{host}/{session}", self._ttl_ms, MAX_COOKIES, len(changes.removed)]
        arguments += [name.encode(errors="surrogateescape") for name in changes.removed]
        arguments += [part for pair in changes.changed.items() for part in pair]
        shard = self._shards.of_host(host)
        refused, found = await self._outage.insist(lambda: self._shards.run("cookies", shard, *arguments))
        texts = [part.decode(errors="surrogateescape") for part in found]
        return Jar(dict(pairs(texts)), int(refused))

    def key(self, host: str, session: str) -> str:
        """Where that jar is in Redis."""
        return self._shards.key(self._shards.of_host(host), f"cookies:{host}/{session}")
