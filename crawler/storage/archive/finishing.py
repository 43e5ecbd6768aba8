"""Work after a page is synced: its index entry, and for a finished file upload and retention. Pages never wait for
this; the next worker that finds the files finishes what is left."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from pymongo import UpdateOne
from pymongo.errors import PyMongoError

from crawler import stats as names
from crawler.storage.archive import files, records
from crawler.storage.archive import index as catalogue
from crawler.storage.archive.config import ArchiveConfig
from crawler.storage.archive.files import OpenFile
from crawler.storage.archive.index import Index, KeptFile
from crawler.storage.archive.members import ArchiveDamage
from crawler.storage.archive.records import RecordPlace, WarcRecord
from crawler.storage.archive.store import STORE_ERRORS, Store, in_words
from crawler.storage.connection import first_clause
from crawler.storage.outage import NoStats, Stats
from crawler.utils.batches import batched
from crawler.utils.plural import several

logger = logging.getLogger(__name__)

BATCH: Final = 500
MAX_WAITING: Final = 50_000  # updates held in memory; if one of a file is dropped, all are read from the file again
PAUSE_SECONDS: Final = (0.05, 30.0)  # between retries, doubling
PRUNE_SECONDS: Final = 600
MOST_UNDELETED: Final = 3  # in a row, before the store itself is taken to be away


class Finisher:
    """Indexes records and finishes files in the background, while `run` runs."""

    def __init__(
        self, config: ArchiveConfig, index: Index, store: Store, stats: Stats, now: Callable[[], datetime] | None = None
    ) -> None:
        self._config = config
        self._index = index
        self._store = store
        self._stats = stats
        self._now = now or (lambda: datetime.now(UTC))
        self._updates: deque[tuple[str, UpdateOne]] = deque()
        self._unlisted: set[str] = set()  # files whose entries have to be read from the file
        self._finished: deque[OpenFile] = deque()
        self._wake = asyncio.Event()
        self._done = asyncio.Event()
        self._ensured = False
        self._pruned_at: datetime | None = None
        self._stuck: set[str] = set()  # files that could not be deleted at the last try
        self._failing = False
        self.damage: list[str] = []  # in files of dead workers, as text

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do."""
        return not self._updates and not self._finished

    def note(self, file: str, update: UpdateOne) -> None:
        """Queue *update*, about a record of *file*, for the index."""
        if len(self._updates) >= MAX_WAITING:
            lost, _ = self._updates.popleft()
            self._unlisted.add(lost)
        self._updates.append((file, update))
        self._stir()

    def finish(self, file: OpenFile, *, listed: bool = True) -> None:
        """Keep *file*, which is complete; *listed*: its entries went through `note`."""
        if not listed:
            self._unlisted.add(file.name)
        self._finished.append(file)
        self._stir()

    async def run(self) -> None:
        """Work until cancelled; waits after a failure, and logs the first one."""
        pause = PAUSE_SECONDS[0]
        while True:
            await self._woken()
            try:
                await self.step()
            except Exception as error:  # noqa: BLE001 - whatever it is, the other files and the next try go on
                self._fails(error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, PAUSE_SECONDS[1])
            else:
                pause, self._failing = PAUSE_SECONDS[0], False
                await asyncio.sleep(PAUSE_SECONDS[0])  # gathers a batch

    async def step(self) -> None:
        """Do all pending work; raises PyMongo's errors and STORE_ERRORS without losing any."""
        self._wake.clear()
        if not self._ensured:
            await self._index.ensure()
            self._ensured = True
        while self._updates:
            await self._write(min(len(self._updates), BATCH))
        while self._finished:
            try:
                await self._keep(self._finished[0])
            except (PyMongoError, *STORE_ERRORS):
                self._finished.rotate(-1)  # the others may fare better
                raise
            self._finished.popleft()
            self._pruned_at = None  # the size limit may be exceeded now
        await self._prune()
        if self.idle:
            self._done.set()

    async def drain(self, seconds: float) -> None:
        """Return when everything is done, or after *seconds*."""
        self._wake.set()
        try:
            async with asyncio.timeout(seconds):
                await self._done.wait()
        except TimeoutError:
            return

    def let_go(self) -> None:
        """Leave unfinished files to the next worker."""
        while self._finished:
            self._finished.popleft().close()

    def _stir(self) -> None:
        self._done.clear()
        self._wake.set()

    async def _woken(self) -> None:
        try:
            async with asyncio.timeout(PRUNE_SECONDS):
                await (asyncio.sleep(0) if not self.idle else self._wake.wait())
        except TimeoutError:
            return

    async def _write(self, count: int) -> None:
        batch = [self._updates[position] for position in range(count)]
        await self._enter([update for _, update in batch])
        for one in batch:
            if self._updates and self._updates[0] is one:  # else newer ones have pushed it out
                self._updates.popleft()

    async def _enter(self, updates: Sequence[UpdateOne]) -> str:
        """Write *updates* to the index; returns what it refuses, in words."""
        if not (refused := await self._index.write(updates)):
            return ""
        self._stats.inc_value(names.ARCHIVE_ERRORS, len(refused))
        words = f"MongoDB refuses the entries of {several(len(refused), 'archived page')}, such as: {refused[0]:.300}"
        logger.error("%s. They stay in their files, and out of `scrapy reparse`", words)
        return words

    async def _keep(self, file: OpenFile) -> None:
        await asyncio.to_thread(file.restore)
        if file.name in self._unlisted:
            await self._list(file)
        size = file.size
        if not size:
            await asyncio.to_thread(file.remove)
            return
        await self._index.file_complete(file.name, size, self._store.where, self._now())
        await self._store.keep(file)
        with suppress(PyMongoError):  # no record refers to those of this file then, which costs only room
            await self._index.file_kept(file.name, self._now())
        self._stats.inc_value(names.ARCHIVE_FILES)
        self._unlisted.discard(file.name)

    async def _list(self, file: OpenFile) -> None:
        """Read the entries of *file* from the file, in pieces."""
        with file.path.open("rb") as stream:
            batches = batched(records.scan(stream), BATCH)
            while batch := await asyncio.to_thread(next, batches, None):
                added = [_added(file.name, one) for one in batch if not isinstance(one, ArchiveDamage)]
                if refused := await self._enter(added):
                    self.damage.append(f"Archive file {file.name}: {refused}")
                for offset, length in (one for one in batch if isinstance(one, ArchiveDamage)):
                    words = (
                        f"Archive file {file.name} is damaged from byte {offset} on, {length} bytes; the rest is kept"
                    )
                    logger.error(words)
                    self.damage.append(words)

    async def _prune(self) -> None:
        """Delete files that are too old, then those beyond the size limit, least recently used first; raises PyMongo's
        errors."""
        now, config = self._now(), self._config
        if self._pruned_at is not None and now - self._pruned_at < timedelta(seconds=PRUNE_SECONDS):
            return
        if config.keep_days or config.keep_bytes or config.failed_bytes:
            found = await asyncio.to_thread(self._store.own, await self._index.files(self._store.where))
            await self._prune_all(sorted(found, key=lambda one: one.name in self._stuck))
        self._pruned_at = now

    async def _prune_all(self, found: Sequence[KeptFile]) -> None:
        """Apply each limit to its files; logs which cannot be deleted, each once."""
        stay: dict[str, str] = {}
        told = set(self._stuck)
        try:
            failures = [one for one in found if files.only_failures(one.name)]
            deleted = await self._prune_beyond(failures, self._config.failed_bytes, stay)
            others = [one for one in found if one.name not in deleted]
            await self._prune_beyond(others, self._config.keep_bytes, stay)
        except STORE_ERRORS:  # of the last in a row: it is told below, with the others
            pass
        finally:
            if news := [name for name in stay if name not in told]:
                words = (
                    "Cannot delete %s at %s that ARCHIVE_KEEP_DAYS, ARCHIVE_KEEP_GB or ARCHIVE_FAILED_GB end: %s (%s)"
                )
                logger.error(words, several(len(news), "archive file"), self._store.where, news[0], stay[news[0]])

    async def _prune_beyond(self, found: Sequence[KeptFile], most: int, stay: dict[str, str]) -> set[str]:
        """Of *found*, in their order, delete what is too old or, unless that is 0, beyond *most* bytes; returns their
        names. What cannot be deleted is added to *stay*, with the reason, and does not count: others would go for it.
        Raises STORE_ERRORS for several in a row."""
        total = sum(one.size for one in found if one.name not in self._stuck)
        deleted, in_a_row = set[str](), 0
        for name, size, used_at in found:
            if name in stay:
                continue
            others = total if name in self._stuck else total - size
            if not self._is_old(used_at) and not (most and others + size > most):
                self._stuck.discard(name)
                total = others + size
                continue
            total = others
            try:
                await self._store.delete(name)
            except STORE_ERRORS as error:  # such as without the right to delete: others may be deleted all the same
                self._stats.inc_value(names.ARCHIVE_ERRORS)
                self._stuck.add(name)
                stay[name], in_a_row = in_words(error), in_a_row + 1
                if in_a_row == MOST_UNDELETED:
                    raise
                continue
            await self._index.forget(name)
            self._stats.inc_value(names.ARCHIVE_PRUNED)
            logger.info("Deleted archive file %s: last used %s, %d bytes", name, used_at, size)
            self._stuck.discard(name)
            in_a_row = 0
            deleted.add(name)
        return deleted

    def _is_old(self, used_at: datetime) -> bool:
        days = self._config.keep_days
        return days > 0 and used_at < self._now() - timedelta(days=days)

    def _fails(self, error: Exception) -> None:
        self._stats.inc_value(names.ARCHIVE_ERRORS)
        if not self._failing:
            self._failing = True
            words = "Archived pages cannot be indexed or uploaded yet (%s at %s): %s. They are safe on this disk"
            reason = first_clause(error) if isinstance(error, PyMongoError) else in_words(error)
            logger.error(words, type(error).__name__, self._store.where, reason)


async def finish_left(config: ArchiveConfig, index: Index, store: Store) -> list[str]:
    """Finish files that dead workers left on this disk; returns their damage as text.

    Raises PyMongo's errors and STORE_ERRORS.
    """
    finisher = Finisher(config, index, store, NoStats())
    found = await asyncio.to_thread(lambda: list(files.left(config.directory)))
    for file in found:
        finisher.finish(file, listed=False)
    try:
        await finisher.step()
    finally:
        finisher.let_go()
    return finisher.damage


async def unlisted(config: ArchiveConfig, index: Index) -> list[str]:
    """Names of finished files on this disk that the index does not know: those of another database, or of this one from
    before it was lost or set back. Raises PyMongo's errors."""
    found = await asyncio.to_thread(files.finished, config.directory)
    known = await index.kept(found)
    return [name for name in found if name not in known]


def _added(name: str, found: tuple[WarcRecord, tuple[int, int]]) -> UpdateOne:
    record, span = found
    return catalogue.added(catalogue.entry(record, RecordPlace(name, *span)))
