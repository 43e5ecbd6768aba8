"""The dead-letter queue: requests that cannot be done, with the reason, until somebody retries or drops them."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final, Literal

from msgpack.exceptions import UnpackException

from crawler.frontier.messages import DeadLetter
from crawler.frontier.server import keys
from crawler.frontier.server.shards import FEW, Shards, pack, unpack, url_in
from crawler.frontier.server.wire_format import unseal

Kind = Literal["dead", "gone"]
SEED_KEPT: Final = 65_536
DAMAGED: Final = "damaged"  # reason of a letter that cannot be read
_PAGE: Final = 200


class DeadLetters:
    """At most FRONTIER_DEAD_LIMIT letters: beyond it the oldest is evicted, counted, and its fingerprint forgotten.

    With *kind* "gone": pages that sites refuse for good: done, not dead letters; FRONTIER_GONE_LIMIT of them.
    """

    def __init__(self, shards: Shards, kind: Kind = "dead") -> None:
        self._shards = shards
        self._kind = kind

    async def find(
        self, spider: str | None = None, *, host: str | None = None, reason: str | None = None, limit: int = 100
    ) -> list[DeadLetter]:
        """The newest matching letters, newest first; reads the whole index if few match."""
        found: list[DeadLetter] = []
        for shard in range(self._shards.count):
            matching = 0
            async for letter in self._newest(shard):
                if matching >= limit:
                    break
                if spider in {None, letter.spider} and host in {None, letter.host} and reason in {None, letter.reason}:
                    found.append(letter)
                    matching += 1
        return sorted(found, key=lambda letter: -letter.at_ms)[:limit]

    async def of_fingerprint(self, host: str, fingerprint: int) -> list[DeadLetter]:
        """The letters of one page, newest first; reads the index of its shard."""
        shard = self._shards.of_host(host)
        return [letter async for letter in self._newest(shard) if letter.fingerprint == fingerprint]

    async def show(self, letter_id: str) -> DeadLetter | None:
        """One letter by its id; raises ValueError for an invalid id."""
        shard, number = keys.split_id(letter_id)
        if not 0 <= shard < self._shards.count:
            return None
        raw = await self._shards.client.hget(self._shards.key(shard, self._kind), str(number))
        return _read(f"{shard}:{number}", raw) if raw else None

    async def retry(self, ids: Sequence[str], *, generation: str = "") -> list[bool]:
        """Queue letters again with a fresh delivery count, in *generation* where that is given; False where there is
        none. Not for seeds."""
        return await self._on_each("retry_dead", ids, generation)

    async def drop(self, ids: Sequence[str]) -> list[bool]:
        """Drop letters and forget their fingerprints; False if there is none."""
        return await self._on_each("drop_dead", ids)

    async def count(self) -> int:
        """How many letters are kept."""
        return sum([await self._shards.client.hlen(key) for key in self._shards.on_each(self._kind)])

    async def evicted(self) -> int:
        """How many letters FRONTIER_DEAD_LIMIT has evicted so far."""
        return sum(one.evicted for one in await self._shards.stats_all())

    async def bury_seed(
        self, raw: bytes, *, spider: str, reason: str, detail: Mapping[str, Any] | None = None, generation: str = ""
    ) -> bool:
        """Dead-letter an invalid start URL; its letter has an empty host and the entry as its body. It counts as
        accepted and dead in *generation*, once: False for one that is a dead letter of that run already. Of one beyond
        SEED_KEPT bytes the rest is not kept."""
        if len(raw) > SEED_KEPT:
            raw = raw[:SEED_KEPT] + f"... ({len(raw):,} bytes)".encode()
        answer = await self._shards.run("bury_seed", 0, spider, raw, reason, pack(dict(detail or {})), generation)
        return bool(answer)

    async def _on_each(self, name: str, ids: Sequence[str], *arguments: str) -> list[bool]:
        async def run(shard: int, group: Sequence[str]) -> Any:
            numbers = [keys.split_id(id_)[1] for id_ in group]
            return await self._shards.run(name, shard, self._kind, *arguments, *numbers)

        answers = await self._shards.scatter(ids, keys.shard_of_id, run, FEW)
        return [bool(answer) for answer in answers]

    async def _newest(self, shard: int) -> AsyncIterator[DeadLetter]:
        client, at = self._shards.client, 0
        order = self._shards.key(shard, f"{self._kind}:at")
        while numbers := await client.zrevrange(order, at, at + _PAGE - 1):
            raws = await client.hmget(self._shards.key(shard, self._kind), numbers)
            for number, raw in zip(numbers, raws, strict=True):
                if raw is not None:
                    yield _read(f"{shard}:{number.decode(errors='replace')}", raw)
            at += _PAGE


def _read(id_: str, raw: bytes) -> DeadLetter:
    """A letter; of one that is damaged what can be shown: retrying or dropping it sets it aside."""
    try:
        return _letter(id_, raw)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, struct.error, UnpackException) as error:
        detail = {"error": f"this letter is damaged ({error}): drop it", "stored": repr(raw[:200])}
        return DeadLetter(id_, "", "", DAMAGED, 0, 0, 0, "", b"", 0, "", detail)


def _letter(id_: str, raw: bytes) -> DeadLetter:
    row = unpack(raw)
    envelope = unseal(row[b"envelope"])
    detail = {
        name.decode(): value.decode(errors="replace") if isinstance(value, bytes) else value
        for name, value in (unpack(row[b"detail"]) if row[b"detail"] else {}).items()
    }
    if row[b"host"] and (url := url_in(envelope.body)):  # dead letters of scripts name none
        detail.setdefault("url", url)
    return DeadLetter(
        id=id_,
        spider=row[b"stream"].decode().partition(":")[0],
        host=row[b"host"].decode(),
        reason=row[b"reason"].decode(),
        at_ms=int(row[b"at"]),
        deliveries=row[b"deliveries"],
        status=row[b"status"],
        worker=row[b"worker"].decode(),
        body=envelope.body,
        fingerprint=envelope.fingerprint,
        generation=envelope.generation or row[b"generation"].decode(),
        detail=detail,
        nacked=row.get(b"nacked", b"").decode(errors="replace"),
        shares=row.get(b"shares", b"").decode(),
    )
