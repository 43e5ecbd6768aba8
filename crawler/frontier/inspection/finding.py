"""Where one URL is: queued, delayed, leased, a dead letter, gone, or known as done."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

from crawler.frontier.inspection.inspection import Inspection
from crawler.frontier.messages import DeadLetter, Message
from crawler.frontier.runs.generations import Generations
from crawler.frontier.server import keys
from crawler.frontier.server.shards import Shards, scanned
from crawler.frontier.server.wire_format import read_holder, seal, split_prefixed, unseal
from crawler.frontier.state.dead_letters import DeadLetters
from crawler.frontier.streams import stream_of
from crawler.policy.tiers import TIERS

SLICE: Final = 1_500  # entries per call: a millisecond of the server's time
_FINGERPRINT: Final = slice(2, 10)  # of an envelope
_ID: Final = struct.Struct(">dIH")  # score; id as four bytes and two


@dataclass(frozen=True, slots=True)
class UrlPlace:
    """One place where a request for the URL is or was.

    *state*: queued, delayed, leased, dead, gone or done. *ahead*: requests of its host before it, if queued.
    *until_ms*: from now, if delayed. *why*: the reason if delayed, dead or gone; the worker if leased. *generation*:
    its crawl. *id*: the dead letter's. *nacked*: why it was last put back, if queued, leased, dead or gone (if delayed,
    *why* says so). *error*: the dead letter's, in words.
    """

    state: str
    stream: str
    generation: str
    ahead: int = 0
    until_ms: int = 0
    why: str = ""
    id: str = ""
    nacked: str = ""
    error: str = ""


class UrlFinder:
    """Searches for a fingerprint among its host's requests, without an index. O(requests of the host), in slices."""

    def __init__(self, shards: Shards, inspection: Inspection) -> None:
        self._shards = shards
        self._inspection = inspection

    async def find(self, message: Message) -> list[UrlPlace]:
        """All places; *message* is the URL as its spider would push it. Empty: never seen.

        Known weakness: a request that moves while the look-up runs may be missed; with `FRONTIER_DEDUPE` = compact two
        URLs in 10^18 are confused.
        """
        shard, fingerprint = self._shards.of_host(message.host), seal(message)[_FINGERPRINT]
        found = [one async for one in self._queued(shard, message, fingerprint)]
        found += [one async for one in self._delayed(shard, message.spider, fingerprint)]
        found += [one async for one in self._leased(shard, message.spider, fingerprint)]
        found += await self._letters(message)
        return found or await self._known(shard, message)

    async def _queued(self, shard: int, message: Message, fingerprint: bytes) -> AsyncIterator[UrlPlace]:
        for tier in TIERS:
            for stream in (stream_of(message.spider, tier), stream_of(message.spider, tier) + "!"):
                for queue in keys.queue_names(stream, message.host):
                    async for rank, entry, _ in self._matches(shard, "ahead", f"early:{queue}", fingerprint):
                        before = await self._listed_before(shard, queue, entry)
                        yield await self._in_queue(shard, stream, entry, rank + before)
                    async for rank, entry, _ in self._matches(shard, "list", f"q:{queue}", fingerprint):
                        before = await self._ahead_before(shard, queue, entry)
                        yield await self._in_queue(shard, stream, entry, rank + before)

    async def _in_queue(self, shard: int, stream: str, entry: bytes, ahead: int) -> UrlPlace:
        member = entry[8:]
        nacked = await self._nacked(shard, _number(member))
        return UrlPlace("queued", stream, _generation(member), ahead=ahead, nacked=nacked)

    async def _nacked(self, shard: int, number: int | bytes) -> str:
        """Why the request was last put back; empty if it never was."""
        why = await self._shards.client.hget(self._shards.key(shard, "why"), number)
        return (why or b"").decode(errors="replace")

    async def _ahead_before(self, shard: int, queue: str, entry: bytes) -> int:
        """How many entries ahead of the list's end come before *entry* of the list."""
        key, score = self._shards.key(shard, f"early:{queue}"), _order(entry)[0]
        lower = await self._shards.client.zcount(key, "-inf", f"({score!r}")
        equal = await self._shards.client.zrangebyscore(key, score, score)
        return int(lower) + sum(_order(other) < _order(entry) for other in equal)

    async def _listed_before(self, shard: int, queue: str, entry: bytes) -> int:
        """How many list entries come before *entry* of those ahead of its end, by bisection."""
        key, low = self._shards.key(shard, f"q:{queue}"), 0
        high = int(await self._shards.client.llen(key))
        while low < high:
            middle = (low + high) // 2
            other = await self._shards.client.lindex(key, middle)
            if other is not None and _order(other) < _order(entry):
                low = middle + 1
            else:
                high = middle
        return low

    async def _matches(
        self, shard: int, kind: str, key: str, fingerprint: bytes
    ) -> AsyncIterator[tuple[int, bytes, float]]:
        """Rank, entry and score of each in a list of that *kind*, see lua/upkeep/find.lua."""
        at = 0
        while True:
            answer: Any = await self._shards.run("find", shard, kind, key, at, SLICE, fingerprint)
            if isinstance(answer, list):
                yield answer[0], answer[1], float(answer[2] or 0)
                at = answer[0] + 1
            elif answer < SLICE:
                return
            else:
                at += answer

    async def _delayed(self, shard: int, spider: str, fingerprint: bytes) -> AsyncIterator[UrlPlace]:
        for key in ("delayed", "delayed:room", "delayed:aside"):
            async for _, entry, at in self._matches(shard, "delayed", key, fingerprint):
                stream, rest = split_prefixed(entry)
                if stream.decode().partition(":")[0] == spider:
                    yield await self._until(shard, key, stream.decode(), split_prefixed(rest)[1], at)

    async def _until(self, shard: int, key: str, stream: str, member: bytes, at: float) -> UrlPlace:
        if key == "delayed:aside":
            return UrlPlace("delayed", stream, _generation(member), why="its run is paused")
        wait = max(0, round(at - await self._shards.now_ms(shard)))
        why = await self._nacked(shard, _number(member))
        return UrlPlace("delayed", stream, _generation(member), until_ms=wait, why=why)

    async def _leased(self, shard: int, spider: str, fingerprint: bytes) -> AsyncIterator[UrlPlace]:
        client = self._shards.client
        async for number, envelope in scanned(client.hscan, self._shards.key(shard, "body"), 500):
            if envelope[_FINGERPRINT] != fingerprint:
                continue
            record = await client.hget(self._shards.key(shard, "infl"), number)
            if record is None:
                continue
            stream, generation, worker = read_holder(record)
            if stream.partition(":")[0] == spider:
                yield UrlPlace("leased", stream, generation, why=worker, nacked=await self._nacked(shard, number))

    async def _letters(self, message: Message) -> list[UrlPlace]:
        found: list[UrlPlace] = []
        for kind in ("dead", "gone"):
            letters = DeadLetters(self._shards, kind)
            matching = await letters.of_fingerprint(message.host, message.fingerprint)
            found += [_of_letter(kind, letter) for letter in matching if letter.spider == message.spider]
        return found

    async def _known(self, shard: int, message: Message) -> list[UrlPlace]:
        stats = await self._inspection.stats(message.spider)
        ours = {generation for spider, generation in stats.generations if spider == message.spider and generation}
        ours.add(await Generations(self._shards).current(message.spider))
        envelope = seal(message)
        for generation in sorted(ours, key=int, reverse=True):
            if await self._shards.run("known", shard, f"{message.spider}:{generation}", envelope):
                return [UrlPlace("done", message.stream, generation)]
        return []


def _of_letter(kind: str, letter: DeadLetter) -> UrlPlace:
    error = str(letter.detail.get("error") or "")
    return UrlPlace(
        kind, letter.spider, letter.generation, why=letter.reason, id=letter.id, nacked=letter.nacked, error=error
    )


def _number(member: bytes) -> int:
    return int.from_bytes(member[:6], "big")


def _generation(member: bytes) -> str:
    return unseal(member[9:]).generation


def _order(entry: bytes) -> tuple[float, int, int]:
    score, high, low = _ID.unpack_from(entry)
    return score, high, low
