"""The attempts log: one small document per fetch attempt, in a time-series collection with expiry."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any, Final, Self

from pymongo.errors import BulkWriteError, CollectionInvalid, OperationFailure, PyMongoError

from crawler import config
from crawler import stats as names
from crawler.storage.collection_names import ATTEMPTS
from crawler.storage.connection import Database, first_clause
from crawler.storage.outage import Stats
from crawler.utils import tasks

logger = logging.getLogger(__name__)

INTERVAL_SECONDS: Final = 1.0
RETRY_INTERVALS: Final = 6  # longer than a connection is kept idle: it may be that of a user that was made anew
WAITING: Final = 60  # intervals kept while MongoDB is away
_DAY: Final = 86_400
_EXISTS: Final = 48
_NO_SERIES: Final = 72  # InvalidOptions

Attempt = dict[str, Any]
Later = Callable[[], Attempt]
Dimension = str


@dataclass(frozen=True, slots=True)
class AttemptsConfig:
    """How long attempts are kept, and how many are written; 0 days: none."""

    days: int = 7
    per_second: int = 100

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Raises ConfigError naming the setting, its value and what is expected."""
        return cls(
            days=config.integer(settings, "ATTEMPTS_DAYS"),
            per_second=config.integer(settings, "ATTEMPTS_PER_SECOND"),
        )


class Sample:
    """At most *size* of the attempts of one interval, all equally likely (reservoir sampling)."""

    def __init__(self, size: int, rng: random.Random) -> None:
        self._size = size
        self._rng = rng
        self._kept: list[Later] = []
        self.seen = 0

    def add(self, look: Callable[[], Later]) -> None:
        """*look* is called now if the attempt is kept, and returns what builds its document when the interval ends."""
        self.seen += 1
        if len(self._kept) < self._size:
            self._kept.append(look())
        elif (place := self._rng.randrange(self.seen)) < self._size:
            self._kept[place] = look()

    def take(self) -> list[Attempt]:
        """The documents, each with the number of attempts it represents as `weight`; empties the sample."""
        weight = self.seen / len(self._kept) if self._kept else 1.0
        found = [attempt() | {"weight": weight} for attempt in self._kept]
        self._kept, self.seen = [], 0
        return found


class AttemptsLog:
    """Writes one batch per second in the background. No page waits for it; what does not fit is dropped and counted.

    Known weakness: a time series has no unique keys, so a batch is stored twice where the connection breaks before
    MongoDB's answer.
    """

    def __init__(self, database: Database, settings: AttemptsConfig, stats: Stats, rng: random.Random) -> None:
        self._database = database
        self._config = settings
        self._stats = stats
        self._sample = Sample(settings.per_second, rng)
        self._batches: deque[list[Attempt]] = deque()
        self._ready = False
        self._failing = False  # said already
        self._task: asyncio.Task[None] | None = None
        self._insert: asyncio.Task[None] | None = None  # goes on when the one who waits for it is cancelled

    def open(self) -> None:
        """Start writing."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def add(self, look: Callable[[], Later]) -> None:
        """Note an attempt: see `Sample.add`."""
        self._sample.add(look)

    async def close(self) -> None:
        """Write what is pending, once."""
        if self._task is not None:
            await tasks.end(self._task)
        await self.flush()
        self._stats.inc_value(names.ATTEMPTS_LOST, sum(map(len, self._batches)))

    async def flush(self) -> None:
        """Write the interval that ends now, and earlier ones that could not be written."""
        self._keep()
        await self._try()

    def _keep(self) -> None:
        seen = self._sample.seen
        if found := self._sample.take():
            self._stats.inc_value(names.ATTEMPTS_UNSAMPLED, seen - len(found))
            self._batches.append(found)
        while len(self._batches) > WAITING:
            self._stats.inc_value(names.ATTEMPTS_LOST, len(self._batches.popleft()))

    async def _try(self) -> None:
        try:
            await self._write()
        except PyMongoError as error:
            if not self._failing:
                cure = self._cure(error)
                logger.warning(
                    "Attempts cannot be stored yet: %.500s. A minute of them is kept meanwhile",
                    cure or first_clause(error),
                )
            self._failing = True
        except Exception as error:  # noqa: BLE001 - a value that MongoDB has no type for: it must not stop the log
            self._stats.inc_value(names.ATTEMPTS_LOST, len(self._batches.popleft()) if self._batches else 0)
            logger.warning("Attempts of a second are dropped, as one cannot be stored: %.200s", error)

    def _cure(self, error: PyMongoError) -> str:
        """What to do about *error*, if that is known."""
        if not isinstance(error, OperationFailure) or error.code != _NO_SERIES:
            return ""
        return (
            f"the collection {ATTEMPTS} of database {self._database.name} is not a time series, as a worker was "
            "writing when it was dropped. Rename it, or drop it while no worker runs"
        )

    async def _run(self) -> None:
        for interval in count():
            await asyncio.sleep(INTERVAL_SECONDS)
            self._keep()
            if not (self._failing and interval % RETRY_INTERVALS):
                await self._try()

    async def _write(self) -> None:
        if self._batches and not (self._ready and await self._is_there()):
            await ensure(self._database, self._config.days)
            self._ready = True
        while self._batches or self._insert:
            self._insert = insert = self._insert or asyncio.create_task(self._insert_first())
            try:
                await asyncio.shield(insert)
            finally:
                self._insert = None if insert.done() else insert

    async def _is_there(self) -> bool:
        """False where somebody has dropped it: MongoDB would make one that is no time series."""
        return bool(await self._database.list_collection_names(filter={"name": ATTEMPTS}))

    async def _insert_first(self) -> None:
        """Store the first batch; what MongoDB does not take of it stays the first."""
        left = batch = self._batches.popleft()
        try:
            await self._database[ATTEMPTS].insert_many(batch, ordered=False)
            left = []
        except BulkWriteError as error:
            left = [batch[each["index"]] for each in error.details["writeErrors"]]
            if left:
                raise
        finally:
            if left:
                self._batches.appendleft(left)
            if stored := len(batch) - len(left):
                self._stats.inc_value(names.ATTEMPTS, stored)
        self._failing = False


async def ensure(database: Database, days: int) -> None:
    """Create the collection, or change how long it keeps what it has."""
    series = {"timeField": "at", "metaField": "of", "granularity": "seconds"}
    try:
        await database.create_collection(
            ATTEMPTS, timeseries=series, expireAfterSeconds=days * _DAY, check_exists=False
        )
    except (CollectionInvalid, OperationFailure) as error:
        if getattr(error, "code", _EXISTS) != _EXISTS:
            raise
        await database.command("collMod", ATTEMPTS, expireAfterSeconds=days * _DAY)


async def summary(
    database: Database, *, since: datetime, host: str = "", spider: str = ""
) -> dict[Dimension, list[dict[str, Any]]]:
    """Attempts since then, by outcome, by proxy pool and by hour; each with how many were ok, their ms and bytes."""
    of = {f"of.{name}": value for name, value in (("host", host), ("spider", spider)) if value}
    keys = {
        "outcome": "$outcome",
        "pool": {"$ifNull": ["$pool", ""]},
        "hour": {"$dateTrunc": {"date": "$at", "unit": "hour"}},
    }
    stages: list[Mapping[str, Any]] = [
        {"$match": {"at": {"$gte": since}} | of},
        {"$facet": {name: [{"$group": {"_id": key} | _SUMS}, {"$sort": {"_id": 1}}] for name, key in keys.items()}},
    ]
    async for found in await database[ATTEMPTS].aggregate(stages):
        return dict(found)
    return {name: [] for name in keys}


def _number(name: str) -> dict[str, Any]:
    """A field; 0 where another program has left something else."""
    return {"$cond": [{"$in": [{"$type": f"${name}"}, ["int", "long", "double"]]}, f"${name}", 0]}


_WEIGHTED_OK: Final = {"$cond": [{"$eq": ["$outcome", "ok"]}, _number("weight"), 0]}
_SUMS: Final = {
    "attempts": {"$sum": _number("weight")},
    "ok": {"$sum": _WEIGHTED_OK},
    "ms": {"$sum": {"$multiply": [_number("weight"), _number("ms")]}},
    "bytes": {"$sum": {"$multiply": [_number("weight"), _number("bytes")]}},
}
