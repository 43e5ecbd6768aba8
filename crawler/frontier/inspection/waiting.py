"""Which hosts wait, for what and until when: explains a crawl that seems to do nothing."""

from __future__ import annotations

import struct
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from crawler.frontier.messages import MAX_MOMENT_MS, HostState
from crawler.frontier.server.shards import Shards, url_in
from crawler.frontier.server.wire_format import split_prefixed, unseal
from crawler.utils.durations import in_words

EXAMINED: Final = 500  # delayed requests per shard, earliest first
MEMBER_HEAD: Final = 9  # id, deliveries and status, before the envelope
QUIET_MS: Final = 5_000  # a shorter wait is a host's pace
_RESUMED: Final = 32  # where T:state has `resumed` (lua/lib/shard/state.lua)


@dataclass(frozen=True, slots=True)
class WaitingHost:
    """*pages* of *host* wait because of *why*; the first is tried *until_ms* from now.

    *given_up_ms*: ms from now after which a failed try makes them dead letters; None: never.
    """

    host: str
    pages: int
    why: str
    until_ms: int
    given_up_ms: int | None = None


@dataclass(slots=True)
class _Delayed:
    shard: int
    host: str
    pages: int
    due: float
    id: int
    url: str


async def waiting(shards: Shards, hosts: list[HostState], spider: str | None, now_ms: int) -> list[WaitingHost]:
    """Hosts with delayed requests, and those of *hosts* that are paused; most pages first.

    Known weakness: of many delayed requests only the earliest are examined.
    """
    found = [await _left_alone(shards, one, now_ms) for one in hosts if one.openings or one.blocked_ms > QUIET_MS]
    for shard in range(shards.count):
        for one in (await _delayed(shards, shard, spider)).values():
            why, ends = await _why(shards, one, now_ms)
            due = min(max(one.due, now_ms), MAX_MOMENT_MS)
            found.append(WaitingHost(one.host, one.pages, why, round(due) - now_ms, ends))
    return sorted(found, key=lambda one: (-one.pages, one.host))


async def _left_alone(shards: Shards, host: HostState, now_ms: int) -> WaitingHost:
    if not host.openings:
        return WaitingHost(host.host, host.queued, "the site asked for a pause", host.blocked_ms)
    since = await shards.client.get(shards.key(shards.of_host(host.host), f"down:{host.host}"))
    ends = _end_of_term(shards, _away_ms(since, now_ms))
    why = f"circuit breaker opened ({host.openings} in a row), then one probe"
    return WaitingHost(host.host, host.queued, why, host.blocked_ms, ends)


async def last_lease_ms(shards: Shards, now_ms: int) -> int:
    """Ms until all leases there are, of any spider, have come back that are not renewed; 0 without leases.

    After a silence of the whole fleet none comes back for the time of a lease: live workers may have had no chance to
    renew theirs.
    """
    ends: list[float] = []
    for shard in range(shards.count):
        last = await shards.client.zrange(shards.key(shard, "lease"), -1, -1, withscores=True)
        raw = await shards.client.getrange(shards.key(shard, "state"), _RESUMED, _RESUMED + 7)
        resumed = struct.unpack("<d", raw)[0] if len(raw) == 8 else 0.0
        ends += [max(min(end, MAX_MOMENT_MS), resumed + shards.config.lease_ms) for _, end in last]
    return max(0, round(max(ends, default=now_ms)) - now_ms)


def _away_ms(since: bytes | None, now_ms: int) -> int | None:
    """For how many ms what is down *since* then has been; None if that is not known."""
    try:
        began = round(float(since or 0))
    except (ValueError, OverflowError):  # not written by us
        return None
    return max(0, now_ms - began) if began else None  # it may have gone down since *now_ms* was asked for


def _end_of_term(shards: Shards, away_ms: int | None) -> int | None:
    """Ms until a host that has been down for so long is given up."""
    return None if away_ms is None else max(0, shards.config.give_up_ms - away_ms)


async def _delayed(shards: Shards, shard: int, spider: str | None) -> dict[str, _Delayed]:
    found: dict[str, _Delayed] = {}
    for entry, due in await shards.client.zrange(shards.key(shard, "delayed"), 0, EXAMINED - 1, withscores=True):
        with suppress(ValueError, IndexError, struct.error):  # damaged: the script that queues it sets it aside
            stream, host, number, url = _read_entry(entry)
            if spider in {None, stream.partition(":")[0]}:
                found.setdefault(host, _Delayed(shard, host, 0, due, number, url)).pages += 1
    return found


def _read_entry(entry: bytes) -> tuple[str, str, int, str]:
    """Stream, host, id and URL of a delayed request."""
    stream, rest = split_prefixed(entry)
    host, member = split_prefixed(rest)
    number = int.from_bytes(member[:6], "big")
    return stream.decode(), host.decode(), number, url_in(unseal(member[MEMBER_HEAD:]).body)


async def _why(shards: Shards, one: _Delayed, now_ms: int) -> tuple[str, int | None]:
    parts = urlsplit(one.url)
    origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    verdict, since = await shards.client.hmget(shards.key(one.shard, f"robots:{origin}"), ["verdict", "since"])
    if verdict == b"later" and (away_ms := _away_ms(since, now_ms)) is not None:
        why = f"{origin}/robots.txt has been unreachable for {in_words(away_ms / 1000)}"
        return why, _end_of_term(shards, away_ms)
    reason = await shards.client.hget(shards.key(one.shard, "why"), str(one.id))
    if reason == b"no_proxy":
        return "no usable proxy: those of its pool that were tried failed, or all are in quarantine", None
    return f"delayed ({reason.decode(errors='replace')})" if reason else "delayed", None
