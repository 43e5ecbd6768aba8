"""Which worker writes which feed: if two overwrite one URI, the items of one are lost."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.frontier.server.shards import Shards
from crawler.frontier.state.inspection import SILENT_MS


async def claim(shards: Shards, feeds: Sequence[str], worker: str = "") -> tuple[str, str] | None:
    """Note *worker* as the one that writes *feeds*; without one, only look. The first feed that a living worker has,
    and that worker, or None when all are free."""
    if not feeds:
        return None
    taken = await shards.run("claim_feeds", 0, worker, SILENT_MS, *feeds)
    return (taken[0].decode(), taken[1].decode()) if taken else None


async def release(shards: Shards, feed: str) -> None:
    """Nobody writes *feed* any more: its worker is known to be dead."""
    await shards.client.hdel(shards.key(0, "feeds"), feed)
