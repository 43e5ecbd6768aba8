"""The way over the local disk: batches go there while MongoDB is away, and from there to MongoDB in their order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from crawler import stats as names
from crawler import tasks
from crawler.storage.documents import Document, UnstorableError
from crawler.storage.outage import Outage, Stats
from crawler.storage.rejections import Rejection
from crawler.storage.repository import Repository
from crawler.storage.spool.claims import usage
from crawler.storage.spool.entries import Entry
from crawler.storage.spool.spool import Spool, SpoolFullError, batches

POLL_SECONDS: Final = 0.2
ADOPT_LOOKS: Final = 50  # so often between two looks for dead workers' files

logger = logging.getLogger(__name__)


class Detour:
    """Spools batches and replays them: in order, and exactly once in effect.

    A file is deleted when all of it is stored. A worker that dies in between leaves it to the next one, which stores it
    again from its start: the database ignores what it knows.
    """

    def __init__(self, spool: Spool, repository: Repository, outage: Outage, stats: Stats, batch_size: int) -> None:
        self._spool = spool
        self._repository = repository
        self._outage = outage
        self._stats = stats
        self._batch_size = batch_size
        self._full = False
        self._task: asyncio.Task[None] | None = None
        self.changed: Callable[[], None] = lambda: None  # called when the spool has grown or shrunk

    @property
    def taken(self) -> bool:
        """Whether batches have to go this way, because others wait there."""
        return self._spool.waiting

    @property
    def share(self) -> float:
        """How full the spool is, 0 to 1."""
        return self._spool.size / self._spool.max_bytes

    def open(self) -> None:
        """Begin to store what waits; from now on this happens by itself."""
        if self.taken:
            found = usage(self._spool.directory)
            logger.warning("%d bytes of items in %s wait to be stored: now they are", found.size, self._spool.directory)
        self._task = asyncio.create_task(self._run())
        self._count()

    async def take(self, entries: Sequence[Entry]) -> bool:
        """Put *entries* on the disk; False when it takes no more, which is said once."""
        try:
            await self._spool.append(entries)
        except SpoolFullError as error:
            if not self._full:
                logger.error("%s. Items wait, no page is confirmed, until MongoDB stores again", error)
            self._full = True
            self._count()
            return False
        self._full = False
        self._stats.inc_value(names.SPOOLED, len(entries))
        self._count()
        return True

    async def close(self) -> None:
        """Store what waits while MongoDB serves; leave the rest to the next worker, and say so."""
        assert self._task is not None
        while self.taken and self._outage.since is None:  # noqa: ASYNC110 - a state of two, and asked for once
            await asyncio.sleep(POLL_SECONDS / 4)
        await tasks.end(self._task)
        self._count()
        if self.taken:
            text = "Items wait in %s: the next worker on this machine stores them, or `scrapy spool replay`"
            logger.warning(text, self._spool.directory)
        self._spool.close()

    async def _run(self) -> None:
        looks = count(1)
        while True:
            try:
                if next(looks) % ADOPT_LOOKS == 0:
                    self._spool.adopt()
                await self.replay()
            except Exception:
                logger.exception("A spool file could not be replayed; it stays, and is tried again")
                await self._outage.pause(10)
            await asyncio.sleep(POLL_SECONDS)

    async def replay(self) -> int:
        """Store all that waits now; how many entries that were."""
        total = 0
        while (path := await self._spool.oldest()) is not None:
            total += await self._replay(path)
            await asyncio.to_thread(path.unlink)
            self._count()
        if total:
            logger.warning("Stored %d entries of the spool", total)
        return total

    async def _replay(self, path: Path) -> int:
        stored = 0
        reader = batches(path, self._batch_size)
        while batch := await asyncio.to_thread(next, reader, None):
            await self._store(batch)
            self._stats.inc_value(names.REPLAYED, len(batch))
            stored += len(batch)
        return stored

    async def _store(self, batch: Sequence[Entry]) -> None:
        for name in dict.fromkeys(entry.collection for entry in batch if isinstance(entry, Document)):
            documents = [entry for entry in batch if isinstance(entry, Document) and entry.collection == name]
            results = await self._outage.insist(partial(self._repository.store, name, documents))
            refused = zip(documents, results, strict=True)
            await self._reject([_refused(entry, why) for entry, why in refused if isinstance(why, UnstorableError)])
        await self._reject([entry for entry in batch if isinstance(entry, Rejection)])

    async def _reject(self, rejections: Sequence[Rejection]) -> None:
        if rejections:
            await self._outage.insist(partial(self._repository.reject, rejections))

    def _count(self) -> None:
        found = usage(self._spool.directory)
        self._stats.set_value(names.SPOOL_BYTES, found.size)
        self._stats.set_value(names.SPOOL_OLDEST, found.oldest or 0)
        self.changed()


def _refused(entry: Document, why: UnstorableError) -> Rejection:
    logger.warning("Rejected %.300s from the spool, kept in rejected_items: %s", entry.id, why)
    return Rejection.of_stored(entry, f"{why.issue}: {why}")
