"""How many requests of a stream are queued at each host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import methodcaller

from crawler.frontier.server import keys
from crawler.frontier.server.shards import Shards


async def queue_lengths(shards: Shards, shard: int, stream: str, hosts: Sequence[str]) -> Counter[str]:
    """Of *hosts* that *shard* has; a queue of another type is set aside and has none."""
    places = [(host, queue) for host in hosts for queue in keys.queue_names(stream, host)]
    in_order = [methodcaller("llen", shards.key(shard, f"q:{place}")) for _, place in places]
    ahead = [methodcaller("zcard", shards.key(shard, f"early:{place}")) for _, place in places]
    counts = await shards.read([*in_order, *ahead])
    lengths: Counter[str] = Counter()
    for (host, _), one, other in zip(places, counts[: len(places)], counts[len(places) :], strict=True):
        lengths[host] += one + other
    return lengths
