"""Versions of what is stored, and the steps between them, run only by `scrapy migrate`.

A step must be repeatable: after a crash midway the version is still the old one. A released migration is never changed;
a correction becomes the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from crawler.errors import ShoalError
from crawler.storage import schema
from crawler.storage.config import StorageConfig
from crawler.storage.connection import Database

VERSIONS: Final = "schema"  # one document: the version, and what was applied when
_ID: Final = "version"


@dataclass(frozen=True, slots=True)
class Migration:
    """One version: the validators it sets, by collection."""

    version: int
    name: str
    validators: Callable[[StorageConfig], Mapping[str, schema.Schema]]


MIGRATIONS: Final = (
    Migration(
        1,
        "validators of items, their history and rejections",
        lambda config: {**schema.ITEMS, **dict.fromkeys(config.history.values(), schema.HISTORY)},
    ),
    Migration(2, "validators of the archive's index", lambda _: schema.ARCHIVE),
)


@dataclass(frozen=True, slots=True)
class Step:
    """What one migration does to one collection; *invalid* counts documents that break the new rules already."""

    migration: Migration
    collection: str
    validator: schema.Schema
    exists: bool
    invalid: int

    def __str__(self) -> str:
        action = "change its validator" if self.exists else "create it with a validator"
        left = f"; {self.invalid:,} documents break it: they stay and can be updated" if self.invalid else ""
        return f"version {self.migration.version}, {self.collection}: {action}{left}"


async def current(database: Database) -> int:
    """The stored schema version; 0 if no migration has run."""
    found = await database[VERSIONS].find_one({"_id": _ID})
    return int(found["version"]) if found else 0


async def plan(database: Database, config: StorageConfig, migrations: Sequence[Migration] = MIGRATIONS) -> list[Step]:
    """The remaining steps; reads all documents of the collections they touch.

    Raises ShoalError if the database is ahead of this program.
    """
    version = await current(database)
    if version > max(one.version for one in migrations):
        known = max(one.version for one in migrations)
        raise ShoalError(f"the database has schema version {version}, this program knows {known}: update the program")
    existing = set(await database.list_collection_names())
    return [
        Step(one, name, validator, name in existing, await _invalid(database, name, validator, name in existing))
        for one in migrations
        if one.version > version
        for name, validator in one.validators(config).items()
    ]


async def apply(database: Database, steps: Sequence[Step], now: datetime) -> None:
    """Run *steps* in order; the version rises with the last step of each migration. Raises PyMongo's errors."""
    for position, step in enumerate(steps):
        await _set_validator(database, step)
        following = steps[position + 1].migration if position + 1 < len(steps) else None
        if following is not step.migration:
            done = {"version": step.migration.version, "name": step.migration.name, "at": now}
            await database[VERSIONS].update_one(
                {"_id": _ID}, {"$max": {"version": step.migration.version}, "$push": {"applied": done}}, upsert=True
            )


async def _set_validator(database: Database, step: Step) -> None:
    if step.collection not in await database.list_collection_names():
        await database.create_collection(step.collection)
    # moderate: documents that break the rules already can still be updated, so that they stop no crawl
    options: dict[str, Any] = {"validator": {"$jsonSchema": step.validator}, "validationLevel": "moderate"}
    await database.command("collMod", step.collection, validationAction="error", **options)


async def _invalid(database: Database, name: str, validator: schema.Schema, exists: bool) -> int:
    return await database[name].count_documents({"$nor": [{"$jsonSchema": validator}]}) if exists else 0
