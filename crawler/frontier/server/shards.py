"""Runs scripts on the frontier's shards: the only way to its data."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgpack
from msgpack.exceptions import UnpackException
from redis.asyncio.cluster import RedisCluster

from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierFullError, FrontierUnavailableError, ShardAwayError
from crawler.frontier.messages import Handle
from crawler.frontier.script_constants import GENERATIONS_AT_ONCE
from crawler.frontier.server import keys
from crawler.frontier.server.drops import OtherServerError
from crawler.frontier.server.failures import Commands, translating
from crawler.frontier.server.scripts import Client, Scripts
from crawler.frontier.server.shard_stats import ShardStats
from crawler.frontier.server.wire_format import handle_row

# Entries per script call: enough to share the round trip, few enough never to hold Redis up; of those that go back into
# their queues, fewer.
BATCH: Final = 48
FEW: Final = 16
Entry = TypeVar("Entry")


class Shards:
    """The shards of one frontier: `run` on one of them, `scatter` a batch over those it concerns.

    In a Cluster a shard whose node does not serve it is *away* until `seek` finds it again; meanwhile workers go on
    with those that are *there*. Never shard 0, which has what concerns the whole fleet: without it all wait.
    """

    def __init__(self, client: Client, config: FrontierConfig, replaced: Mapping[str, str] | None = None) -> None:
        self.scripts = Scripts(client, config.constants(), replaced)
        self.client = Commands(client, self._mend, self.scripts.rights)
        self.config = config
        self.count = config.shards
        self.away: set[int] = set()
        self.on_cluster = isinstance(client, RedisCluster)  # its nodes come and go one by one
        self._key = config.key
        self._tags = [keys.tag(config.key, shard) for shard in range(config.shards)]

    def key(self, shard: int, name: str) -> str:
        """A key of *shard*, for reading."""
        return f"{self._tags[shard]}:{name}"

    def on_each(self, name: str) -> list[str]:
        """That key of every shard."""
        return [f"{tag}:{name}" for tag in self._tags]

    def tag(self, shard: int) -> str:
        """The key prefix of a shard, which this frontier need not have."""
        return keys.tag(self._key, shard)

    def of_host(self, host: str) -> int:
        """The shard that *host* lives on."""
        return keys.shard_of(host, self.count)

    def serves(self, host: str) -> bool:
        """Whether the shard of *host* is there."""
        return self.of_host(host) not in self.away

    @property
    def there(self) -> list[int]:
        """The shards that are not away."""
        return [shard for shard in range(self.count) if shard not in self.away]

    def has(self, handle: Handle) -> bool:
        """Whether the shard of *handle* is there."""
        return keys.shard_of_id(handle[0]) not in self.away

    async def seek(self) -> bool:
        """Look for the shards that are away: whether some are there again. Raises the error of one that is not."""
        answers = await asyncio.gather(*map(self._look, self.away), return_exceptions=True)
        failed = [answer for answer in answers if answer is not None]
        if failed and len(failed) == len(answers):
            raise failed[0]
        return bool(answers)

    async def _look(self, shard: int) -> None:
        await self.run("reap", shard)  # a write: a server that only serves reads is not back
        self.away.discard(shard)

    async def _mend(self, command: str, key: str) -> bool:
        """Set a key of ours aside that has another type than *command* expects; False for others' keys."""
        tag = next((tag for tag in self._tags if key.startswith(f"{tag}:")), None)
        return tag is not None and bool(await self.scripts.run("mend", [tag], command, key))

    async def read(self, calls: Sequence[Callable[[Any], Any]]) -> list[Any]:
        """Their answers in one round trip; what one of them refuses is asked for alone, which mends it or names its
        key."""
        async with self.client.pipeline(transaction=False) as pipe:
            for call in calls:
                call(pipe)
            with translating():
                answers = await pipe.execute(raise_on_error=False) if calls else []
        failed = (isinstance(answer, Exception) for answer in answers)
        pairs = zip(calls, answers, failed, strict=True)
        return [await call(self.client) if is_error else answer for call, answer, is_error in pairs]

    async def run(self, name: str, shard: int, *arguments: bytes | str | float) -> Any:
        """Run one script on one shard."""
        try:
            return await self.scripts.run(name, [self._tags[shard]], *arguments)
        except FrontierFullError:
            raise
        except FrontierUnavailableError as error:
            if shard and self.on_cluster and not isinstance(error.__cause__, OtherServerError):
                raise self._gone(shard, error) from error.__cause__
            raise

    def _gone(self, shard: int, error: FrontierUnavailableError) -> ShardAwayError:
        self.away.add(shard)
        found = ShardAwayError(f"{error}; hosts of shard {shard} wait")
        found.key = error.key
        return found

    async def run_all(self, name: str, *arguments: bytes | str | float) -> list[Any]:
        """Run one script on every shard; answers in the order of the shards."""
        return await asyncio.gather(*(self.run(name, shard, *arguments) for shard in range(self.count)))

    async def stats(self, shard: int) -> ShardStats:
        """What the script `stats` tells of all generations, in calls that hold the server up for a moment each. Two
        such answers that are equal show the moment between them, as those of two shards do."""
        *told, rest = await self.run("stats", shard)
        found = ShardStats(*told)
        for some in groups(rest, GENERATIONS_AT_ONCE):
            *told, _ = await self.run("stats", shard, *some)
            found = found.with_more(ShardStats(*told))
        return found

    async def stats_all(self) -> list[ShardStats]:
        """The same of every shard, in their order."""
        return await asyncio.gather(*map(self.stats, range(self.count)))

    async def now_ms(self, shard: int = 0) -> int:
        """The frontier's time on *shard*, whatever the clocks of its workers say."""
        *told, _ = await self.run("stats", shard)
        return ShardStats(*told).now_ms

    async def scatter(
        self,
        entries: Sequence[Entry],
        shard_of: Callable[[Entry], int],
        run: Callable[[int, list[Entry]], Awaitable[Any]],
        most: int = BATCH,
    ) -> list[Any]:
        """Call *run* on each shard concerned, with at most *most* entries at a time; returns one answer per entry, in
        order."""
        if self.count == 1:
            return [answer for group in groups(entries, most) for answer in await run(0, group)]
        places: dict[int, list[int]] = {}
        for place, entry in enumerate(entries):
            places.setdefault(shard_of(entry), []).append(place)
        result: list[Any] = [None] * len(entries)

        async def on_shard(shard: int, mine: list[int]) -> None:
            for group in groups(mine, most):
                answers = await run(shard, [entries[place] for place in group])
                for place, answer in zip(group, answers, strict=True):
                    result[place] = answer

        await asyncio.gather(*(on_shard(shard, mine) for shard, mine in places.items()))
        return result

    async def on_handles(self, name: str, handles: Sequence[Handle], *arguments: str, most: int = BATCH) -> list[bool]:
        """Run a script that takes handles, each on its own shard."""

        async def run(shard: int, group: list[Handle]) -> Any:
            return await self.run(name, shard, *arguments, *map(handle_row, group))

        answers = await self.scatter(handles, lambda handle: keys.shard_of_id(handle[0]), run, most)
        return [bool(answer) for answer in answers]


async def scanned(scan: Callable[..., Awaitable[Any]], key: str, count: int = 1_000) -> AsyncIterator[Any]:
    """What *scan* of a client (`sscan`, `zscan`, `hscan`) finds in *key*, in slices of *count*."""
    cursor = None
    while cursor != 0:
        cursor, rows = await scan(key, cursor or 0, count=count)
        for row in rows.items() if isinstance(rows, dict) else rows:
            yield row


def groups(entries: Sequence[Entry], most: int) -> list[list[Entry]]:
    """*entries* in order, at most *most* per list."""
    return [list(entries[at : at + most]) for at in range(0, len(entries), most)]


def pack(value: Any) -> bytes:
    """msgpack that Redis' Lua can read: without the newer format's binary types; lone surrogates become escapes."""
    return bytes(msgpack.packb(value, use_bin_type=False, unicode_errors="backslashreplace"))


def unpack(raw: bytes) -> Any:
    """Decode what Lua packed; strings come back as bytes, as they may contain any."""
    return msgpack.unpackb(raw, raw=True)


def url_in(body: bytes) -> str:
    """The URL of a stored request; "" if it is unreadable."""
    try:
        state = unpack(body)
    except (ValueError, TypeError, UnpackException):
        return ""
    url = state.get(b"u", b"") if isinstance(state, dict) else b""
    return url.decode(errors="replace") if isinstance(url, bytes) else ""
