"""Which worker writes which feed: if two overwrite one URI, one's items are lost."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.frontier.server.shards import Shards
from crawler.frontier.state.workers import SILENT_MS


async def claim(shards: Shards, feeds: Sequence[str], worker: str = "") -> tuple[str, str] | None:
    """Record that *worker* writes *feeds*; without *worker*, only check. Returns the first feed that a live worker has,
    and that worker, or None if all are free."""
    if not feeds:
        return None
    taken = await shards.run("claim_feeds", 0, worker, SILENT_MS, *feeds)
    return (taken[0].decode(), taken[1].decode()) if taken else None


async def release(shards: Shards, feed: str) -> None:
    """Release *feed*, whose worker is known to be dead."""
    await shards.client.hdel(shards.key(0, "feeds"), feed)
