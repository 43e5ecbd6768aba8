"""What sitemaps say of known documents, and what that was worth of each host so far: beside the records of `recrawl`.

Of a host: `_id` = {c: "hints", spider, host}, and the `Outcomes` of its visits. A record has `told_at` where a worker
has read a lastmod later than its visit; `hinted_at` once that was weighed, and `forward` where that made it due.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import UTC, datetime
from typing import Any, Final

from pymongo import UpdateMany, UpdateOne

from crawler import urls
from crawler.policy import recrawl
from crawler.policy.recrawl import Estimate, Outcomes, Reliability
from crawler.storage.items.update import AHEAD
from crawler.storage.recrawl.recrawl_records import is_record
from crawler.utils.batches import in_batches

AT_ONCE: Final = 500
MOST: Final = 200_000  # told ones that are weighed in one call, in some seconds; the rest waits for the next
_KIND: Final = "hints"


class SitemapHints:
    """Of one spider."""

    def __init__(self, records: Any, spider: str) -> None:
        self._records = records
        self._spider = spider

    async def any(self) -> bool:
        """Whether there ever was a hint."""
        return await self._records.find_one({"_id": self._id("")}) is not None

    async def take(
        self, told: Iterable[tuple[str, datetime]], collections: Collection[str], threshold: float, now: datetime
    ) -> int:
        """URLs, and when their sitemap says that they changed; returns how many documents that makes due now."""
        await self._begin(now)
        due, batch = 0, dict[str, datetime]()
        for url, at in told:
            if at <= now + AHEAD:
                batch[urls.canonicalize(url)] = at
            if len(batch) == AT_ONCE:
                due, batch = due + await self._take(batch, collections, threshold, now), {}
        return due + await self._take(batch, collections, threshold, now)

    async def note(self, told: Mapping[str, datetime], collections: Collection[str], now: datetime) -> int:
        """Canonical URLs, and when their sitemap says that they changed: kept for `weigh` where the document is known
        and was not visited since. Returns of how many that is news."""
        news = {url: at for url, at in told.items() if at <= now + AHEAD}
        at_once: dict[datetime, list[Any]] = defaultdict(list)
        async for one in self._find(news, collections, {}):
            at, before = news[one["_id"]["id"]], one.get("told_at")
            if _is_later(at, one.get("visited_at")) and (before is None or _is_later(at, before)):
                at_once[at].append(one["_id"])
        updates = [UpdateMany({"_id": {"$in": ids}}, {"$max": {"told_at": at}}) for at, ids in at_once.items()]
        if updates:
            await self._records.bulk_write(updates, ordered=False)
        return sum(map(len, at_once.values()))

    async def weigh(self, threshold: float, now: datetime) -> int:
        """Take what was noted, up to MOST; returns as `take`. A document whose visit is under way waits for it."""
        due, query = 0, {"spider": self._spider, "told_at": {"$exists": True}, "pushed_at": {"$exists": False}}
        async for batch in in_batches(self._records.find(query).limit(MOST), AT_ONCE):
            await self._begin(now)
            due += await self._weigh(batch, threshold, now)
        return due

    async def _begin(self, now: datetime) -> None:
        """From now on visits are learned from."""
        await self._records.update_one({"_id": self._id("")}, {"$set": {"at": now}}, upsert=True)

    def _find(self, told: Collection[str], collections: Collection[str], more: dict[str, Any]) -> Any:
        ids = [{"c": collection, "id": url} for url in told for collection in collections]
        return self._records.find({"_id": {"$in": ids}, "spider": self._spider} | more)

    async def _take(
        self, told: Mapping[str, datetime], collections: Collection[str], threshold: float, now: datetime
    ) -> int:
        if not told or not collections:
            return 0
        found = self._find(told, collections, {"due_at": {"$gt": now}, "pushed_at": {"$exists": False}})
        hinted = [(one, told[one["_id"]["id"]]) async for one in found]
        return await self._hint(hinted, threshold, now)

    async def _weigh(self, records: Sequence[dict[str, Any]], threshold: float, now: datetime) -> int:
        hinted = [(one, one["told_at"]) for one in records if _is_later(one.get("due_at"), now)]
        due = await self._hint(hinted, threshold, now)
        seen = [
            UpdateOne({"_id": one["_id"], "told_at": one["told_at"]}, {"$unset": {"told_at": 1}}) for one in records
        ]
        await self._records.bulk_write(seen, ordered=False)
        return due

    async def _hint(self, hinted: Sequence[tuple[dict[str, Any], Any]], threshold: float, now: datetime) -> int:
        """Records, and when each is said to have changed: returns how many that makes due."""
        told = [(one, at) for one, at in hinted if is_record(one) and _is_later(at, one["visited_at"])]
        known = await self.of({urls.group(one["url"]) for one, _ in told})
        updates, due = [], 0
        for one, at in told:
            fields: dict[str, Any] = {"hinted_at": at}
            factor, age = known[urls.group(one["url"])].factor, (now - one["visited_at"]).total_seconds()
            estimate = Estimate(one["changes"], one["seconds"])
            if factor > 1 and recrawl.hinted_value(estimate, max(age, 1.0), factor) >= threshold:
                fields |= {"due_at": now, "forward": True}
                due += 1
            updates.append(UpdateOne({"_id": one["_id"]}, {"$set": fields}))
        if updates:
            await self._records.bulk_write(updates, ordered=False)
        return due

    async def of(self, hosts: Collection[str]) -> dict[str, Reliability]:
        """What is known of each of *hosts*."""
        stored = self._records.find({"_id": {"$in": [self._id(host) for host in hosts]}})
        found = {one["_id"]["host"]: _read(one) async for one in stored}
        return {host: found.get(host, Reliability()) for host in hosts}

    async def learn(self, visits: Sequence[tuple[dict[str, Any], datetime, bool]]) -> None:
        """Records as they were before these visits, and whether the page had changed. Of visits that somebody else's
        run made only those are known that found a change: they would make any hint look right, and do not count."""
        visits = [visit for visit in visits if "pushed_at" in visit[0]]
        known = await self.of({urls.group(record["url"]) for record, _, _ in visits})
        for record, seen, changed in visits:
            host, interval = urls.group(record["url"]), (seen - record["visited_at"]).total_seconds()
            known[host] = known[host].after(
                Estimate(record["changes"], record["seconds"]),
                max(interval, 1.0),
                changed=changed,
                hinted=_is_later(seen, record.get("hinted_at")),
                planned=not record.get("forward"),
            )
        updates = [
            UpdateOne(
                {"_id": self._id(host)},
                {"$set": {"hinted": list(astuple(one.hinted)), "planned": list(astuple(one.planned))}},
                upsert=True,
            )
            for host, one in known.items()
        ]
        if updates:
            await self._records.bulk_write(updates, ordered=False)

    def _id(self, host: str) -> dict[str, str]:
        return {"c": _KIND, "spider": self._spider, "host": host}


def _read(stored: Mapping[str, Any]) -> Reliability:
    try:
        return Reliability(Outcomes(*map(float, stored["hinted"])), Outcomes(*map(float, stored["planned"])))
    except (KeyError, TypeError, ValueError):  # not written by us: the host proves itself again
        return Reliability()


def _is_later(at: Any, than: Any) -> bool:
    """Whether *at* is a later time; what is no time never is."""
    return isinstance(at, datetime) and isinstance(than, datetime) and at > than


def moment(lastmod: str) -> datetime | None:
    """A sitemap's lastmod (W3C: a date, or one with a time); None for anything else."""
    try:
        at = datetime.fromisoformat(lastmod.strip())
    except ValueError:
        return None
    return at.replace(tzinfo=at.tzinfo or UTC)
