"""Names of keys and shards. Every key of a shard carries its hash tag, so that a Cluster keeps them together."""

from __future__ import annotations

import re
from zlib import crc32

from crawler.frontier.messages import Handle


def tag(key: str, shard: int) -> str:
    """The prefix of all keys of a shard, e.g. `{shoal:0}`."""
    return f"{{{key}:{shard}}}"


def queue_names(stream: str, host: str) -> tuple[str, ...]:
    """What the queue of *host* on *stream* is called, and what releases before may have called it: the twin of place_of
    in lua/lib/hosts.lua, which renames it when the queue is next used."""
    if ":" not in host:
        return (f"{stream}:{host}",)
    is_known = not re.match(r"(browser|api)!?:", host)
    return (f"{stream}::{host}", f"{stream}:{host}") if is_known else (f"{stream}::{host}",)


def shard_of(host: str, shards: int) -> int:
    """A host lives on one shard for ever: FRONTIER_SHARDS must never change while there is data."""
    return crc32(host.encode()) % shards


def split_handle(handle: Handle) -> tuple[int, tuple[int, int]]:
    """Shard, and what the scripts of that shard know the lease by."""
    shard, _, number = handle[0].partition(":")
    return int(shard), (int(number), handle[1])
