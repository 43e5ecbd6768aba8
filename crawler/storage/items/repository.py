"""What one batch does in MongoDB. Every call is idempotent: it may be repeated, in full or in part, by any worker."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from time import monotonic
from typing import Any, Final, TypeVar

from bson.codec_options import CodecOptions, DatetimeConversion
from pymongo.errors import PyMongoError

from crawler import stats as names
from crawler.errors import ServiceError
from crawler.storage import foreign_collections, indexes
from crawler.storage.collection_names import DUPLICATES, REJECTED, RUN_ITEMS
from crawler.storage.config import StorageConfig
from crawler.storage.connection import Database, first_clause
from crawler.storage.items import bulk, duplicates, history, item_indexes
from crawler.storage.items.documents import StoredDocument
from crawler.storage.items.duplicates import DuplicateError
from crawler.storage.items.rejections import Rejection
from crawler.storage.items.run_items import RunItems
from crawler.storage.items.update import is_ahead, shortcut, upsert
from crawler.storage.items.values import UnstorableError
from crawler.storage.outage import ServerError, Stats

logger = logging.getLogger(__name__)


class StoreResult(StrEnum):
    """What an observation changed."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    STALE = "stale"  # a newer observation is stored already, so this one was ignored
    SPOOLED = "spooled"  # safe on local disk until MongoDB is back


# Characters of a generation that is one run's: its day and number (frontier/run_record.py).
OWN_GENERATION: Final = 14
# Naive UTC times: with a zone they cost more to read than everything else.
_NAIVE: Final[CodecOptions[dict[str, Any]]] = CodecOptions(
    datetime_conversion=DatetimeConversion.DATETIME_CLAMP, unicode_decode_error_handler="replace"
)

Result = StoreResult | UnstorableError | DuplicateError
Results = dict[str, Result]  # by `_id`
States = dict[str, dict[str, Any]]
T = TypeVar("T")

BATCH_BYTES: Final = 8 * 2**20  # of documents: PyMongo copies what it sends at once, 50 MB of it in 0.1 s

# The fields that predict what an update will do.
_HEAD = dict.fromkeys(("content_hash", "last_seen_at", "pending_changes", "version"), 1)
# The fields that show afterwards what it did, and the changes to be recorded.
_STATE = dict.fromkeys(("content_hash", "last_seen_at", "last_changed_at", "version", "pending_changes"), 1)


class Repository:
    """Items, their change history, and rejections; raises PyMongo's errors and ServerError.

    Known weakness: the result is read after the write, so if two workers write one item within a millisecond or two,
    the reported result (not the stored state) may be the other's; it only feeds statistics.
    """

    def __init__(self, database: Database, config: StorageConfig, stats: Stats) -> None:
        self._database = database
        self._config = config
        self._stats = stats
        self._watch = foreign_collections.Watch(database, partial(item_indexes.ensure, database, config))
        self._refused: dict[str, tuple[float, str]] = {}  # by collection: when looked at first, why not written to
        self._run_items = RunItems(database, config.run_items_kept)
        self._told: set[str] = set()  # collections of which `_notice` or `_count` has said it
        self._ahead: set[str] = set()  # the same of `_tell_of_clock`

    async def prepare(self) -> None:
        """Create indexes and finish what a killed worker left pending; raises ServiceError if that fails, or where a
        collection is of a form that loses documents."""
        history_names = (*self._config.history, *self._config.history.values())
        try:
            await foreign_collections.check(self._database, foreign_collections.NAMES.union(history_names))
            await indexes.ensure_expiry(self._database, REJECTED, self._config.rejected_days)
            for items, records in self._config.history.items():
                await indexes.ensure_items(self._database[items])
                await indexes.ensure_history(self._database[records])
                self._count(records, await history.drain(self._database[items], self._database[records]))
            await self._watch.check(REJECTED, *history_names)
        except (PyMongoError, ServerError) as error:
            raise ServiceError(f"MongoDB cannot be prepared for storing: {first_clause(error):.600}") from error

    async def reject(self, entries: Sequence[Rejection]) -> list[UnstorableError | None]:
        """Keep rejections; returns the reason for each that even this collection refuses."""
        await self._watch.check(REJECTED)
        found: list[UnstorableError | None] = []
        for part in parts(entries, _size):
            _, refused = await bulk.apply(self._database[REJECTED], [entry.update() for entry in part])
            found += [refused.get(position) for position in range(len(part))]
        return found

    async def store(self, name: str, entries: Sequence[StoredDocument]) -> list[Result]:
        """Write observations of different items of one collection, and their changes to its history."""
        sent = [await self._store(name, part) for part in parts(entries, _size)]
        return [result for results in sent for result in results]

    async def _store(self, name: str, entries: Sequence[StoredDocument]) -> list[Result]:
        if unfit := await self._ensure(name):
            return [UnstorableError("refused_by_mongodb", unfit) for _ in entries]
        heads = await self._read(name, entries, _HEAD)
        self._tell_of_clock(name, entries, heads)
        done = await self._link(name, [entry for entry in entries if entry.distinctive and entry.id not in heads])
        done |= await self._shorten(name, [entry for entry in entries if entry.id not in done], heads)
        decided, stored = await self._decide(name, [entry for entry in entries if entry.id not in done])
        done |= decided
        plain = {entry.run for entry in entries if self._run_items.is_new(entry.run) and _is_plain(entry)}
        await self._run_items.add(name, _by_run(entries, done, heads | stored), plain)
        return [done[entry.id] for entry in entries]

    async def _link(self, name: str, entries: Sequence[StoredDocument]) -> Results:
        if not entries or name not in self._config.link_duplicates:
            return {}
        return {**await duplicates.link(self._database, name, entries)}

    async def _shorten(self, name: str, entries: Sequence[StoredDocument], heads: States) -> Results:
        """Write new and unchanged ones by shortcut; leaves out what another worker has written meanwhile."""
        taken = [(entry, way) for entry in entries if (way := shortcut(entry, heads.get(entry.id))) is not None]
        if not taken:
            return {}
        written = await bulk.write(self._database[name], [way for _, way in taken])
        stayed = written.matched == sum(entry.id in heads for entry, _ in taken)
        done: Results = {}
        for position, (entry, _) in enumerate(taken):
            if (error := written.errors.get(position)) is not None:
                if not bulk.is_taken(error):
                    done[entry.id] = bulk.reason(error)
            elif (head := heads.get(entry.id)) is None:
                done[entry.id] = StoreResult.NEW
            elif stayed:
                done[entry.id] = StoreResult.STALE if head["last_seen_at"] > entry.naive_time else StoreResult.UNCHANGED
        return done

    async def _decide(self, name: str, entries: Sequence[StoredDocument]) -> tuple[Results, States]:
        """Write the others by the update that decides on the server; its changes are recorded."""
        if not entries:
            return {}, {}
        inserted, refused = await self._update(name, entries)
        done: Results = {entries[position].id: error for position, error in refused.items()}
        done |= {entries[position].id: StoreResult.NEW for position in inserted}
        matched = [entry for entry in entries if entry.id not in done]
        stored = await self._read(name, matched, _STATE)
        if pending := [state for state in stored.values() if "pending_changes" in state]:
            await self._record(name, pending)
        self._notice(name, matched, stored)
        return done | {entry.id: _result(entry, stored.get(entry.id)) for entry in matched}, stored

    async def _update(
        self, name: str, entries: Sequence[StoredDocument]
    ) -> tuple[set[int], dict[int, UnstorableError]]:
        """As `bulk.apply`. What is refused where changes of its document are pending, such as those of a worker that
        was killed, is offered again without them: a document has 16 MB."""
        history, restate = name in self._config.history, self._config.restate
        updates = [upsert(entry, history=history, restate=restate) for entry in entries]
        inserted, refused = await bulk.apply(self._database[name], updates)
        states = await self._read(name, [entries[position] for position in refused], _STATE)
        if pending := [state for state in states.values() if "pending_changes" in state]:
            await self._record(name, pending)
            _, again = await bulk.apply(self._database[name], [updates[position] for position in refused])
            refused = {[*refused][index]: error for index, error in again.items()}
        return inserted, refused

    def _notice(self, name: str, entries: Sequence[StoredDocument], stored: States) -> None:
        """Say it, once, where the items of a page lack keys: the first is stored, and the others are lost as stale."""
        for entry in entries if name not in self._told else ():
            state = stored.get(entry.id, {})
            same_time = state.get("last_seen_at") == entry.naive_time
            if same_time and state.get("content_hash") != entry.content_hash:
                self._told.add(name)
                text = "%.300s of %s was seen with different content at one time, and only the first is stored. %s"
                logger.warning(text, entry.id, name, "Several items of a page each need a `key` (docs/spiders.md)")
                return

    def _tell_of_clock(self, name: str, entries: Sequence[StoredDocument], heads: States) -> None:
        """Say it, once, where a stored time is far ahead of now. Beside an observation that was spooled for days, or
        is parsed again, it may be right."""
        now = datetime.now(UTC).replace(tzinfo=None)
        far = [entry for entry in entries if entry.id in heads and is_ahead(heads[entry.id], now)]
        if far and name not in self._ahead:
            self._ahead.add(name)
            text = "%.300s of %s was last seen at %s, says MongoDB, and now at %s: a clock was wrong. %s"
            seen, words = heads[far[0].id]["last_seen_at"], "What lies a day ahead of MongoDB's clock is replaced"
            logger.warning(text, far[0].id, name, seen, far[0].naive_time, words)

    async def _ensure(self, name: str) -> str:
        """Look at the collection and create its indexes before its first items; returns why it must not be written
        to. Raises ServerError while another one is in its place, or in that of one that is written with it."""
        looked_at, known = self._refused.get(name, (-math.inf, None))
        if known == "":
            await self._watch.check(name, *self._written_with(name))
            return ""
        if known is not None and monotonic() - looked_at < foreign_collections.LOOK_SECONDS:
            return known
        tells = known is None and name not in foreign_collections.NAMES  # of those `prepare` has told
        look = foreign_collections.look if tells else foreign_collections.unfit
        unfit = "".join((await look(self._database, {name})).values())
        if not unfit:
            await item_indexes.ensure(self._database, self._config, name)
        self._refused[name] = monotonic(), unfit
        return unfit or await self._ensure(name)

    def _written_with(self, name: str) -> list[str]:
        """What else a batch of its items may write to."""
        used = {RUN_ITEMS: self._config.run_items_kept, DUPLICATES: name in self._config.link_duplicates}
        history = self._config.history.get(name)
        return [*(other for other, is_used in used.items() if is_used), *([history] if history else [])]

    async def _read(self, name: str, entries: Sequence[StoredDocument], fields: Mapping[str, int]) -> States:
        """The stored state by `_id`."""
        if not entries:
            return {}
        query = {"_id": {"$in": [entry.id for entry in entries]}}
        found = self._database[name].with_options(_NAIVE).find(query, fields, batch_size=len(entries))
        return {state["_id"]: state async for state in found}

    async def _record(self, name: str, documents: Sequence[dict[str, Any]]) -> None:
        records = self._database[self._config.history[name]]
        self._count(records.name, await history.record(self._database[name], records, documents))

    def _count(self, records: str, recorded: history.Recorded) -> None:
        self._stats.inc_value(names.CHANGES, recorded.done)
        if not recorded.refused:
            return
        self._stats.inc_value(names.CHANGES_REFUSED, recorded.refused)
        if records not in self._told:
            self._told.add(records)
            text = "Changes of items stay pending, as %s refuses them, such as one %s. %s"
            cure = "Mend that: they follow then. Old ones of an item with many go to rejected_items"
            logger.error(text, records, recorded.why, cure)


def parts(entries: Sequence[T], size: Callable[[T], int]) -> Iterator[Sequence[T]]:
    """*entries* in order, in parts of at most BATCH_BYTES; one that is larger is a part of its own."""
    begin = total = 0
    for position, entry in enumerate(entries):
        length = size(entry)
        if total + length > BATCH_BYTES and position > begin:
            yield entries[begin:position]
            begin, total = position, 0
        total += length
    if begin < len(entries):
        yield entries[begin:]


def _size(entry: StoredDocument | Rejection) -> int:
    return len(entry.body.raw)


def _is_plain(entry: StoredDocument) -> bool:
    """Whether its run is in the crawl that plain starts and start URLs join, and has no generation of its own."""
    source = entry.body.get("source")
    generation = source.get("generation") if isinstance(source, Mapping) else None
    return isinstance(generation, str) and 0 < len(generation) < OWN_GENERATION


def _by_run(entries: Sequence[StoredDocument], done: Results, states: States) -> dict[str, list[tuple[str, int]]]:
    """`_id` and version of those that are stored, by run."""
    found: dict[str, list[tuple[str, int]]] = {}
    for entry in entries:
        if entry.run and isinstance(result := done[entry.id], StoreResult):
            version = 1 if result is StoreResult.NEW else states.get(entry.id, {}).get("version", 1)
            found.setdefault(entry.run, []).append((entry.id, version))
    return found


def _result(entry: StoredDocument, state: dict[str, Any] | None) -> StoreResult:
    """What *entry* changed, judged by the state after it; also right for a repeated write."""
    if state is None or state.get("content_hash") != entry.content_hash or state["last_seen_at"] > entry.naive_time:
        return StoreResult.STALE
    if state.get("last_changed_at") != entry.naive_time:
        return StoreResult.UNCHANGED
    return StoreResult.NEW if state.get("version") == 1 else StoreResult.CHANGED
