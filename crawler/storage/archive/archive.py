"""The archive of one worker: once `add` returns, the page is synced to disk and survives any crash."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from pymongo.errors import PyMongoError

from crawler import stats as names
from crawler.policy.endings.backoff import full_jitter
from crawler.storage.archive import files, records
from crawler.storage.archive import index as catalogue
from crawler.storage.archive.config import ArchiveConfig, Keep
from crawler.storage.archive.files import OpenFile
from crawler.storage.archive.finishing import Finisher
from crawler.storage.archive.index import Index
from crawler.storage.archive.records import Original, Page, RecordPlace, WarcRecord
from crawler.storage.archive.store import Store
from crawler.storage.disk_room import DiskRoom
from crawler.storage.items.batcher import Batcher
from crawler.storage.outage import Stats
from crawler.utils import tasks
from crawler.utils.caches import Recent

logger = logging.getLogger(__name__)

BATCH: Final = 64  # pages per sync
BATCH_SECONDS: Final = 0.01
CLOSE_SECONDS: Final = 30.0  # for the last upload; after that it is left to the next worker
LOOKUP_PAUSE_SECONDS: Final = 30.0  # without deduplication, after MongoDB did not answer
RETRY_MAX_SECONDS: Final = 5.0
AGE_LOOKS: Final = 10  # at the file's age, until it has the one at which it is finished
MOST_OWN: Final = 50_000  # bodies of the open file that are known as originals


@dataclass(frozen=True, slots=True)
class Submitted:
    """A page to be archived; *failed* says why its parse failed: such a page is written even if unchanged."""

    page: Page
    failed: str = ""


class UnarchivedError(Exception):
    """The disk has taken nothing for so long that a closing worker gives the page back."""


class Archive:
    """Writes pages in batches, to one file at a time; call `open` first, `close` last.

    A body that is already archived becomes a revisit record. Only records in finished files or in this worker's open
    file serve as originals: another worker's open file may be lost with its machine. While the disk is full or
    ARCHIVE_PENDING_GB waits for upload, `add` does not return, and *pause* is called with the reason, with "" at the
    end; once *gives_up* says, with the seconds that it has lasted, that this is long enough, `add` raises
    UnarchivedError.
    """

    def __init__(
        self,
        config: ArchiveConfig,
        index: Index,
        store: Store,
        stats: Stats,
        pause: Callable[[str], None] = lambda _: None,
        gives_up: Callable[[float], bool] = lambda _: False,
    ) -> None:
        self._config = config
        self._index = index
        self._stats = stats
        self._pause = pause
        self._gives_up = gives_up
        self._room = DiskRoom(self._tell, "the archive")
        self._refused_at: float | None = None  # since when the disk takes nothing
        self._finisher = Finisher(config, index, store, stats)
        self._batcher: Batcher[Submitted, str] = Batcher(self._flush, BATCH, BATCH_SECONDS)
        self._writing = asyncio.Lock()
        self._file: OpenFile | None = None
        self._heading = 0  # bytes of the open file that hold no page
        self._prefix = files.FAILURES if config.keep is Keep.FAILED else "shoal-"
        self._opened_at = 0.0
        self._own: Recent[str, Original] = Recent(MOST_OWN)  # by digest, in the open file
        self._no_lookups_until = 0.0
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Take over files that dead workers left on this disk."""
        for file in await asyncio.to_thread(lambda: list(files.left(self._config.directory))):
            logger.info("Finishing archive file %s, left by a dead worker", file.name)
            self._finisher.finish(file, listed=False)
        self._tasks = [asyncio.create_task(work()) for work in (self._finisher.run, self._roll_old)]

    async def add(self, page: Page, failed: str = "") -> str:
        """The record's id, once it is synced; "" if the page is unchanged and not written."""
        return await self._batcher.submit(object(), Submitted(page, failed))

    def fail(self, record_id: str, reason: str) -> None:
        """Note that the parse of an archived page failed."""
        self._finisher.note("", catalogue.parse_failed(record_id, reason))

    async def close(self) -> None:
        """Finish the file, and wait a limited time for index and upload."""
        await self._batcher.close()
        self._room.forget()
        self._roll()
        if not self._tasks:
            return
        await self._finisher.drain(CLOSE_SECONDS)
        await tasks.end(*self._tasks)
        if not self._finisher.idle:
            logger.warning("Archive files remain in %s: the next worker there finishes them", self._config.directory)
            self._finisher.let_go()

    async def _flush(self, entries: Sequence[Submitted]) -> Sequence[str]:
        async with self._writing:
            digests = await asyncio.to_thread(lambda: [records.digest(one.page.body) for one in entries])
            originals, latest = await self._known(entries, digests)
            chosen: list[tuple[Submitted, WarcRecord]] = []
            ids: list[str] = []
            for one, digest in zip(entries, digests, strict=True):
                last_id, last_digest = latest.get(one.page.url, ("", ""))
                if digest == last_digest and not one.failed:
                    self._finisher.note("", catalogue.seen_again(last_id, one.page.fetched_at))
                    self._stats.inc_value(names.ARCHIVED.format("unchanged"))
                    ids.append("")
                    continue
                chosen.append((one, WarcRecord(records.new_id(), digest, one.page, originals.get(digest))))
                ids.append(chosen[-1][1].id)
            if chosen:
                await self._insist(chosen)
            return ids

    async def _known(
        self, entries: Sequence[Submitted], digests: Sequence[str]
    ) -> tuple[dict[str, Original], dict[str, tuple[str, str]]]:
        """Originals by digest, and in mode `changed` the last record of each URL; nothing while MongoDB is away."""
        known = {digest: self._own[digest] for digest in digests if digest in self._own}
        if time.monotonic() < self._no_lookups_until:
            return known, {}
        days = self._config.keep_days
        since = datetime.now(UTC) - timedelta(days=days / 2) if days else None  # not old enough to be deleted soon
        try:
            changed = self._config.keep is Keep.CHANGED
            latest = await self._index.latest([one.page.url for one in entries]) if changed else {}
            if others := [digest for digest in digests if digest not in known]:
                but = "" if self._prefix == files.FAILURES else files.FAILURES  # they are deleted sooner
                known |= (found := await self._index.originals(others, since, but=but))
                if found:
                    used = {original.place.file for original in found.values()}
                    await self._index.files_used(list(used), datetime.now(UTC))
        except PyMongoError as error:
            logger.info("The archive's index does not answer, archiving all pages until it does: %.200s", error)
            self._no_lookups_until = time.monotonic() + LOOKUP_PAUSE_SECONDS
            return known, {}
        return known, latest

    async def _insist(self, chosen: Sequence[tuple[Submitted, WarcRecord]]) -> None:
        """Retry until the disk takes the batch; meanwhile its pages are not acknowledged."""
        attempt = 0
        while True:
            try:
                await asyncio.to_thread(self._make_room)
                places = await asyncio.to_thread(self._write, [record for _, record in chosen])
                break
            except OSError as error:
                attempt += 1
                self._refused(error)
                if self._config.uri and self._file is not None and self._file.size > self._heading:
                    self._roll()  # the file's own upload may be what makes room
            await asyncio.sleep(0.02 + full_jitter(attempt, 0.1, RETRY_MAX_SECONDS, random.uniform))
        self._refused_at = None
        self._room.taken()
        for (one, record), place in zip(chosen, places, strict=True):
            self._written(one, record, place)

    def _refused(self, error: OSError) -> None:
        """Note that the disk did not take a batch; raises UnarchivedError if nobody may wait any longer."""
        now, reason = time.monotonic(), error.strerror or str(error)
        self._stats.inc_value(names.ARCHIVE_ERRORS)
        if self._refused_at is None:
            self._refused_at = now
        if self._room.refused(f"the archive in {self._config.directory} cannot be written: {reason}"):
            words = "The archive in %s cannot be written: %s. Pages are not acknowledged until it can"
            logger.error(words, self._config.directory, reason)
        if self._gives_up(now - self._refused_at):
            raise UnarchivedError(reason) from error

    def _tell(self) -> None:
        """Tell those who lease pages, and those who look, whether the disk takes them."""
        full = self._room.reason
        if not full:
            logger.warning("The archive in %s accepts pages again", self._config.directory)
        self._stats.set_value(names.ARCHIVE_AWAY, int(bool(full)))
        self._pause(full)

    def _write(self, chosen: Sequence[WarcRecord]) -> list[RecordPlace]:
        data = [records.encode(record) for record in chosen]
        if self._file is None:
            self._file = OpenFile.create(self._config.directory, self._prefix)
            self._opened_at, self._heading = time.monotonic(), self._file.size
        offsets = self._file.append(data)
        name = self._file.name
        return [RecordPlace(name, offset, len(each)) for offset, each in zip(offsets, data, strict=True)]

    def _make_room(self) -> None:
        pending = files.open_bytes(self._config.directory) if self._config.uri else 0
        if pending >= self._config.pending_bytes:
            raise OSError(f"{pending} bytes wait for upload, ARCHIVE_PENDING_GB allows {self._config.pending_bytes}")

    def _written(self, one: Submitted, record: WarcRecord, place: RecordPlace) -> None:
        self._stats.inc_value(names.ARCHIVED.format("revisit" if record.original else "response"))
        self._stats.inc_value(names.ARCHIVE_BYTES, place.length)
        self._finisher.note(place.file, catalogue.added(catalogue.entry(record, place)))
        if one.failed:
            self._finisher.note(place.file, catalogue.parse_failed(record.id, one.failed))
        if record.original is None:
            self._own[record.digest] = Original(place, record.page.url, record.page.fetched_at)
        if self._file is not None and self._file.size >= self._config.most_bytes:
            self._roll()

    async def _roll_old(self) -> None:
        """Finish the file at its age, also where no page comes any more."""
        while True:
            await asyncio.sleep(self._config.file_seconds / AGE_LOOKS)
            async with self._writing:
                if time.monotonic() - self._opened_at >= self._config.file_seconds:
                    self._roll()

    def _roll(self) -> None:
        if self._file is not None:
            self._finisher.finish(self._file)
            self._file = None
            self._own.clear()
