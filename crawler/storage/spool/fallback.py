"""The fallback to local disk: batches go there while MongoDB is away, and to MongoDB later, in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from crawler import stats as names
from crawler.storage.disk_room import DiskRoom
from crawler.storage.items.documents import StoredDocument
from crawler.storage.items.rejections import Rejection
from crawler.storage.items.repository import Repository, parts
from crawler.storage.items.values import UnstorableError
from crawler.storage.outage import MongoOutage, Stats
from crawler.storage.spool.claims import usage
from crawler.storage.spool.entries import Entry
from crawler.storage.spool.spool import Spool, SpoolFullError, aside
from crawler.storage.spool.spool_file import SpoolFile
from crawler.utils import tasks

POLL_SECONDS: Final = 0.2
CLOSE_SECONDS: Final = 20.0  # to store what is spooled when a worker ends; the rest is left to the next worker
ADOPT_LOOKS: Final = 50  # looks at the spool between searches for dead workers' files

logger = logging.getLogger(__name__)


class SpoolFallback:
    """Spools batches and replays them: in order, and exactly once in effect.

    A file is deleted once all of it is stored. If a worker dies in between, the next one stores the file again from the
    start: the database ignores repetitions.
    """

    def __init__(
        self, spool: Spool, repository: Repository, outage: MongoOutage, stats: Stats, batch_size: int
    ) -> None:
        self._spool = spool
        self._repository = repository
        self._outage = outage
        self._stats = stats
        self._batch_size = batch_size
        self._room = DiskRoom(self._count, "the spool")
        self._used = 0  # bytes
        self.damaged = 0  # files that could not be stored completely
        self._task: asyncio.Task[None] | None = None
        self.changed: Callable[[], None] = lambda: None  # called when the spool has grown or shrunk

    @property
    def taken(self) -> bool:
        """Whether batches must go to the spool, because others wait there."""
        return self._spool.waiting

    @property
    def refused(self) -> str:
        """Why the spool takes nothing now."""
        return self._room.reason

    @property
    def share(self) -> float:
        """How full the spool is, 0 to 1, or was when its directory could be read last."""
        return self._used / self._spool.max_bytes

    def open(self) -> None:
        """Start storing what is spooled, now and in future."""
        if self.taken:
            found = usage(self._spool.directory)
            logger.warning("Storing %d bytes of items that wait in %s", found.size, self._spool.directory)
        self._task = asyncio.create_task(self._run())
        self._count()

    async def take(self, entries: Sequence[Entry]) -> bool:
        """Write *entries* to disk; False if that fails, which is logged once: some may be there then, which does no
        harm."""
        try:
            for part in parts(entries, lambda entry: len(entry.body.raw)):  # each is read back whole
                await self._spool.append(part)
        except SpoolFullError as error:
            if self._room.refused(str(error)):
                logger.error(
                    "%s. Items wait, and no page is acknowledged, until MongoDB stores again or there is room", error
                )
            return False
        self._room.taken()
        self._stats.inc_value(names.SPOOLED, len(entries))
        self._count()
        return True

    async def close(self) -> None:
        """Store what is spooled while MongoDB serves, for CLOSE_SECONDS; leave the rest to the next worker, with a log
        line. Also where MongoDB went before it was opened."""
        if self._task is None:
            self._spool.close()
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                while self.taken and self._outage.since is None:  # noqa: ASYNC110 - a state of two, asked for once
                    await asyncio.sleep(POLL_SECONDS / 4)
        await tasks.end(self._task)
        self._room.forget()
        self._count()
        if self.taken:
            text = "Items wait in %s: the next worker on this machine stores them, or `scrapy spool replay`"
            logger.warning(text, self._spool.directory)
        self._spool.close()

    async def _run(self) -> None:
        looks, is_lost = count(1), False
        while True:
            try:
                if next(looks) % ADOPT_LOOKS == 0:
                    self._spool.adopt()
                await self.replay()
                if is_lost:
                    self._room.freed()
                is_lost = False
            except OSError as error:  # of its directory: somebody else's now, moved, or no descriptor is free
                is_lost = True
                if self._room.refused(f"{self._spool.directory} cannot be searched: {error.strerror}"):
                    logger.error("%s. It is tried again until it can", self._room.reason)
                await self._outage.pause(10)
            except Exception:
                logger.exception("The spool in %s cannot be searched; retrying", self._spool.directory)
                await self._outage.pause(10)
            await asyncio.sleep(POLL_SECONDS)

    async def replay(self) -> int:
        """Store everything spooled now; returns the number of entries. A file that is not fully stored is set aside."""
        total = 0
        while (path := await self._spool.oldest()) is not None:
            file = SpoolFile(path)
            total += await self._replay(file)
            await self._spool.done_with(path, keep=bool(file.damage))
            self._count()
        if total or not self._outage.on:  # an empty spool says nothing of a disk that takes nothing
            self._room.freed()
        if total:
            logger.warning("Stored %d entries from the spool", total)
        return total

    async def again(self, path: Path) -> int:
        """Store what can be stored of a file that was set aside, and delete it if that is all; returns the number of
        entries."""
        file = SpoolFile(path)
        stored = await self._replay(file)
        if not file.damage:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        return stored

    async def _replay(self, file: SpoolFile) -> int:
        """Store each storable entry of *file* and note the others as damage; returns how many were stored."""
        stored = 0
        reader = file.batches(self._batch_size)
        while batch := await asyncio.to_thread(next, reader, None):
            done = await self._store(batch, file)
            self._stats.inc_value(names.REPLAYED, done)
            stored += done
        if file.damage:
            self.damaged += 1
            self._stats.inc_value(names.SPOOL_DAMAGED)
            text = "%s is damaged: %s. All else in it is stored, and the file is kept as %s"
            logger.error(text, file.path, file.describe(), aside(file.path).name)
        return stored

    async def _store(self, batch: Sequence[Entry], file: SpoolFile) -> int:
        """Returns how many were stored; one at a time if something is wrong with one of them."""
        try:
            await self._write(batch)
        except Exception as error:  # noqa: BLE001 - it is the file's damage, which is said and kept
            if len(batch) > 1:
                return sum([await self._store([entry], file) for entry in batch])
            file.damage.append(f"{batch[0].id:.200} cannot be stored: {type(error).__name__} {error!s:.200}")
            return 0
        return len(batch)

    async def _write(self, batch: Sequence[Entry]) -> None:
        for name in dict.fromkeys(entry.collection for entry in batch if isinstance(entry, StoredDocument)):
            documents = [entry for entry in batch if isinstance(entry, StoredDocument) and entry.collection == name]
            results = await self._outage.insist(partial(self._repository.store, name, documents))
            refused = zip(documents, results, strict=True)
            await self._reject([_refused(entry, why) for entry, why in refused if isinstance(why, UnstorableError)])
        await self._reject([entry for entry in batch if isinstance(entry, Rejection)])

    async def _reject(self, rejections: Sequence[Rejection]) -> None:
        if rejections:
            results = await self._outage.insist(partial(self._repository.reject, rejections))
            if refused := [why for why in results if why is not None]:
                raise refused[0]

    def _count(self) -> None:
        with contextlib.suppress(OSError):  # it cannot be read: who wants to write or search it says so
            found = usage(self._spool.directory)
            self._used = found.size
            self._stats.set_value(names.SPOOL_BYTES, found.size)
            self._stats.set_value(names.SPOOL_LIMIT, self._spool.max_bytes)
            self._stats.set_value(names.SPOOL_OLDEST, found.oldest or 0)
        self.changed()


def _refused(entry: StoredDocument, why: UnstorableError) -> Rejection:
    where = entry.body.get("url") or entry.id
    logger.warning("Rejected %.300s from the spool, kept in rejected_items: %s", where, why)
    return Rejection.of_stored(entry, f"{why.issue}: {why}")
