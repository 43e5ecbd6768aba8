"""What is known of how often documents change, learned from the documents themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from bson import Code, DatetimeMS, Decimal128, Int64, ObjectId, Timestamp
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import AutoReconnect

from crawler.errors import ServiceError
from crawler.policy.recrawl import Estimate, threshold_for
from crawler.storage.collection_names import RECRAWL
from crawler.storage.recrawl import recrawl, recrawl_turn
from crawler.storage.recrawl.known import known as pages
from crawler.storage.recrawl.recrawl import Recrawl
from crawler.storage.recrawl.recrawl_hints import SitemapHints
from crawler.storage.recrawl.recrawl_turn import RecrawlTurn
from tests.integration.storage.observing import until

DAY = timedelta(days=1)
START = datetime(2026, 1, 1, tzinfo=UTC)
NEVER = 1e9  # a threshold that no page reaches


async def stored(database: AsyncDatabase[dict[str, Any]], number: int, seen: datetime, version: int) -> None:
    """A visit of document *number*, as the writer leaves it."""
    url, known = (
        f"https://shop.example/{number}",
        await database.products.find_one({"_id": f"https://shop.example/{number}"}),
    )
    changed = seen if known is None or known["version"] != version else known["last_changed_at"]
    fields = {
        "url": url,
        "version": version,
        "last_seen_at": seen,
        "last_changed_at": changed,
        "source": {"spider": "s"},
    }
    await database.products.update_one({"_id": url}, {"$set": fields}, upsert=True)


async def test_pages_that_change_come_due_sooner_than_those_that_do_not(
    mongo_database: AsyncDatabase[dict[str, Any]],
) -> None:
    known = Recrawl(mongo_database, "s", ["product_changes"])
    await known.open()
    for number in range(6):
        await stored(mongo_database, number, START, 1)
    threshold = await known.threshold(1.0)
    assert await known.learn(threshold, START) == 6
    assert await known.learn(threshold, START) == 0, "nothing was visited since"
    assert await known.due(10, START) == []
    now, version = START, 1
    for _ in range(12):
        now, version = now + 3 * DAY, version + 1
        due = await known.due(100, now + 90 * DAY)
        assert len(due) == 6
        await known.pushed(due, now)
        assert await known.due(100, now + 90 * DAY) == [], "each once, until it was visited"
        for number in range(6):
            await stored(mongo_database, number, now, version if number < 3 else 1)
        assert await known.learn(await known.threshold(2.0), now) == 6
    records = [one async for one in mongo_database[RECRAWL].find({"due_at": {"$exists": True}}).sort("_id.id", 1)]
    rates = [Estimate(one["changes"], one["seconds"]).rate for one in records]
    assert min(rates[:3]) > 5 * max(rates[3:])
    dues = [one["due_at"] for one in records]
    assert max(dues[:3]) < min(dues[3:])
    assert [one.url for one in await known.due(2, now + 90 * DAY)] == [one["url"] for one in records[:2]]


async def test_a_view_shows_no_page_a_second_time(mongo_database: AsyncDatabase[dict[str, Any]]) -> None:
    await stored(mongo_database, 1, START, 1)
    await mongo_database.create_collection("dear_products", viewOn="products", pipeline=[])
    recrawl = Recrawl(mongo_database, "s", [])
    assert await recrawl.learn(1.0, START) == 1
    found = [one.collection async for one in pages(mongo_database, "shop.example", "s", history=())]
    assert found == ["products"]


async def test_a_visit_that_never_comes_back_does_not_hold_a_page_for_ever(
    mongo_database: AsyncDatabase[dict[str, Any]],
) -> None:
    known = Recrawl(mongo_database, "s", [])
    await stored(mongo_database, 1, START, 1)
    await known.learn(1.0, START)
    due = await known.due(1, START + 100 * DAY)
    await known.pushed(due, START + 100 * DAY)
    await known.learn(1.0, START + 108 * DAY)
    assert [one.url for one in await known.due(1, START + 200 * DAY)] == [due[0].url]


async def test_other_spiders_and_our_own_collections_are_left_alone(
    mongo_database: AsyncDatabase[dict[str, Any]],
) -> None:
    await stored(mongo_database, 1, START, 1)
    page = await mongo_database.products.find_one({}) or {}
    for name in ("attempts", "rejected_items", "product_changes", "run_items", "items", "duplicates", "validators"):
        await mongo_database[name].insert_one(page)
    assert await Recrawl(mongo_database, "other", ["product_changes"]).learn(1.0, START) == 0
    known = Recrawl(mongo_database, "s", ["product_changes"])
    assert await known.learn(1.0, START) == 1
    assert await known.count() == 1


async def test_the_threshold_is_that_of_its_own_pages_among_many(mongo_database: AsyncDatabase[dict[str, Any]]) -> None:
    def record(number: int, spider: str, changes: float) -> dict[str, Any]:
        fields = {"spider": spider, "url": "", "due_at": START, "changes": changes, "seconds": DAY.total_seconds()}
        return {"_id": {"c": "products", "id": number}, **fields}

    others = [record(number, "others", 40.0) for number in range(2_000)]
    await mongo_database[RECRAWL].insert_many([*others, *(record(10_000 + n, "s", 0.1) for n in range(20))])
    ours, theirs = (Recrawl(mongo_database, spider, []) for spider in ("s", "others"))
    assert await ours.count() == 20
    slow, fast = [(Estimate(0.1, DAY.total_seconds()), 1.0)], [(Estimate(40.0, DAY.total_seconds()), 1.0)]
    assert await ours.threshold(2.0) == pytest.approx(threshold_for(slow, 0.1 / 86_400))
    assert await theirs.threshold(200.0) == pytest.approx(threshold_for(fast, 0.1 / 86_400))


async def test_the_threshold_is_that_of_its_own_pages_where_the_sample_has_none(
    mongo_database: AsyncDatabase[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recrawl, "SAMPLE", 4)
    monkeypatch.setattr(recrawl, "SPREAD", 1)
    fields = {"spider": "others", "url": "", "due_at": START, "changes": 40.0, "seconds": 1e5}
    rare = {"spider": "s", "changes": 0.1}
    rows = [{**fields, **(rare if number == 0 else {}), "_id": {"c": "p", "id": number}} for number in range(5_000)]
    await mongo_database[RECRAWL].insert_many(rows)
    slow = [(Estimate(0.1, 1e5), 1.0)]
    assert await Recrawl(mongo_database, "s", []).threshold(2.0) == pytest.approx(threshold_for(slow, 2.0 / 86_400))


async def test_what_is_told_while_it_is_weighed_is_kept_for_the_next_time(
    mongo_database: AsyncDatabase[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    known, now, told = Recrawl(mongo_database, "s", []), START + 5 * DAY, "https://shop.example/0"
    await stored(mongo_database, 0, START, 1)
    await known.learn(NEVER, START)
    await known.note({told: now - DAY}, now)
    weigh = SitemapHints._hint

    async def told_again(hints: SitemapHints, *given: Any) -> int:
        assert await known.note({told: now}, now) == 1
        return await weigh(hints, *given)

    monkeypatch.setattr(SitemapHints, "_hint", told_again)
    await known.hint((), NEVER, now)
    (kept,) = await mongo_database[RECRAWL].find({"told_at": {"$exists": True}}).to_list()
    assert kept["told_at"] == now


async def test_hints_of_a_host_that_has_proved_right_make_pages_due_and_no_others(
    mongo_database: AsyncDatabase[dict[str, Any]],
) -> None:
    known, names = Recrawl(mongo_database, "s", []), ("good", "liar", "new")
    await known.open()
    for name in names:
        url = f"https://{name}.example/1"
        seen = {"url": url, "version": 1, "last_seen_at": START, "last_changed_at": START, "source": {"spider": "s"}}
        await mongo_database.products.insert_one({"_id": url} | seen)
    threshold = threshold_for([(Estimate(), 1.0)], 0.02 / 86_400)
    assert await known.learn(threshold, START) == 3
    for host, found in (("good.example", 99.0), ("liar.example", 30.0)):
        proof = {"hinted": [100.0, found, 30.0], "planned": [100.0, 30.0, 30.0]}
        await mongo_database[RECRAWL].insert_one({"_id": {"c": "hints", "spider": "s", "host": host}} | proof)
    now = START + 5 * DAY
    said = [(f"https://{name}.example/1", now - DAY) for name in names]
    assert await known.hint([(url, START - DAY) for url, _ in said], threshold, now) == 0, "before the last visit"
    assert await known.hint([(url, now + 3 * DAY) for url, _ in said], threshold, now) == 0, "no date of a change"
    assert await known.hint(said, threshold, now) == 1
    due = await known.due(10, now)
    assert [one.url for one in due] == ["https://good.example/1"]
    assert await known.hint(said, threshold, now) == 0, "it is due already"
    await known.pushed(due, now)
    changed = {"version": 2, "last_seen_at": now, "last_changed_at": now}
    await mongo_database.products.update_one({"_id": due[0].url}, {"$set": changed})
    assert await known.learn(threshold, now) == 1
    record = await mongo_database[RECRAWL].find_one({"url": due[0].url})
    assert record is not None
    assert record.keys().isdisjoint({"hinted_at", "forward", "pushed_at"})
    assert record["changes"] == pytest.approx(1.5), "it came right after a change, which counts once"
    proved = await mongo_database[RECRAWL].find_one({"_id.host": "good.example"})
    assert proved is not None
    assert [round(proved[kind][0]) for kind in ("hinted", "planned")] == [101, 100]
    assert proved["hinted"][1] == 100


async def test_what_workers_read_in_sitemaps_is_weighed_by_the_next_call(
    mongo_database: AsyncDatabase[dict[str, Any]],
) -> None:
    known, worker = Recrawl(mongo_database, "s", []), Recrawl(mongo_database, "s", [])
    await known.open()
    threshold, now = threshold_for([(Estimate(), 1.0)], 0.02 / 86_400), START + 5 * DAY
    assert not await worker.any()
    for number in range(4):
        await stored(mongo_database, number, START, 1)
    await known.learn(threshold, START)
    assert await worker.any()
    assert not await Recrawl(mongo_database, "other", []).any()
    proof = {"hinted": [100.0, 99.0, 30.0], "planned": [100.0, 30.0, 30.0]}
    await mongo_database[RECRAWL].insert_one({"_id": {"c": "hints", "spider": "s", "host": "shop.example"}} | proof)
    one, two, three, four = (f"https://shop.example/{number}" for number in range(4))
    said = {one: now - DAY, two: now - 2 * DAY, three: START - DAY, four: now + 3 * DAY, "https://new.example/": now}
    assert await worker.note(said, now) == 2, "known, later than the last visit, and not in the future"
    assert await worker.note(said, now) == 0, "it is known"
    assert await worker.note({one: now - 3 * DAY}, now) == 0, "an older one is no news"
    assert await known.due(9, now) == [], "nothing is due before it was weighed"
    await stored(mongo_database, 1, now - DAY, 1)  # visited since, and unchanged
    await mongo_database[RECRAWL].update_one({"_id.id": two}, {"$set": {"pushed_at": START}})
    await mongo_database[RECRAWL].update_one({"_id.id": four}, {"$set": {"told_at": "noise"}})
    await known.learn(threshold, now)
    assert await known.hint((), threshold, now) == 1
    assert [each.url for each in await known.due(9, now)] == [one]
    assert await mongo_database[RECRAWL].count_documents({"told_at": {"$exists": True}}) == 0
    assert await known.hint((), threshold, now) == 0


async def test_visits_of_other_runs_prove_no_hint_right(mongo_database: AsyncDatabase[dict[str, Any]]) -> None:
    known, now = Recrawl(mongo_database, "s", []), START + 5 * DAY
    for number in range(2):
        await stored(mongo_database, number, START, 1)
    await known.learn(NEVER, START)
    said = [(f"https://shop.example/{number}", now - DAY) for number in range(2)]
    await known.hint(said, NEVER, now)
    await mongo_database[RECRAWL].update_one({"_id.id": said[0][0]}, {"$set": {"pushed_at": now}})
    for number in range(2):
        await stored(mongo_database, number, now, 2)
    assert await known.learn(NEVER, now) == 2
    host = await mongo_database[RECRAWL].find_one({"_id.c": "hints", "_id.host": "shop.example"})
    assert host is not None
    assert host["hinted"][:2] == [1, 1], "of the other, unchanged visits would not be known"


async def test_no_records_are_asked_for_where_none_of_ours_was_visited(
    mongo_database: AsyncDatabase[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    known, queries = Recrawl(mongo_database, "another", []), list[Any]()
    find = known._records.find

    def found(query: Any, *fields: Any) -> Any:
        queries.append(query)
        return find(query, *fields)

    monkeypatch.setattr(known._records, "find", found)
    await stored(mongo_database, 1, START, 1)
    assert await known.learn(NEVER, START) == 0
    assert queries
    assert {"_id": {"$in": []}} not in queries


async def test_one_recrawl_of_a_spider_at_a_time(mongo_database: AsyncDatabase[dict[str, Any]]) -> None:
    async with RecrawlTurn(mongo_database, "s"):
        with pytest.raises(ServiceError, match="another recrawl of s is under way"):
            await RecrawlTurn(mongo_database, "s").__aenter__()
        async with RecrawlTurn(mongo_database, "other"):
            pass
        assert await Recrawl(mongo_database, "s", []).count() == 0
    async with RecrawlTurn(mongo_database, "s"):
        await mongo_database[RECRAWL].update_one({"_id.turn": True}, {"$set": {"until": START}})  # it was killed
        async with RecrawlTurn(mongo_database, "s"):
            pass


async def test_a_turn_outlives_an_outage(
    mongo_database: AsyncDatabase[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recrawl_turn, "RENEW_SECONDS", 0.02)
    records, hold, tries = mongo_database[RECRAWL], RecrawlTurn._hold, list[int]()

    async def away_at_first(turn: RecrawlTurn) -> None:
        tries.append(len(tries))
        if len(tries) == 2:
            raise AutoReconnect("connection closed")
        await hold(turn)

    monkeypatch.setattr(RecrawlTurn, "_hold", away_at_first)
    async with RecrawlTurn(mongo_database, "s"):
        await until(lambda: len(tries) > 2)
    assert await records.count_documents({"_id.turn": True}) == 0


async def test_a_turn_that_another_has_taken_is_told(
    mongo_database: AsyncDatabase[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(recrawl_turn, "RENEW_SECONDS", 0.02)
    row = {"_id.turn": True}
    async with RecrawlTurn(mongo_database, "s") as turn:
        await mongo_database[RECRAWL].update_one(row, {"$set": {"by": "another"}})
        await until(turn._keeping.done)
    assert "Another recrawl of s has taken the turn" in caplog.text
    assert [one["by"] async for one in mongo_database[RECRAWL].find(row)] == ["another"]


ODD: tuple[Any, ...] = (
    *("text", "", None, 7, -1.5, float("nan"), {"a": 1}, [1, None], [["x"]], Decimal128("NaN"), Timestamp(1, 1)),
    *(ObjectId(), Code("x"), DatetimeMS(2**62), DatetimeMS(-(2**62)), Int64(2**40), START, 10**400 / 10**399),
)


async def test_documents_of_another_form_are_left_out_and_hide_none_of_ours(
    clamped: AsyncDatabase[dict[str, Any]],
) -> None:
    known = Recrawl(clamped, "s", ["product_changes"])
    await known.open()
    whole = {"url": "https://shop.example/x", "version": 1, "last_seen_at": START, "last_changed_at": START}
    rows: list[dict[str, Any]] = [{**whole, "source": {"spider": "s"}, field: odd} for field in whole for odd in ODD]
    rows += [{**whole, "source": odd} for odd in ODD] + [{**whole, "source": {"spider": odd}} for odd in ODD]
    await clamped.products.insert_many([{**row, "_id": f"https://shop.example/odd/{n}"} for n, row in enumerate(rows)])
    await clamped.products.insert_many(
        [{**whole, "source": {"spider": "s"}, "_id": odd} for odd in ({"a": 1}, 7, ODD[9], Code("x"))]
    )
    await stored(clamped, 1, START + DAY, 1)
    threshold = await known.threshold(1.0)
    await known.learn(threshold, START + DAY)
    await stored(clamped, 2, START + 2 * DAY, 1)
    await known.learn(threshold, START + 2 * DAY)
    found = {one.url for one in await known.due(1000, START + 400 * DAY)}
    assert {f"https://shop.example/{number}" for number in (1, 2)} <= found, "a time of the far future hides nothing"


@pytest.mark.parametrize(
    "field", ["url", "visited_at", "version", "changes", "seconds", "hinted_at", "told_at", "due_at"]
)
async def test_a_record_of_another_form_is_made_anew(clamped: AsyncDatabase[dict[str, Any]], field: str) -> None:
    known = Recrawl(clamped, "s", [])
    await known.open()
    for number in range(len(ODD)):
        await stored(clamped, number, START, 1)
    await known.learn(NEVER, START)
    await known.hint([("https://shop.example/0", START + DAY)], NEVER, START + DAY)  # from here on it learns of hints
    await clamped[RECRAWL].update_many({"url": {"$exists": True}}, {"$set": {"pushed_at": START}})
    for number, odd in enumerate(ODD):
        await clamped[RECRAWL].update_one({"_id.id": f"https://shop.example/{number}"}, {"$set": {field: odd}})
        await stored(clamped, number, START + DAY, 2)
    await clamped[RECRAWL].insert_many([{"_id": odd, "spider": "s", "pushed_at": START} for odd in ("a", {"c": 7})])
    await known.learn(await known.threshold(1.0), START + DAY)
    await known.hint([(f"https://shop.example/{n}", START + 2 * DAY) for n in range(9)], NEVER, START + 2 * DAY)
    assert len(await known.due(1000, START + 400 * DAY)) == len(ODD)
