"""What sitemaps say of known documents, and what that was worth of each host so far: beside the records of `recrawl`.

Of a host: `_id` = {c: "hints", spider, host}, and the `Outcomes` of its visits. A record that a hint came for has
`hinted_at`, and `forward` where that made it due.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pymongo import UpdateOne

from crawler import urls
from crawler.policy import recrawl
from crawler.policy.recrawl import Estimate, Outcomes, Reliability

AT_ONCE: Final = 500
AHEAD: Final = timedelta(days=1)  # a later lastmod is no date of a change
_KIND: Final = "hints"


class Hints:
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
        await self._records.update_one({"_id": self._id("")}, {"$set": {"at": now}}, upsert=True)
        due, batch = 0, dict[str, datetime]()
        for url, at in told:
            if at <= now + AHEAD:
                batch[urls.canonicalize(url)] = at
            if len(batch) == AT_ONCE:
                due, batch = due + await self._take(batch, collections, threshold, now), {}
        return due + await self._take(batch, collections, threshold, now)

    async def _take(
        self, told: Mapping[str, datetime], collections: Collection[str], threshold: float, now: datetime
    ) -> int:
        ids = [{"c": collection, "id": url} for url in told for collection in collections]
        query = {"_id": {"$in": ids}, "spider": self._spider, "due_at": {"$gt": now}, "pushed_at": {"$exists": False}}
        found = (
            [one async for one in self._records.find(query) if told[one["_id"]["id"]] > one["visited_at"]]
            if ids
            else []
        )
        known = await self.of({urls.group(one["url"]) for one in found})
        updates, due = [], 0
        for one in found:
            fields: dict[str, Any] = {"hinted_at": told[one["_id"]["id"]]}
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
        """Records as they were before these visits, and whether the page had changed."""
        known = await self.of({urls.group(record["url"]) for record, _, _ in visits})
        for record, seen, changed in visits:
            host, interval = urls.group(record["url"]), (seen - record["visited_at"]).total_seconds()
            known[host] = known[host].after(
                Estimate(record["changes"], record["seconds"]),
                max(interval, 1.0),
                changed=changed,
                hinted=record.get("hinted_at", seen) < seen,
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


def moment(lastmod: str) -> datetime | None:
    """A sitemap's lastmod (W3C: a date, or one with a time); None for anything else."""
    try:
        at = datetime.fromisoformat(lastmod.strip())
    except ValueError:
        return None
    return at.replace(tzinfo=at.tzinfo or UTC)
