"""Which hosts wait, for what and until when: what a job that seems to do nothing is waiting for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from crawler.frontier.messages import HostState
from crawler.frontier.server.shards import Shards, unpack
from crawler.frontier.server.wire_format import unseal

EXAMINED: Final = 500  # delayed requests per shard, those due first
MEMBER_HEAD: Final = 9  # id, deliveries and status, before the envelope
QUIET_MS: Final = 5_000  # a shorter wait is a host's pace


@dataclass(frozen=True, slots=True)
class WaitingHost:
    """*pages* of *host* wait because of *why*; *until_ms* from now the first of them is tried."""

    host: str
    pages: int
    why: str
    until_ms: int


@dataclass(slots=True)
class _Delayed:
    shard: int
    host: str
    pages: int
    due: float
    id: int
    url: str


async def waiting(shards: Shards, hosts: list[HostState], spider: str | None, now_ms: int) -> list[WaitingHost]:
    """Hosts of which requests are put off, and those of *hosts* that are left alone; the most pages first.

    Known weakness: of a long list of delayed requests those that are due first are looked at.
    """
    found = [
        WaitingHost(one.host, one.queued, _broken(one), one.blocked_ms)
        for one in hosts
        if one.openings or one.blocked_ms > QUIET_MS
    ]
    for shard in range(shards.count):
        for one in (await _delayed(shards, shard, spider)).values():
            why = await _why(shards, one, now_ms)
            found.append(WaitingHost(one.host, one.pages, why, max(0, round(one.due) - now_ms)))
    return sorted(found, key=lambda one: (-one.pages, one.host))


def _broken(host: HostState) -> str:
    if host.openings:
        return f"circuit breaker opened ({host.openings} in a row), then one probe"
    return "the site asked to be left alone"


async def _delayed(shards: Shards, shard: int, spider: str | None) -> dict[str, _Delayed]:
    found: dict[str, _Delayed] = {}
    for entry, due in await shards.client.zrange(shards.key(shard, "delayed"), 0, EXAMINED - 1, withscores=True):
        stream, rest = _prefixed(entry)
        raw_host, member = _prefixed(rest)
        if spider not in {None, stream.decode().partition(":")[0]}:
            continue
        host = raw_host.decode()
        if host not in found:
            number = int.from_bytes(member[:6], "big")
            found[host] = _Delayed(shard, host, 0, due, number, _url(unseal(member[MEMBER_HEAD:]).body))
        found[host].pages += 1
    return found


def _url(body: bytes) -> str:
    """The address in a stored request; "" where that cannot be read."""
    try:
        state = unpack(body)
    except ValueError:
        return ""
    url = state.get(b"u", b"") if isinstance(state, dict) else b""
    return url.decode(errors="replace") if isinstance(url, bytes) else str(url)


async def _why(shards: Shards, one: _Delayed, now_ms: int) -> str:
    parts = urlsplit(one.url)
    origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    verdict, since = await shards.client.hmget(shards.key(one.shard, f"robots:{origin}"), ["verdict", "since"])
    if verdict == b"later" and since and float(since):
        return f"{origin}/robots.txt has been unreachable for {(now_ms - float(since)) / 1000:.0f} s"
    reason = await shards.client.hget(shards.key(one.shard, "why"), str(one.id))
    return f"delayed ({reason.decode()})" if reason else "delayed"


def _prefixed(raw: bytes) -> tuple[bytes, bytes]:
    return raw[1 : 1 + raw[0]], raw[1 + raw[0] :]
