"""Retries: until it works, said once, never for what a retry cannot cure."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest
from bson.errors import InvalidDocument
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    InvalidOperation,
    NetworkTimeout,
    OperationFailure,
    ServerSelectionTimeoutError,
)

from crawler.storage.connection import first_clause
from crawler.storage.outage import AwayError, MongoOutage, ServerError


class Stats(Counter[str]):
    """Counts."""

    def inc_value(self, key: str, count: int = 1) -> None:
        self[key] += count

    def set_value(self, key: str, value: float) -> None:
        self[key] = int(value)


class Slept(list[float]):
    """A sleep that only takes note."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def failing(*errors: Exception) -> Callable[[], Awaitable[str]]:
    left = list(errors)

    async def call() -> str:
        if left:
            raise left.pop(0)
        return "served"

    return call


@pytest.fixture
def stats() -> Stats:
    return Stats()


@pytest.fixture
def slept() -> Slept:
    return Slept()


@pytest.fixture
def outage(stats: Stats, slept: Slept) -> MongoOutage:
    def clock() -> float:
        return 100.0 + sum(slept)

    return MongoOutage(stats, "db.example:27017", 4.0, sleep=slept, uniform=lambda _, high: high, clock=clock)


async def test_retries_with_growing_capped_pauses_until_served(outage: MongoOutage, stats: Stats, slept: Slept) -> None:
    errors = [AutoReconnect("a"), ServerSelectionTimeoutError("b"), OperationFailure("c", 13), ServerError("d")] * 2
    assert await outage.insist(failing(*errors)) == "served"
    assert list(slept) == pytest.approx([0.02 + pause for pause in (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 4.0, 4.0)])
    assert stats == {"storage/errors": 8, "storage/outages": 1, "storage/away": 0}


async def test_says_once_that_it_is_away_and_once_that_it_is_back(
    outage: MongoOutage, stats: Stats, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for _ in range(2):
        await outage.insist(failing(*[AutoReconnect("connection closed")] * 5))
    away, back, *later = caplog.records
    assert (away.levelname, back.levelname, len(later)) == ("ERROR", "WARNING", 2)
    assert away.getMessage().startswith("MongoDB at db.example:27017 does not store: connection closed. Items wait")
    assert back.getMessage() == "MongoDB at db.example:27017 stores again after 3.2 s"
    assert stats["storage/outages"] == 2


@pytest.mark.parametrize("error", [InvalidDocument("bad"), InvalidOperation("closed"), ValueError("bug")])
async def test_what_no_retry_cures_is_raised(outage: MongoOutage, slept: Slept, error: Exception) -> None:
    with pytest.raises(type(error)):
        await outage.insist(failing(error))
    assert slept == []
    assert outage.since is None


async def test_late_news_of_an_outage_that_is_over_is_only_counted(
    outage: MongoOutage, stats: Stats, slept: Slept
) -> None:
    async def slow_failure() -> str:
        if not slept:
            await outage.insist(failing(AutoReconnect("closed")))  # meanwhile, another call
            raise AutoReconnect("closed")
        return "served"

    assert await outage.insist(slow_failure) == "served"
    assert stats == {"storage/errors": 2, "storage/outages": 1, "storage/away": 0}


async def test_an_answer_that_was_on_the_way_when_the_server_went_does_not_end_the_outage(
    outage: MongoOutage, stats: Stats, slept: Slept
) -> None:
    async def answered() -> str:
        await outage.pause(1)
        with pytest.raises(AwayError):
            await outage.attempt(failing(AutoReconnect("closed")))
        return "served"

    assert await outage.attempt(answered) == "served"
    assert outage.on
    assert await outage.attempt(failing()) == "served"
    assert stats == {"storage/errors": 1, "storage/outages": 1, "storage/away": 0}


def test_a_right_that_is_missing_is_named_with_where_it_is_described(
    outage: MongoOutage, caplog: pytest.LogCaptureFixture
) -> None:
    command = '{ update: "products", ordered: false, lsid: { id: UUID("05b88f36") }, $db: "shoal" }'
    text = f"not authorized on shoal to execute command {command}, full error: {{'ok': 0.0}}"
    outage.tell_gone(OperationFailure(text, 13))
    cure = "docs/operations.md has the roles for workers and readers"
    cause = f"the user of MONGODB_URI may not run update on products in database shoal: {cure}."
    assert f"does not store: {cause} Items wait" in caplog.text
    text = 'not authorized on shoal to execute command { hello: 1, $db: "shoal" }'
    words = f"the user of MONGODB_URI may not run hello in database shoal: {cure}"
    assert first_clause(OperationFailure(text, 13)) == words


@pytest.mark.parametrize("text", ["Authentication failed.", "command find requires authentication"])
def test_a_user_or_password_that_is_refused_is_called_so(text: str) -> None:
    words = f"it does not know the user of MONGODB_URI, or has another password for it ({text.rstrip('.')})"
    assert first_clause(OperationFailure(f"{text}, full error: {{'ok': 0.0}}", 18)) == words


def test_an_answer_that_does_not_come_tells_what_may_keep_it() -> None:
    """With a majority of members away a write is answered by nobody: `timed out` sent people to their network."""
    words = first_clause(
        NetworkTimeout("db.example:27017: timed out (configured timeouts: socketTimeoutMS: 60000.0ms)")
    )
    assert words.startswith("db.example:27017: timed out, as when it hangs")
    assert "has no majority" in words
    frozen = ServerSelectionTimeoutError("No servers found yet, Timeout: 5.0s, Topology Description: <Topology...>")
    for error in (frozen, AutoReconnect("operation cancelled")):
        assert first_clause(error).startswith("timed out, as when it hangs"), "the driver's probe got no answer"


def test_a_connection_that_fails_is_told_in_words_of_the_system_and_with_its_address_once() -> None:
    said = "mongo.example:1: [Errno 111] Connect call failed ('10.0.0.1', 1) (configured timeouts: ...), Timeout: 5.0s"
    assert first_clause(ServerSelectionTimeoutError(said)) == "mongo.example:1: Connection refused"


def test_a_batch_tells_why_its_first_document_was_refused() -> None:
    """`attempts` as somebody's time series of another field: all that was said was "batch op errors occurred"."""
    errors = [{"index": 0, "code": 2, "errmsg": "'when' must be present and contain a valid BSON UTC datetime value"}]
    assert first_clause(BulkWriteError({"writeErrors": errors})) == errors[0]["errmsg"]
    assert first_clause(BulkWriteError({"writeErrors": []})).startswith("batch op errors")
