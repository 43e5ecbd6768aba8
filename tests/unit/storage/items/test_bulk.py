"""Errors of a bulk write: the document's own fault, a lost race, or the server's."""

from __future__ import annotations

from typing import Any

import pytest
from pymongo import UpdateOne
from pymongo.errors import BulkWriteError, OperationFailure

from crawler.storage.items import bulk
from crawler.storage.outage import ServerError

OPERATIONS = [UpdateOne({"_id": n}, {"$set": {"n": n}}, upsert=True) for n in range(4)]


class Result:
    """What PyMongo returns when nothing failed."""

    def __init__(self, details: dict[str, Any]) -> None:
        self.bulk_api_result = details


class Collection:
    """Answers one bulk write after the other as it was told."""

    name = "products"

    def __init__(self, *answers: dict[str, Any]) -> None:
        self._answers = list(answers)
        self.asked: list[int] = []

    async def bulk_write(self, operations: list[UpdateOne], *, ordered: bool) -> Result:
        assert not ordered
        self.asked.append(len(operations))
        answer = {"writeErrors": [], "writeConcernErrors": [], "upserted": [], "nMatched": 0} | self._answers.pop(0)
        if answer["writeErrors"] or answer["writeConcernErrors"]:
            raise BulkWriteError(answer)
        return Result(answer)


def failed(index: int, code: int) -> dict[str, Any]:
    return {"index": index, "code": code, "errmsg": f"error {code}"}


def upserted(*indexes: int) -> list[dict[str, Any]]:
    return [{"index": index, "_id": index} for index in indexes]


async def apply(collection: Collection) -> tuple[set[int], dict[int, Any]]:
    return await bulk.apply(collection, OPERATIONS)  # type: ignore[arg-type]


async def test_positions_of_inserted_documents() -> None:
    assert await apply(Collection({"upserted": upserted(1, 3)})) == ({1, 3}, {})


async def test_lost_races_are_tried_again_alone() -> None:
    collection = Collection(
        {"upserted": upserted(0), "writeErrors": [failed(1, 11000), failed(3, 11000)]},
        {"upserted": upserted(1), "writeErrors": [failed(0, 11000)]},
        {},
    )
    assert await apply(collection) == ({0, 3}, {})
    assert collection.asked == [4, 2, 1]


async def test_document_errors_keep_their_place_after_a_race() -> None:
    collection = Collection(
        {"writeErrors": [failed(0, 121), failed(2, 11000), failed(3, 11000)]}, {"writeErrors": [failed(1, 17419)]}
    )
    inserted, refused = await apply(collection)
    assert not inserted
    assert {position: error.issue for position, error in refused.items()} == {
        0: "refused_by_mongodb",
        3: "refused_by_mongodb",
    }
    assert "17419" in str(refused[3])


@pytest.mark.parametrize(
    "answer",
    [
        {"writeErrors": [failed(2, 10107)]},
        {"writeErrors": [failed(0, 121), failed(2, 14031)]},
        {"writeConcernErrors": [{"code": 64, "errmsg": "waiting for replication timed out"}]},
        {"writeErrors": [failed(1, 371)]},  # writes are blocked
        {"writeErrors": [failed(1, 365)]},  # no room in the cache for now
        {"writeErrors": [failed(1, 24)]},  # a lock
        {"writeErrors": [failed(1, 13388)]},  # a chunk on the move
        {"writeErrors": [failed(1, 13)]},  # a shard that does not know the user
        {"writeErrors": [failed(1, 8000)]},  # Atlas: over its quota, or no rights
    ],
)
async def test_trouble_of_the_server_asks_for_all_again(answer: dict[str, Any]) -> None:
    with pytest.raises(ServerError):
        await apply(Collection(answer))


async def test_a_race_that_never_ends_is_the_servers_trouble() -> None:
    answers = [{"writeErrors": [failed(0, 11000)]}] * 10
    with pytest.raises(ServerError):
        await bulk.apply(Collection(*answers), OPERATIONS[:1])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "is_refusal"),
    [
        ('not authorized on shop to execute command { insert: "run_items" }', True),  # its role has no such right
        ("command insert requires authentication", False),  # the user is gone, and may be made anew
    ],
)
def test_a_user_that_is_gone_is_waited_for(text: str, is_refusal: bool) -> None:
    assert bulk.is_refusal(OperationFailure(text, 13)) is is_refusal
