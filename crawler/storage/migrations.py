"""Versions of what is stored, and the steps between them, run only by `scrapy migrate`.

A step must be repeatable: after a crash midway the version is still the old one. A released migration is never changed;
a correction becomes the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pymongo.errors import OperationFailure

from crawler.errors import ShoalError
from crawler.storage import foreign_collections, schema
from crawler.storage.collection_names import SCHEMA
from crawler.storage.config import StorageConfig
from crawler.storage.connection import WRITE_CONCERN, Database

# What shows that a collection had a validator: one that an operator has taken off leaves its level.
_VALIDATED: Final = frozenset({"validator", "validationLevel"})
_EXISTS: Final = 48  # MongoDB's code of a collection that is there
_ID: Final = "version"  # of the one document in SCHEMA: the version, and what was applied when


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
    action: str
    invalid: int

    def __str__(self) -> str:
        left = f"; documents that break it, stay and can be updated: {self.invalid:,}" if self.invalid else ""
        return f"version {self.migration.version}, {self.collection}: {self.action}{left}"


async def current(database: Database) -> int:
    """The stored schema version; 0 if no migration has run. Raises ShoalError for what is no version."""
    if (found := await database[SCHEMA].find_one({"_id": _ID})) is None:
        return 0
    try:
        return int(found["version"])
    except (KeyError, TypeError, ValueError, OverflowError):
        where = f"the document {_ID!r} of collection {SCHEMA} in {database.name}"
        cure = "delete it, and `scrapy migrate` takes all steps again, which does no harm"
        raise ShoalError(f"{where} has version {found.get('version')!r:.80}, expected an integer: {cure}") from None


async def plan(database: Database, config: StorageConfig, migrations: Sequence[Migration] = MIGRATIONS) -> list[Step]:
    """The remaining steps, and those whose validator is gone, as the collection was dropped or renamed since; reads all
    documents of the collections they touch.

    Raises ShoalError if the database is ahead of this program, or a collection is of a kind that has no validator.
    """
    version = await current(database)
    if version > max(one.version for one in migrations):
        known = max(one.version for one in migrations)
        raise ShoalError(f"the database has schema version {version}, this program knows {known}: update the program")
    kept = {one["name"] async for one in await database.list_collections() if one["options"].keys() & _VALIDATED}
    every = [(one, name, validator) for one in migrations for name, validator in one.validators(config).items()]
    wanted = [step for step in every if step[0].version > version or step[1] not in kept]
    names = {name for _, name, _ in wanted}
    if unfit := await foreign_collections.look(database, names):
        raise ShoalError("; ".join(unfit.values()))
    return [
        Step(one, name, validator, await _action(database, name), await _invalid(database, name, validator))
        for one, name, validator in wanted
    ]


async def apply(database: Database, steps: Sequence[Step], now: datetime) -> None:
    """Run *steps* in order; the version rises with the last step of each migration. Raises PyMongo's errors."""
    for position, step in enumerate(steps):
        await _set_validator(database, step)
        following = steps[position + 1].migration if position + 1 < len(steps) else None
        if following is not step.migration:
            done = {"version": step.migration.version, "name": step.migration.name, "at": now}
            await database[SCHEMA].update_one(
                {"_id": _ID}, {"$max": {"version": step.migration.version}, "$push": {"applied": done}}, upsert=True
            )


async def _set_validator(database: Database, step: Step) -> None:
    if step.collection not in await database.list_collection_names():
        await _create(database, step.collection)
    # moderate: documents that break the rules already can still be updated, so that they stop no crawl
    options: dict[str, Any] = {"validator": {"$jsonSchema": step.validator}, "validationLevel": "moderate"}
    options["writeConcern"] = WRITE_CONCERN.document  # PyMongo gives commands none: after a failover it could be gone
    await database.command("collMod", step.collection, validationAction="error", **options)


async def _create(database: Database, name: str) -> None:
    try:
        await database.create_collection(name, check_exists=False)
    except OperationFailure as error:
        if error.code != _EXISTS:  # another migration, or a worker, was first
            raise


async def _action(database: Database, name: str) -> str:
    async for found in await database.list_collections(filter={"name": name}):
        return "replace its validator" if found["options"].get("validator") else "set its validator"
    return "create it with a validator"


async def _invalid(database: Database, name: str, validator: schema.Schema) -> int:
    return await database[name].count_documents({"$nor": [{"$jsonSchema": validator}]})
