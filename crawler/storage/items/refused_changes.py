"""Changes that a history refuses, by a validator or an index of somebody's: each waits with its item, which has room
for some; older ones go to `rejected_items`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import bson
from pymongo.asynchronous.collection import AsyncCollection

from crawler.storage.collection_names import REJECTED
from crawler.storage.items import bulk
from crawler.storage.items.rejections import Rejection
from crawler.storage.items.values import UnstorableError

WAITING_BYTES: Final = 65_536  # of one item: all are read and offered again at each visit, and a document has 16 MB

Collection = AsyncCollection[dict[str, Any]]
Row = Mapping[str, Any]


async def keep_apart(records: Collection, rows: Sequence[Row], refused: Mapping[int, UnstorableError]) -> set[int]:
    """Put those of *refused* that have no room in their items into rejected_items; their positions in *rows*, without
    any that it refuses, too. May be repeated."""
    apart = _beyond(rows, refused)
    if not apart:
        return set()
    rejections = [Rejection.of_change(records.name, rows[position], str(refused[position])) for position in apart]
    _, again = await bulk.apply(records.database[REJECTED], [one.update() for one in rejections])
    return {position for index, position in enumerate(apart) if index not in again}


def _beyond(rows: Sequence[Row], refused: Mapping[int, UnstorableError]) -> list[int]:
    """The positions of what is beyond WAITING_BYTES of an item: the oldest."""
    used: dict[Any, int] = {}
    found: list[int] = []
    for position in sorted(refused, reverse=True):
        item = rows[position]["item"]
        used[item] = used.get(item, 0) + len(bson.encode(rows[position]))
        if used[item] > WAITING_BYTES:
            found.append(position)
    return found
