"""One unordered bulk write, with its errors classified: retry, the document's fault, the server's fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pymongo import InsertOne, UpdateMany, UpdateOne
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import BulkWriteError, OperationFailure, WriteError

from crawler.storage.items.values import UnstorableError
from crawler.storage.outage import ServerError

Collection = AsyncCollection[dict[str, Any]]
Operation = InsertOne[Any] | UpdateOne | UpdateMany

DUPLICATE_KEY = 11000  # mostly two workers inserted one `_id` at once: the loser's update finds a document now
# Not the document's fault.
_AWAY = (6, 7, 89, 91, 189, 317, 9001, 10058, 10107, 11600, 11601, 11602, 13435, 13436)  # not primary, shutting down
_LATE = (24, 46, 50, 64, 107, 112, 117, 202, 262, 290)  # timed out, interrupted, waiting for a lock
_FULL = (146, 292, 365, 388, 14031, 16500)  # out of disk, out of cache, throttled
_HELD = (166, 215, 371, 12587)  # a view is there, being dropped, writes blocked (for a migration), at work on it
_LOCKED = (13, 18, 8000)  # no rights, another password, Atlas of either
_MOVED = (63, 133, 150, 249, 467, 13388)  # its shard is another one by now
SERVER_CODES = frozenset((*_AWAY, *_LATE, *_FULL, *_HELD, *_LOCKED, *_MOVED))
# What no retry changes: no rights, another kind of collection, an index in the way, options that contradict others.
_FOR_GOOD = frozenset((13, 67, 72, 85, 86, 166))
_GONE = "requires authentication"  # of the user: it may be made anew, with rights
_RACES = 10  # a key loses at most once per rival that inserts it at the same time


class BulkResult(NamedTuple):
    """The outcome of one bulk write."""

    upserted: list[int]  # positions
    matched: int  # documents that updates found
    errors: dict[int, dict[str, Any]]  # by position, as the server reports them; none is the server's fault


async def apply(collection: Collection, operations: Sequence[Operation]) -> tuple[set[int], dict[int, UnstorableError]]:
    """Write all updates; returns the inserted positions, and the refused ones with the reason.

    Raises ServerError (or PyMongo's connection errors) if the server did not take all; the operations must be
    idempotent.
    """
    inserted: set[int] = set()
    refused: dict[int, UnstorableError] = {}
    left = list(range(len(operations)))
    for _ in range(_RACES):
        done = await write(collection, [operations[position] for position in left])
        inserted.update(left[index] for index in done.upserted)
        refused |= {left[i]: reason(error) for i, error in done.errors.items() if not is_taken(error)}
        left = [left[index] for index, error in done.errors.items() if is_taken(error)]
        if not left:
            return inserted, refused
    raise ServerError(f"{len(left)} keys of {collection.name} keep being inserted by others at the same time")


async def write(collection: Collection, operations: Sequence[Operation]) -> BulkResult:
    """One try, with duplicate keys among its errors; raises like `apply`."""
    try:
        result = await collection.bulk_write(operations, ordered=False)
    except BulkWriteError as error:
        details = error.details
    else:
        details = result.bulk_api_result
    errors = {each["index"]: each for each in details["writeErrors"]}
    blame = [*details["writeConcernErrors"], *(e for e in errors.values() if e["code"] in SERVER_CODES)]
    if blame:
        raise ServerError(str(blame[0].get("errmsg")))
    return BulkResult([each["index"] for each in details["upserted"]], details["nMatched"], errors)


def is_taken(error: Mapping[str, Any]) -> bool:
    """Whether the error says that the `_id` exists; another unique index is one that somebody has made, and refuses."""
    return error["code"] == DUPLICATE_KEY and [*(error.get("keyPattern") or {"_id": 1})] == ["_id"]


def is_about_document(error: Mapping[str, Any]) -> bool:
    """Whether the error refuses its document, which no retry changes."""
    return error["code"] not in SERVER_CODES and not is_taken(error)


def is_refusal(error: OperationFailure) -> bool:
    """Whether the server refuses this for good, so that waiting for it would never end."""
    if _GONE in str(error):
        return False
    return error.code in _FOR_GOOD or (isinstance(error, WriteError) and error.code not in SERVER_CODES)


def reason(error: Mapping[str, Any]) -> UnstorableError:
    """Why MongoDB refuses a document; of a validator which of its rules."""
    text = f"MongoDB refused it: {error['errmsg']:.500} (code {error['code']})"
    if details := (error.get("errInfo") or {}).get("details"):
        text += f": {details.get('schemaRulesNotSatisfied', details)!s:.300}"
    return UnstorableError("refused_by_mongodb", text)
