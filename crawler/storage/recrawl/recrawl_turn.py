"""One recrawl of a spider at a time: two would push the same pages."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from types import TracebackType
from typing import Final, Self

from pymongo.errors import DuplicateKeyError, PyMongoError

from crawler.errors import ServiceError
from crawler.storage.collection_names import RECRAWL
from crawler.storage.connection import Database
from crawler.utils import tasks

HOLDS_SECONDS: Final = 60  # after a kill the next one waits no longer
RENEW_SECONDS: Final = 15

logger = logging.getLogger(__name__)


class RecrawlTurn:
    """A lock in the collection `recrawl`, by MongoDB's clock; raises ServiceError if another process holds it."""

    def __init__(self, database: Database, spider: str) -> None:
        self._records = database[RECRAWL]
        self._spider = spider
        self._id = {"c": "", "spider": spider, "turn": True}
        self._by = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"

    async def __aenter__(self) -> Self:
        await self._records.delete_one({"_id": self._id, "$expr": {"$lte": ["$until", "$$NOW"]}})
        try:
            await self._hold()
        except DuplicateKeyError:
            other = await self._records.find_one({"_id": self._id}) or {}
            raise ServiceError(
                f"another recrawl of {self._spider} is under way (process {other.get('by', 'unknown')}): wait for it; "
                f"if it was killed, for {HOLDS_SECONDS} s"
            ) from None
        self._keeping = asyncio.create_task(self._keep())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await tasks.end(self._keeping)
        await self._records.delete_one({"_id": self._id, "by": self._by})

    async def _hold(self) -> None:
        until = {"$set": {"until": {"$add": ["$$NOW", 1_000 * HOLDS_SECONDS]}}}
        await self._records.update_one({"_id": self._id, "by": self._by}, [until], upsert=True)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await self._hold()
            except DuplicateKeyError:
                words = "Another recrawl of %s has taken the turn, not renewed for %d s: pages may be pushed twice"
                logger.warning(words, self._spider, HOLDS_SECONDS)
                return
            except PyMongoError as error:  # the next try may come in time; of a server that is away the recrawl hears
                logger.info("The turn to recrawl %s is not renewed yet: %.200s", self._spider, error)
