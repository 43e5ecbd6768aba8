"""Collections that somebody else has made in a form in which documents of ours would vanish or merge unseen."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Collection, Mapping
from time import monotonic
from typing import Any, Final

from pymongo.errors import OperationFailure

from crawler.errors import ServiceError
from crawler.items import PageItem, ProductItem
from crawler.storage.collection_names import ATTEMPTS, NO_PAGES, PAGE_VERSIONS, REJECTED, SCHEMA
from crawler.storage.connection import Database, first_clause
from crawler.storage.outage import ServerError

# Of any project; item classes and CHANGE_HISTORY add theirs.
NAMES: Final = NO_PAGES - {ATTEMPTS, SCHEMA} | {ProductItem.collection, PageItem.collection}
LOOK_SECONDS: Final = 60.0
_EXPIRING: Final = frozenset({REJECTED, PAGE_VERSIONS})  # by an index of ours
_UNAUTHORIZED: Final = 13
_CURE: Final = "Copy it to an ordinary collection of that name, or let MONGODB_DATABASE name another database"

logger = logging.getLogger(__name__)


class Watch:
    """Looks again at collections that are written to, as others may be in their place by now: MongoDB makes one without
    indexes where ours was dropped or renamed. *index* creates those of a collection by its name, and tells whether it
    may."""

    def __init__(self, database: Database, index: Callable[[str], Awaitable[bool]]) -> None:
        self._database = database
        self._index = index
        self._looked: dict[str, float] = {}  # when
        self._seen: dict[str, object] = {}  # which one of that name there was

    async def check(self, *names: str) -> None:
        """Raise ServerError while one of them must not be written to: what is meant for it waits until that is over. A
        look is good for LOOK_SECONDS."""
        now = monotonic()
        if due := [name for name in names if now - self._looked.get(name, -math.inf) >= LOOK_SECONDS]:
            await self._look(due)
        self._looked |= dict.fromkeys(due, now)

    async def check_service(self, *names: str) -> None:
        """As `check`, of what no item waits for: raises ServiceError."""
        try:
            await self.check(*names)
        except ServerError as error:
            raise ServiceError(str(error)) from None

    async def _look(self, names: Collection[str]) -> None:
        found = await _made(self._database, names)
        if faults := _faults(self._database, found):
            raise ServerError("; ".join(faults.values()))
        for name in names:
            await self._compare(name, found.get(name, {}).get("info", {}).get("uuid"))

    async def _compare(self, name: str, this: object) -> None:
        before = self._seen.pop(name, this)
        if this is not None:  # known before anything is awaited: batches look at the same time
            self._seen[name] = this
        if before == this:
            return
        try:
            is_indexed = await self._index(name)
        except BaseException:
            self._seen[name] = before  # the next look tries again
            raise
        text = "Collection %s of %s is not the one that it was, as after a drop or a renaming%s. %s"
        cure = "`scrapy migrate` sets its validator again, if that was one of ours"
        logger.warning(text, name, self._database.name, ": it got its indexes" if is_indexed else "", cure)


async def check(database: Database, names: Collection[str]) -> None:
    """Raise ServerError where `look` finds something."""
    if unfit := await look(database, names):
        raise ServerError("; ".join(unfit.values()))


async def look(database: Database, names: Collection[str]) -> dict[str, str]:
    """As `unfit`. Documents that expire by somebody's index are what that person wants: those are logged."""
    found = await unfit(database, names)
    for name in sorted(set(names) - found.keys() - _EXPIRING):
        await _log_expiry(database, name)
    return found


async def unfit(database: Database, names: Collection[str]) -> dict[str, str]:
    """By name, why those of the collections *names* must not be written to, and the cure; most have no entry. Raises
    PyMongo's errors."""
    return _faults(database, await _made(database, names))


async def _made(database: Database, names: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """By name, what listCollections shows of those that there are."""
    found = await database.list_collections(filter={"name": {"$in": sorted(names)}})
    return {one["name"]: one async for one in found}


def _faults(database: Database, found: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    faults = {name: _fault(one) for name, one in found.items()}
    return {name: f"collection {name} of {database.name} {why}. {_CURE}" for name, why in faults.items() if why}


def _fault(made: Mapping[str, Any]) -> str:
    """What is wrong with a collection that listCollections shows as *made*."""
    options = made.get("options", {})
    if (kind := made.get("type", "collection")) != "collection":  # servers that only speak its protocol may not say
        return f"is a {kind}"
    if options.get("capped"):
        return "is capped: MongoDB deletes its oldest documents to make room"
    if collation := options.get("collation"):
        where = f"locale {collation.get('locale')!r}, strength {collation.get('strength')}"
        return f"has a collation ({where}), under which different URLs can be equal"
    return ""


async def _log_expiry(database: Database, name: str) -> None:
    try:
        found = [index async for index in await database[name].list_indexes()]
    except OperationFailure as error:
        if error.code != _UNAUTHORIZED:
            raise
        logger.info("Whether documents of %s expire is not known: %s", name, first_clause(error))
        return
    for index in found:
        if (seconds := index.get("expireAfterSeconds")) is not None:
            text = "MongoDB deletes documents of %s %s s after their %s, by the index %r that somebody has made"
            logger.warning(text, name, seconds, ", ".join(index["key"]), index["name"])
