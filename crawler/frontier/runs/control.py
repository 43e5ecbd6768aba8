"""What operators do to the queue: pause, resume, cancel, drop, reprioritise, move to another tier."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from crawler.frontier.messages import Lease
from crawler.frontier.run_record import Run
from crawler.frontier.server.shards import Shards, scanned
from crawler.frontier.state.addresses import with_lines
from crawler.frontier.streams import stream_of
from crawler.policy.tiers import TIERS

Verb = Literal["pause", "resume", "cancel"]
Action = Literal["count", "drop", "priority", "stream"]
SLICE: Final = 200  # requests per call, which takes a millisecond or two of the server's time
PAUSE_SECONDS: Final = 0.002  # after each, so that Redis serves others in between
_HOSTS: Final = 200  # looked at in one call
MOST_STARS: Final = 3  # per pattern: each costs Lua another pass over the URL
_DELAYED: Final = ("aside", "delayed", "delayed:room")  # of requests that `sift` does not meet
_MAGIC: Final = re.compile(r"([\^$()%.\[\]+\-?])")


@dataclass(frozen=True, slots=True)
class Target:
    """Requests of *spider* ("" for any), a *generation*, a *host*, with URLs that match the Lua *pattern*."""

    spider: str
    generation: str = ""
    host: str = ""
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class ControlState:
    """Pauses and cancellations in force, which workers check right before the wire."""

    fields: frozenset[str] = frozenset()

    def forbids(self, lease: Lease) -> bool:
        """Whether the request of *lease* may not be sent now."""
        if not self.fields:
            return False
        spider = lease.stream.partition(":")[0]
        run = f"run {spider}:{lease.generation}"
        names = (f"pause spider {spider}", f"pause host {lease.host}", f"pause {run}", f"cancel {run}")
        return not self.fields.isdisjoint(names)

    @property
    def paused(self) -> list[str]:
        """What is paused, as `say` names it, in order."""
        return sorted(what for verb, _, what in (name.partition(" ") for name in self.fields) if verb == "pause")


def run_target(run: Run) -> str:
    """The name of *run* for `say`."""
    return f"run {run.spider}:{run.generation}"


def lua_pattern(glob: str) -> str:
    """*glob*, in which `*` matches anything, as a Lua pattern for whole URLs; raises ValueError for too many stars."""
    if glob.count("*") > MOST_STARS:
        raise ValueError(f"expected at most {MOST_STARS} stars")
    escaped = _MAGIC.sub(r"%\1", glob)
    return f"^{escaped.replace('*', '.*')}$"


class Control:
    """Scripts obey changes at once; workers obey them within two seconds, for requests that they hold."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def say(self, verb: Verb, what: str) -> bool:
        """Returns whether that changed anything. *what*: "spider NAME", "host NAME" or "run SPIDER:GENERATION"."""
        return any(await self._shards.run_all("control", verb, what))

    async def said(self) -> ControlState:
        """What is in force."""
        fields = await self._shards.client.hkeys(self._shards.key(0, "control"))
        return ControlState(frozenset(name.decode(errors="replace") for name in fields))

    async def sort_aside(self, *, cancelled: bool = False) -> int:
        """Queue set-aside requests of resumed runs, drop cancelled ones, and if some run was *cancelled* its delayed
        ones too; returns how many requests."""
        return await self._sort(_DELAYED if cancelled else _DELAYED[:1])

    async def drop(self, run: Run, reason: str) -> int:
        """Drop all that is queued and delayed of *run*; returns how many requests. As with `sift`, repeat it."""
        total = 0
        if run.counts.delayed:
            total += await self._sort(_DELAYED, run_target(run).removeprefix("run "), reason)
        if run.counts.queued:
            total += await self.sift(Target(run.spider, run.generation), "drop", reason)
        return total

    async def _sort(self, kinds: Sequence[str], run: str = "", reason: str = "") -> int:
        total = 0
        for shard in range(self._shards.count):
            for kind in kinds:
                at, looked = 0, SLICE
                while looked == SLICE:
                    looked, left = await self._shards.run("control_aside", shard, kind, at, SLICE, run, reason)
                    at, total = at + looked - left, total + left
                    await asyncio.sleep(PAUSE_SECONDS)
        return total

    async def aside(self) -> int:
        """How many requests of paused runs were set aside, where `sift` does not meet them."""
        return sum([await self._shards.client.zcard(key) for key in self._shards.on_each("delayed:aside")])

    async def sift(self, target: Target, action: Action, value: str = "") -> int:
        """Apply *action* to the queued requests of *target*, queue by queue in slices; returns how many matched.

        *value*: the reason of a drop, the new priority, or the new stream. "count" changes nothing, and ignores
        requests queued ahead of the end of their queue: an estimate. Requests whose host is refiled meanwhile may be
        missed: repeat until none match.
        """
        total = 0
        async for shard, stream, host in self._queues(target):
            if not (action == "stream" and stream == value):
                total += await self._sift_one(shard, stream, host, target, action, value)
        return total

    async def _sift_one(self, shard: int, stream: str, host: str, target: Target, action: Action, value: str) -> int:
        at, total, looked, listed = 0, 0, SLICE, 0
        while looked == SLICE or listed:
            looked, meant, listed, invalid = await self._shards.run(
                "control_sift", shard, stream, host, target.generation, target.pattern, action, value, at, SLICE
            )
            total += meant
            if not listed:
                gone = invalid + (meant if action != "count" else 0)
                at += looked - gone
            await asyncio.sleep(PAUSE_SECONDS if looked else 0)
        return total

    async def _queues(self, target: Target) -> AsyncIterator[tuple[int, str, str]]:
        for shard in range(self._shards.count):
            if target.host and shard != self._shards.of_host(target.host):
                continue
            for stream in await self._streams(shard, target.spider):
                hosts = [target.host] if target.host else await self._hosts(shard, stream)
                async for host in self._holders(shard, stream, target.generation, hosts):
                    yield shard, stream, host

    async def _holders(self, shard: int, stream: str, generation: str, hosts: Sequence[str]) -> AsyncIterator[str]:
        """Those of *hosts* that may have requests of *generation*: one call for many, as most have none."""
        if not generation:
            for host in hosts:
                yield host
            return
        at = 0
        while some := hosts[at : at + _HOSTS]:
            looked, *found = await self._shards.run("holders", shard, stream, generation, SLICE, *some)
            for host in found:
                yield host.decode(errors="replace")
            at += looked
            await asyncio.sleep(PAUSE_SECONDS)

    async def _streams(self, shard: int, spider: str) -> list[str]:
        spiders = {spider}
        if not spider:
            spiders = {row[0].decode().partition(":")[0] for row in (await self._shards.stats(shard)).streams}
        return [stream_of(name, tier) + apart for name in sorted(spiders) for tier in TIERS for apart in ("", "!")]

    async def _hosts(self, shard: int, stream: str) -> list[str]:
        client, at_cap = self._shards.client, self._shards.key(shard, f"park:{stream}")
        found = {name async for name in scanned(client.sscan, at_cap)}
        for kind in ("due", "wait"):
            found |= {name async for name, _ in scanned(client.zscan, self._shards.key(shard, f"{kind}:{stream}"))}
        hosts = (name.decode(errors="replace") for name in found)
        return sorted(await with_lines(self._shards, shard, stream, hosts))
