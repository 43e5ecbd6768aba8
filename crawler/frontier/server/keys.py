"""Names of keys and shards. Every key of a shard carries its hash tag, so that a Cluster keeps them together."""

from __future__ import annotations

import re
from zlib import crc32


def tag(key: str, shard: int) -> str:
    """The prefix of all keys of a shard, e.g. `{shoal:0}`."""
    return f"{{{key}:{shard}}}"


def queue_names(stream: str, host: str) -> tuple[str, ...]:
    """The name of *host*'s queue on *stream*, and its names in earlier releases: counterpart of place_of in
    lua/lib/hosts/hosts.lua, which renames the queue when it is next used."""
    if ":" not in host:
        return (f"{stream}:{host}",)
    is_known = not re.match(r"(browser|api)!?:", host)
    return (f"{stream}::{host}", f"{stream}:{host}") if is_known else (f"{stream}::{host}",)


def shard_of(host: str, shards: int) -> int:
    """A host is always on the same shard: FRONTIER_SHARDS must not change while there is data."""
    return crc32(host.encode()) % shards


def split_id(id_: str) -> tuple[int, int]:
    """The shard of a lease or a dead letter, and its number there; raises ValueError."""
    shard, _, number = id_.partition(":")
    return int(shard), int(number)


def shard_of_id(id_: str) -> int:
    """The shard of a lease or a dead letter; raises ValueError."""
    return split_id(id_)[0]
