"""What is known of how often stored documents change, and when each is due: the collection `recrawl`.

One record per document: `_id` = (collection, id), url, spider, visited_at, version, changes and seconds (see
policy/recrawl), due_at, pushed_at while its visit is under way. It is kept apart from the documents, so that storing a
page costs nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, Final, NamedTuple

from pymongo import IndexModel, UpdateOne

from crawler.policy import recrawl
from crawler.policy.recrawl import DAY_SECONDS, Estimate
from crawler.storage import indexes
from crawler.storage.collection_names import NO_PAGES, RECRAWL
from crawler.storage.connection import Database, served
from crawler.storage.items.update import AHEAD
from crawler.storage.reading.reader import stored
from crawler.storage.recrawl.recrawl_hints import SitemapHints
from crawler.storage.recrawl.recrawl_records import Visit, is_estimate, is_key, is_record, spider_of, visit
from crawler.utils.batches import in_batches

BATCH: Final = 500
SAMPLE: Final = 300
SPREAD: Final = 5  # times as many are read: others may be another spider's
AFTER_A_VISIT: Final = {"pushed_at": 1, "hinted_at": 1, "forward": 1}  # gone
GIVEN_UP: Final = timedelta(days=7)  # a visit that has not come back by then never will
_START: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class DueDocument:
    """A document that is due."""

    id: Any
    url: str


class RecrawlPlan(NamedTuple):
    """What is due, after so many visits were learned from; *hinted*: how many of it because of a lastmod."""

    learned: int
    hinted: int
    due: list[DueDocument]


class Recrawl:
    """The records of one spider."""

    def __init__(self, database: Database, spider: str, history: Sequence[str]) -> None:
        self._database = database
        self._records = database[RECRAWL]
        self._spider = spider
        self._history = frozenset(history)
        self._hints = SitemapHints(self._records, spider)
        self._hinting = False  # whether there was any hint: otherwise learning costs nothing more
        self._noted_of: list[str] | None = None  # collections whose documents sitemaps may tell of

    async def open(self) -> None:
        """Create the indexes."""
        some = (
            IndexModel([("spider", 1), (field, 1)], name=name, partialFilterExpression={field: {"$exists": True}})
            for name, field in (("pushed", "pushed_at"), ("told", "told_at"))
        )
        await indexes.create(self._records, IndexModel([("spider", 1), ("due_at", 1)], name="due"), *some)

    async def plan(
        self, visits_a_day: int, most: int, told: Iterable[tuple[str, datetime]], now: datetime
    ) -> RecrawlPlan:
        """Take in what was visited, and *told* by sitemaps; then up to *most* documents that are due under that
        budget."""
        await self.open()
        threshold = await self.threshold(visits_a_day)
        learned = await self.learn(threshold, now)
        hinted = await self.hint(told, threshold, now)
        return RecrawlPlan(learned, hinted, await self.due(most, now))

    async def count(self) -> int:
        """Documents that are kept in view; from the index alone."""
        return int(await self._records.count_documents({"spider": self._spider, "due_at": {"$gte": _START}}))

    async def threshold(self, visits_a_day: float) -> float:
        """The value at which pages are due, for that budget; from SAMPLE records at random."""
        count = max(await self.count(), 1)
        ours = {"$match": {"spider": self._spider, "due_at": {"$gte": _START}}}
        # The first stage is at random places of the collection; behind a match it would read all that match.
        found = await self._sample({"$sample": {"size": SPREAD * SAMPLE}}, ours, {"$limit": SAMPLE})
        if len(found) < SAMPLE / 3:  # few of many are this spider's
            found = await self._sample(ours, {"$sample": {"size": SAMPLE}})
        sample = [(Estimate(one["changes"], one["seconds"]), 1.0) for one in found if is_estimate(one)]
        return recrawl.threshold_for(sample or [(Estimate(), 1.0)], visits_a_day / DAY_SECONDS / count)

    async def _sample(self, *stages: dict[str, Any]) -> list[dict[str, Any]]:
        return [one async for one in await self._records.aggregate([*stages])]

    async def learn(self, threshold: float, now: datetime) -> int:
        """Take in what has been visited since the last call; returns how many documents that was."""
        learned, self._hinting = 0, await self._hints.any()
        for collection in await self._collections():
            learned += await self._learn_changed(collection, threshold, now)
        return learned + await self._learn_visited(threshold, now)

    async def hint(self, told: Iterable[tuple[str, datetime]], threshold: float, now: datetime) -> int:
        """Take in what sitemaps say, *told* and what was noted since the last call: URLs, and when each is said to have
        changed. Returns how many documents that makes due: those of hosts whose hints have proved right."""
        due = await self._hints.weigh(threshold, now)
        first = next(told := iter(told), None)
        if first is None:
            return due
        return due + await self._hints.take(chain((first,), told), await self._collections(), threshold, now)

    async def any(self) -> bool:
        """Whether any document is kept in view; raises ServiceError."""
        with served(RECRAWL):
            self._noted_of = None  # look again
            return await self._records.find_one({"spider": self._spider, "due_at": {"$gte": _START}}, {}) is not None

    async def note(self, told: Mapping[str, datetime], now: datetime) -> int:
        """Keep for the next `hint` what a sitemap says of known documents: canonical URLs, and when each is said to
        have changed. Returns of how many that is news; raises ServiceError."""
        with served(RECRAWL):
            self._noted_of = self._noted_of or await self._collections()
            return await self._hints.note(told, self._noted_of, now)

    async def _collections(self) -> list[str]:
        return [name for name in await stored(self._database) if name not in NO_PAGES | self._history]

    async def due(self, most: int, now: datetime) -> list[DueDocument]:
        """Up to *most* documents that are due, the most overdue first; each once, until it was visited."""
        query = {"spider": self._spider, "due_at": {"$lte": now}, "pushed_at": {"$exists": False}}
        found = self._records.find(query, {"url": 1}).sort("due_at", 1).limit(most)
        return [DueDocument(one["_id"], one["url"]) async for one in found if isinstance(one.get("url"), str)]

    async def pushed(self, due: Sequence[DueDocument], now: datetime) -> None:
        """Their visits are under way."""
        for at in range(0, len(due), BATCH):
            ids = [one.id for one in due[at : at + BATCH]]
            await self._records.update_many({"_id": {"$in": ids}}, {"$set": {"pushed_at": now}})

    async def _learn_changed(self, collection: str, threshold: float, now: datetime) -> int:
        """New documents, and those that changed, in the order of that: from where the last call ended."""
        mark = {"c": collection, "spider": self._spider, "mark": True}
        known, learned = await self._records.find_one({"_id": mark}), 0
        since, until = _START, now + AHEAD  # behind that is none of ours, and the mark must not move there
        if known and isinstance(known.get("at"), datetime) and known["at"] <= until:
            since = known["at"]
        fields = {"url": 1, "version": 1, "last_seen_at": 1, "last_changed_at": 1, "source.spider": 1}
        found = self._database[collection].find({"last_changed_at": {"$gte": since, "$lte": until}}, fields)
        async for batch in in_batches(found.sort("last_changed_at", 1).batch_size(BATCH), BATCH):
            since, ours = batch[-1]["last_changed_at"], [one for one in batch if spider_of(one) == self._spider]
            visits = [seen for one in ours if (seen := visit(one, now)) is not None]
            learned += await self._take(collection, visits, threshold)
        await self._records.update_one({"_id": mark}, {"$set": {"at": since}}, upsert=True)
        return learned

    async def _learn_visited(self, threshold: float, now: datetime) -> int:
        """Of documents whose visits were under way, those that have come back."""
        learned = 0
        under_way = self._records.find({"spider": self._spider, "pushed_at": {"$exists": True}}, {"_id": 1})
        async for records in in_batches(under_way, BATCH):
            keys = [record["_id"] for record in records if is_key(record["_id"])]
            for collection in {key["c"] for key in keys}:
                ids = [key["id"] for key in keys if key["c"] == collection]
                fields = {"url": 1, "version": 1, "last_seen_at": 1}
                found = self._database[collection].find({"_id": {"$in": ids}}, fields)
                visits = [seen async for one in found if (seen := visit(one, now)) is not None]
                learned += await self._take(collection, visits, threshold)
        old = {"spider": self._spider, "pushed_at": {"$lte": now - GIVEN_UP}}
        again = now + timedelta(seconds=recrawl.LONGEST_SECONDS)
        await self._records.update_many(old, {"$set": {"due_at": again}, "$unset": {"pushed_at": 1}})
        return learned

    async def _take(self, collection: str, visits: Sequence[Visit], threshold: float) -> int:
        """Bring the records of these documents up to date; returns how many had a visit more."""
        if not visits:
            return 0
        ids = [{"c": collection, "id": one.id} for one in visits]
        records = {one["_id"]["id"]: one async for one in self._records.find({"_id": {"$in": ids}}) if is_record(one)}
        pairs = [(one.id, records[one.id], one.at + AHEAD) for one in visits if one.id in records]
        known = {key: record for key, record, latest in pairs if record["visited_at"] <= latest}
        fresh = [one for one in visits if one.id not in known or one.at > known[one.id]["visited_at"]]
        updates = [self._updated(collection, one, known.get(one.id), threshold) for one in fresh]
        if updates:
            await self._records.bulk_write(updates, ordered=False)
        if self._hinting:
            visited = [(known[one.id], one) for one in fresh if one.id in known]
            await self._hints.learn([(record, one.at, one.version > record["version"]) for record, one in visited])
        return len(updates)

    def _updated(
        self, collection: str, document: Visit, record: Mapping[str, Any] | None, threshold: float
    ) -> UpdateOne:
        estimate = Estimate()
        if record is not None:
            interval = (document.at - record["visited_at"]).total_seconds()
            estimate = Estimate(record["changes"], record["seconds"]).after(
                interval, changed=document.version > record["version"], hinted=bool(record.get("forward"))
            )
        due = document.at + timedelta(seconds=recrawl.due_after(estimate, threshold))
        fields = {"spider": self._spider, "url": document.url, "visited_at": document.at}
        fields |= {"version": document.version, "changes": estimate.changes, "seconds": estimate.seconds, "due_at": due}
        return UpdateOne(
            {"_id": {"c": collection, "id": document.id}}, {"$set": fields, "$unset": AFTER_A_VISIT}, upsert=True
        )
