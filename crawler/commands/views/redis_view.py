"""What `scrapy status` says of Redis itself: its room, and damage to what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from crawler.utils.plural import several, wait

MOST_DAMAGED: Final = 2


@dataclass(frozen=True, kw_only=True)
class RedisState:
    """How full it is, with what, and what is wrong there."""

    advice: Sequence[str] = ()  # on the server's configuration
    memory: float = 0.0  # share of maxmemory in use on the fullest server; 0 without a limit
    bytes_per_queued: float | None = None  # measured on a sample of the whole frontier; None if it is empty
    bytes_per_seen: float | None = None
    waiting_for_room: int = 0  # pages whose requests Redis has no room for, in workers and given back
    largest_waiting: tuple[str, int] | None = None  # URL and bytes: the page whose requests need the most room
    uncounted: int = 0  # requests that damaged counters miss, or count too many; of all spiders
    set_aside: Sequence[str] = ()  # damaged values, by key: see Inspection.set_aside


def remarks(seen: RedisState, *, is_tended: bool) -> Iterator[str]:
    """Lines where there is something to say. *is_tended*: a worker runs, which mends what it can."""
    sizes = [(seen.bytes_per_queued, "queued"), (seen.bytes_per_seen, "seen")]
    if sized := [f"{size:.1f} bytes per {kind} URL" for size, kind in sizes if size is not None]:
        yield f"Redis memory: {', '.join(sized)}."
    yield from _room(seen)
    yield from _damage(seen, is_tended=is_tended)


def _damage(seen: RedisState, *, is_tended: bool) -> Iterator[str]:
    if seen.uncounted:
        when = "within a minute" if is_tended else "as soon as one runs"
        yield (
            f"Damaged counters in Redis are off by {several(seen.uncounted, 'request')}; workers count them "
            f"again {when}, delayed ones once they are due."
        )
    if seen.set_aside:
        names = ", ".join(seen.set_aside[:MOST_DAMAGED])
        more = ", ..." if len(seen.set_aside) > MOST_DAMAGED else ""
        yield (
            f"Damaged values in Redis, set aside so far: {len(seen.set_aside):,} ({names}{more}). "
            'What is left to do: docs/operations.md, "Damaged data".'
        )


def _room(seen: RedisState) -> Iterator[str]:
    if not seen.waiting_for_room:
        return
    yield (
        f"{wait(seen.waiting_for_room, 'page')} for room in Redis, which uses {seen.memory:.0%} of its maxmemory. "
        "They are done once the requests found on them are stored: raise maxmemory, or let the queue drain."
    )
    if seen.largest_waiting:
        url, size = seen.largest_waiting
        yield f"The most room is needed by {size:,} bytes of requests found on {url}"
