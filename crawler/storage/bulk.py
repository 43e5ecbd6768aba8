"""One unordered bulk write, its errors sorted into: again, the document's own fault, and the server's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymongo import UpdateOne
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import BulkWriteError

from crawler.storage.documents import UnstorableError
from crawler.storage.outage import ServerError

DUPLICATE_KEY = 11000  # two workers inserted one key at once: the loser's update finds a document now
# Not primary, shutting down, interrupted, out of time, out of disk, throttled: the document is not to blame.
SERVER_CODES = frozenset(
    (6, 7, 50, 64, 89, 91, 112, 133, 189, 262, 317, 9001, 10058, 10107, 11600, 11602, 13435, 13436, 14031, 16500)
)
_RACES = 10  # a key cannot lose more often than it has rivals inserting it at once


async def apply(
    collection: AsyncCollection[dict[str, Any]], operations: Sequence[UpdateOne]
) -> tuple[set[int], dict[int, UnstorableError]]:
    """Write all; return the positions that were inserted, and those that MongoDB refuses with the reason.

    Raises ServerError (or PyMongo's connection errors) when the server took not all; the operations must bear
    being applied twice.
    """
    inserted: set[int] = set()
    refused: dict[int, UnstorableError] = {}
    left = list(range(len(operations)))
    for _ in range(_RACES):
        upserted, errors = await _write(collection, [operations[position] for position in left])
        inserted.update(left[index] for index in upserted)
        refused |= {left[i]: _reason(error) for i, error in errors.items() if error["code"] != DUPLICATE_KEY}
        left = [left[index] for index, error in errors.items() if error["code"] == DUPLICATE_KEY]
        if not left:
            return inserted, refused
    raise ServerError(f"{len(left)} keys of {collection.name} are being inserted by others over and over")


async def _write(
    collection: AsyncCollection[dict[str, Any]], operations: Sequence[UpdateOne]
) -> tuple[list[int], dict[int, dict[str, Any]]]:
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
    return [each["index"] for each in details["upserted"]], errors


def _reason(error: dict[str, Any]) -> UnstorableError:
    return UnstorableError("refused_by_mongodb", f"MongoDB refused it: {error['errmsg']:.500} (code {error['code']})")
