"""The attempts log of whole workers, and `scrapy attempts`."""

from __future__ import annotations

import asyncio
import io
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from bson import Code, Decimal128
from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import BulkWriteError

from crawler.commands import attempts as command
from crawler.commands.terminal import PlainConsole
from crawler.storage import attempts
from crawler.storage.attempts import AttemptsConfig, AttemptsLog, ensure
from tests.crawling import Fleet, count, ended
from tests.integration.storage.observing import RecordedStats
from tests.sites import Page, Site

Database = AsyncDatabase[dict[str, Any]]
START = datetime.now(UTC).replace(microsecond=0)


def at(seconds: float) -> datetime:
    """A time of today: MongoDB deletes within a second what is older than the log keeps it."""
    return START + timedelta(seconds=seconds)


async def test_each_attempt_is_logged_with_its_outcome(fleet: Fleet, mongo_database: Database) -> None:
    with Site({"/fine": Page(), "/busy": Page(status=500), "/lost": Page(status=404)}) as site:
        refused = "http://127.0.0.1:1/"
        await fleet.push(*map(site.url, site.pages), refused)
        status, log = await ended(fleet.start(ATTEMPTS_DAYS=7, RETRY_TIMES=1))
    assert status == 0
    found = await mongo_database["attempts"].find().to_list()
    assert count(log, "attempts/logged") == len(found)
    outcomes = sorted(
        (one["outcome"], one.get("status", one.get("error"))) for one in found if one.get("status") != 404
    )
    assert outcomes[-1] == ("transient", 500)
    assert outcomes.count(("transient", 500)) == site.requested.count("/busy") == 2
    assert outcomes.count(("ok", 200)) == 1
    assert ("permanent", 404) in [(one["outcome"], one.get("status")) for one in found]
    assert "host_fault" in {one["outcome"] for one in found if "error" in one}
    fine = next(one for one in found if one.get("status") == 200)
    assert fine["of"] == {"host": "127.0.0.1", "spider": "walk"}
    assert (fine["bytes"], fine["tier"], fine["weight"]) == (len(Page().body), "http", 1.0)
    assert fine["ms"] >= 0
    (document,) = await mongo_database["pages"].find({"url": site.url("/fine")}).to_list()
    assert (fine["request_id"], fine["worker"]) == (document["source"]["request_id"], document["source"]["worker"])
    options = await mongo_database["attempts"].options()
    assert (options["timeseries"]["metaField"], options["expireAfterSeconds"]) == ("of", 7 * 86_400)

    shown = fleet.runner.run("attempts", "--host", "127.0.0.1", "--since", "1h")
    assert shown.returncode == 0, shown.stderr
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert ["transient", "2", "0.0%"] in [row[:3] for row in rows]
    assert ["ok", "1", "100.0%"] in [row[:3] for row in rows]
    assert ["none", str(len(found))] in [row[:2] for row in rows]
    assert ("permanent", site.url("/lost")) in [(one["outcome"], one["url"]) for one in found]
    nothing = fleet.runner.run("attempts", "--host", "other.example").stdout
    assert nothing.startswith("no such attempts logged since ")
    misspelt = fleet.runner.run("attempts", "--spider", "product")
    assert (misspelt.returncode, "(did you mean 'products'?)" in misspelt.stderr) == (2, True)
    assert "the log is off here: ATTEMPTS_DAYS = 0" in nothing
    assert fleet.runner.run("attempts", "--since", "soon").returncode == 2


async def test_without_mongodb_attempts_are_lost_and_counted_and_nobody_waits(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = 3
    monkeypatch.setattr(attempts, "WAITING", waiting)
    stats = RecordedStats()
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient("mongodb://127.0.0.1:1", serverSelectionTimeoutMS=1)
    log = AttemptsLog(client["nowhere"], AttemptsConfig(per_second=2), stats, random.Random(1))
    for _ in range(waiting + 5):
        for _ in range(3):
            log.add(lambda: lambda: {"at": at(0)})
        await log.flush()
    assert stats.values["attempts/unsampled"] == waiting + 5
    assert stats.values["attempts/lost"] == 10
    assert len(caplog.messages) == 1
    await log.close()
    assert stats.values["attempts/lost"] == 2 * (waiting + 5)
    await client.close()


async def test_a_collection_that_is_dropped_under_a_worker_is_made_anew(mongo_database: Database) -> None:
    """MongoDB would make one for its next batch that is no time series, and keeps what is in it for ever."""
    log = AttemptsLog(mongo_database, AttemptsConfig(days=3), RecordedStats(), random.Random(1))
    for number in range(2):
        log.add(lambda: lambda: {"at": at(0), "of": {"host": "a.example"}})
        await log.flush()
        options = await mongo_database["attempts"].options()
        assert (options["timeseries"]["timeField"], options["expireAfterSeconds"]) == ("at", 3 * 86_400), number
        await mongo_database["attempts"].drop()


async def test_a_collection_that_a_worker_made_after_a_drop_is_named_with_what_to_do(
    mongo_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    stats = RecordedStats()
    await mongo_database["attempts"].insert_one({"at": at(0)})
    log = AttemptsLog(mongo_database, AttemptsConfig(), stats, random.Random(1))
    log.add(lambda: lambda: {"at": at(0), "of": {"host": "a.example"}})
    await log.flush()
    [said] = caplog.messages
    assert f"attempts of database {mongo_database.name} is not a time series" in said
    assert "Rename it, or drop it" in said
    await mongo_database["attempts"].rename("attempts_before")
    await log.flush()
    assert await mongo_database["attempts"].count_documents({}) == stats.values["attempts/logged"] == 1
    await log.close()


class Wrapped:
    """A database whose inserts do more."""

    def __init__(self, database: Database, after: Callable[[], Awaitable[None]]) -> None:
        self._database = database
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def __getitem__(self, name: str) -> Wrapped:
        return self

    async def insert_many(self, batch: list[dict[str, Any]], *, ordered: bool) -> None:
        await self._database["attempts"].insert_many(batch, ordered=ordered)
        await self._after()


async def test_a_worker_that_closes_while_a_batch_is_written_stores_it_once(mongo_database: Database) -> None:
    applied, answered = asyncio.Event(), asyncio.Event()

    async def answer() -> None:
        applied.set()
        await answered.wait()

    stats = RecordedStats()
    log = AttemptsLog(Wrapped(mongo_database, answer), AttemptsConfig(), stats, random.Random(1))  # type: ignore[arg-type]
    log.add(lambda: lambda: {"at": at(0), "of": {"host": "a.example"}})
    log.open()
    await applied.wait()
    log.add(lambda: lambda: {"at": at(1), "of": {"host": "a.example"}})
    closing = asyncio.create_task(log.close())
    for _ in range(10):
        await asyncio.sleep(0)
    answered.set()
    await closing
    assert await mongo_database["attempts"].count_documents({}) == stats.values["attempts/logged"] == 2
    assert not stats.values["attempts/lost"]


@pytest.mark.parametrize("refused", [[], [1]])
async def test_what_mongodb_has_taken_of_a_batch_is_not_written_again(
    mongo_database: Database, refused: list[int]
) -> None:
    errors = [{"writeErrors": [{"index": index} for index in refused], "writeConcernErrors": [{"code": 64}]}]

    async def answer() -> None:
        if errors:
            raise BulkWriteError(errors.pop())

    stats = RecordedStats()
    log = AttemptsLog(Wrapped(mongo_database, answer), AttemptsConfig(), stats, random.Random(1))  # type: ignore[arg-type]
    for _ in range(3):
        log.add(lambda: lambda: {"at": at(0), "of": {"host": "a.example"}})
    await log.flush()
    assert stats.values["attempts/logged"] == 3 - len(refused)
    await log.close()
    assert stats.values["attempts/logged"] == 3
    assert not stats.values["attempts/lost"]
    assert await mongo_database["attempts"].count_documents({}) == 3 + len(refused)  # here the refused one was stored


async def test_another_retention_replaces_the_earlier_one(mongo_database: Database) -> None:
    await ensure(mongo_database, 7)
    await asyncio.gather(*(ensure(mongo_database, 3) for _ in range(4)))
    assert (await mongo_database["attempts"].options())["expireAfterSeconds"] == 3 * 86_400


async def test_what_another_program_has_logged_does_not_stop_the_summary(mongo_database: Database) -> None:
    await ensure(mongo_database, 7)
    ours = {"at": at(0), "of": {"host": "a.example"}, "outcome": "ok", "weight": 2.0, "ms": 5, "bytes": 7}
    odd: tuple[Any, ...] = ("text", None, {"a": 1}, [1], Code("x"), Decimal128("NaN"))
    rows = [{**ours, field: value, "outcome": "odd"} for field in ("weight", "ms", "bytes", "outcome") for value in odd]
    await mongo_database["attempts"].insert_many([ours, {"at": at(0), "outcome": "bare"}, *rows])
    found = await attempts.summary(mongo_database, since=at(-60))
    assert {"_id": "ok", "attempts": 2.0, "ok": 2.0, "ms": 10.0, "bytes": 14.0} in found["outcome"]
    command.show(PlainConsole(file=(out := io.StringIO()), width=100), found, at(-60), is_off=False)
    assert ["ok", "2", "100.0%", "5", "0.00"] in [line.split() for line in out.getvalue().splitlines()]
