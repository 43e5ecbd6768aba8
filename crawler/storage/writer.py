"""Stores items: once `store` returns, the item is durable, exactly once, whatever crashes afterwards."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from pymongo.errors import PyMongoError
from twisted.python.reflect import safe_str

from crawler.items import Item
from crawler.storage.config import StorageConfig
from crawler.storage.items.batcher import Batcher, Flush
from crawler.storage.items.documents import StoredDocument, document
from crawler.storage.items.origin import Origin
from crawler.storage.items.rejections import Rejection
from crawler.storage.items.repository import Repository, Result, StoreResult
from crawler.storage.items.values import LIGHT, HeavyError, UnstorableError
from crawler.storage.outage import AwayError, MongoOutage
from crawler.storage.spool.entries import Entry
from crawler.storage.spool.fallback import SpoolFallback

T = TypeVar("T")
R = TypeVar("R")


def _now() -> datetime:
    return datetime.now(UTC)


class Writer:
    """Writes items in batches, one batcher per collection.

    Call `open` first, `close` last. While MongoDB is away, batches go to *fallback*, the local disk; without one, or
    while it is full, `store` and `reject` do not return before *gives_up* says, with the seconds that MongoDB has been
    away, that it has been long enough: then they raise AwayError.
    """

    def __init__(
        self,
        repository: Repository,
        config: StorageConfig,
        outage: MongoOutage,
        fallback: SpoolFallback | None = None,
        now: Callable[[], datetime] = _now,
        gives_up: Callable[[float], bool] = lambda _: False,
    ) -> None:
        self._repository = repository
        self._config = config
        self._outage = outage
        self._fallback = fallback
        self._now = now
        self._gives_up = gives_up
        self._items: dict[str, Batcher[StoredDocument, StoreResult]] = {}
        self._rejected: Batcher[Rejection, None] = self._batcher(self._flush_rejected)

    async def open(self) -> None:
        """Prepare the database and start storing what is spooled on this disk; raises ServiceError."""
        await self._repository.prepare()
        if self._fallback is not None:
            self._fallback.open()

    async def store(self, item: Any, origin: Origin | None = None) -> StoreResult:
        """Store one item and return once it is durable; without a time of its own or its page it counts as fetched now.

        Raises UnstorableError, at once or after the server's answer, for an item that can never be stored, and
        DuplicateError for one that is only linked to a document with its content.
        """
        own = item.fetched_at if isinstance(item, Item) else None
        fetched_at = own or (origin.fetched_at if origin is not None else self._now())
        try:
            entry = document(item, fetched_at, self._config.item_max_bytes, origin, LIGHT)
        except HeavyError:
            entry = await asyncio.to_thread(document, item, fetched_at, self._config.item_max_bytes, origin)
        batcher = self._items.get(entry.collection)
        if batcher is None:
            flush = functools.partial(self._flush_items, entry.collection)
            batcher = self._items[entry.collection] = self._batcher(flush)
        return await batcher.submit(entry.id, entry)

    async def reject(self, item: Any, reasons: Sequence[str], origin: Origin | None = None) -> None:
        """Keep a rejected item with the reasons; returns once that is durable."""
        entry = Rejection.of(item, reasons, self._now(), self._config.item_max_bytes, origin)
        await self._rejected.submit(entry.id, entry)

    async def close(self) -> None:
        """Write what is pending, and what is spooled unless MongoDB is away."""
        for batcher in self._items.values():
            await batcher.close()
        await self._rejected.close()
        if self._fallback is not None:
            await self._fallback.close()

    def _batcher(self, flush: Flush[T, R]) -> Batcher[T, R]:
        return Batcher(flush, self._config.batch_size, self._config.batch_ms / 1000)

    async def _flush_rejected(self, entries: Sequence[Rejection]) -> Sequence[UnstorableError | None]:
        done = await self._deliver(entries, lambda: self._repository.reject(entries))
        return [None] * len(entries) if done is None else done

    async def _flush_items(self, name: str, entries: Sequence[StoredDocument]) -> Sequence[Result]:
        try:
            done = await self._deliver(entries, lambda: self._repository.store(name, entries))
        except (AwayError, PyMongoError, OSError, MemoryError):  # the machine's fault, if anybody's, and no item's
            raise
        except Exception as error:  # noqa: BLE001 - a stored document of another form than ours: its item alone suffers
            if len(entries) > 1:
                return [result for entry in entries for result in await self._flush_items(name, [entry])]
            return [UnstorableError("unwritable", f"{entries[0].id}: {type(error).__name__}: {safe_str(error):.200}")]
        return [StoreResult.SPOOLED] * len(entries) if done is None else done

    async def _deliver(self, entries: Sequence[Entry], write: Callable[[], Awaitable[list[R]]]) -> list[R] | None:
        """The result of *write* once MongoDB served it; None if *entries* went to the local disk instead."""
        attempt = 0
        while True:
            tried = attempt == 0 and self._gives_up(self._outage.seconds)  # by others: each try may take a minute
            if not tried and (self._fallback is None or not self._fallback.taken):  # nothing overtakes what is spooled
                try:
                    return await self._outage.attempt(write)
                except AwayError:
                    attempt += 1
            if self._fallback is not None and await self._fallback.take(entries):
                return None
            if self._gives_up(self._outage.seconds):
                raise AwayError("neither MongoDB nor a spool takes anything")
            await self._outage.pause(attempt)
