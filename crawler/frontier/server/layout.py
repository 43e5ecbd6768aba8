"""What the data in Redis was written with: the number of shards, as a host that moved to another one would get requests
from both; and the modes of deduplication."""

from __future__ import annotations

import asyncio
from typing import Final

from redis.exceptions import NoPermissionError, OutOfMemoryError, ReadOnlyError

from crawler import config
from crawler.errors import ConfigError
from crawler.frontier.errors import FrontierError
from crawler.frontier.server.shards import Shards
from crawler.frontier.server.wire_format import pairs

MOST_SHARDS: Final = config.bounds("FRONTIER_SHARDS")[1]
SAMPLED: Final = 16  # hosts checked per shard if the number is not recorded


async def check(shards: Shards) -> None:
    """Raises ConfigError if FRONTIER_SHARDS is not the number that the data in Redis was written with.

    Shard 0 records the number when it is first opened. Data without a record (from an older release, or damaged) is
    judged by whether a few hosts of each shard belong there. If nothing was ever pushed the number may change.
    """
    key = shards.key(0, "shards")
    found = _number(raw := await shards.client.get(key))
    if found == shards.count:
        return
    if found is not None and await _any_work(shards, max(found, shards.count)):
        raise _refused(shards, f"{found}, the number its data was written with")
    if found is None and await _misplaced(shards):
        raise _refused(shards, "the number its data was written with")
    try:
        if raw and found is None:
            await shards.client.hsetnx(shards.key(0, "damaged"), key, raw)
        await shards.client.set(key, shards.count)
    except FrontierError as error:
        if not isinstance(error.__cause__, NoPermissionError | OutOfMemoryError | ReadOnlyError):
            raise  # otherwise a client that may write records it


def _number(raw: bytes | None) -> int | None:
    """The number recorded; None if there is none that could have been one of ours."""
    if raw is None or not raw.isdigit() or len(raw) > len(str(MOST_SHARDS)):
        return None
    return int(raw) if 1 <= int(raw) <= MOST_SHARDS else None


async def adopt_modes(shards: Shards) -> None:
    """FRONTIER_DEDUPE is fixed when a generation opens: those in `window` mode are served whatever it says now.

    Known weakness: one that another fleet opens so later is noticed at the next start only.
    """
    rows = [row for one in await shards.stats_all() for row in one.generations]
    if any(dict(pairs(flat)).get(b"mode") == b"window" for _, flat in rows):
        shards.scripts.serve_windows()


async def _any_work(shards: Shards, count: int) -> bool:
    """Whether anything was ever pushed to one of the first *count* shards, including shards that are not configured."""
    names = (shards.tag(shard) + ":gens" for shard in range(count))
    return any(await asyncio.gather(*(shards.client.exists(name) for name in names)))


async def _misplaced(shards: Shards) -> bool:
    if await shards.client.exists(shards.tag(shards.count) + ":gens"):
        return True  # there was a further shard
    samples = await asyncio.gather(*(shards.client.hrandfield(key, SAMPLED) for key in shards.on_each("hosts")))
    return any(shards.of_host(name.decode()) != shard for shard, names in enumerate(samples) for name in names or ())


def _refused(shards: Shards, right: str) -> ConfigError:
    allowed = (
        f"{right}: otherwise known URLs would be crawled again, and hosts by two workers at once. "
        "To change it, use another FRONTIER_KEY, or let this crawl finish and delete its keys"
    )
    return ConfigError("FRONTIER_SHARDS", shards.count, allowed)
