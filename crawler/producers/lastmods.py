"""Hands what sitemaps say of known documents to storage, where the next recrawl weighs it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from time import monotonic
from typing import Final, Self

from scrapy.settings import BaseSettings

from crawler.components import storing
from crawler.errors import ServiceError
from crawler.storage import connection
from crawler.storage.config import StorageConfig
from crawler.storage.recrawl.recrawl import Recrawl

AWAY_SECONDS: Final = 30.0  # pause after a MongoDB error
AGAIN_SECONDS: Final = 60.0  # between two looks whether any document is kept in view

logger = logging.getLogger(__name__)


class Lastmods:
    """Of one spider's documents. A hint is not worth waiting for: while MongoDB is away they are lost, which is
    counted; where nobody recrawls they cost one look a minute."""

    def __init__(self, client: connection.Client, known: Recrawl, clock: Callable[[], float] = monotonic) -> None:
        self._client = client
        self._known = known
        self._clock = clock
        self._away_until = self._look_at = clock()
        self._any = False

    @classmethod
    def from_settings(cls, settings: BaseSettings, spider: str) -> Self | None:
        """None where no items are stored."""
        if not storing(settings):
            return None
        client = connection.connect(settings)
        history = list(StorageConfig.from_settings(settings).history.values())
        return cls(client, Recrawl(connection.database(client, settings), spider, history))

    async def wanted(self) -> bool:
        """Whether there is any document of which a lastmod could tell something."""
        if self._clock() >= max(self._look_at, self._away_until):
            try:
                self._any = await self._known.any()
                self._look_at = self._clock() + AGAIN_SECONDS
            except ServiceError as error:
                self._gone(error)
        return self._any

    async def note(self, told: Mapping[str, datetime]) -> int | None:
        """Canonical URLs, and when each is said to have changed; returns of how many known documents that is news, None
        while MongoDB is away."""
        if self._clock() < self._away_until:
            return None
        try:
            return await self._known.note(told, datetime.now(UTC))
        except ServiceError as error:
            self._gone(error)
            return None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _gone(self, error: ServiceError) -> None:
        self._away_until = self._clock() + AWAY_SECONDS
        logger.warning("No lastmods of sitemaps are noted for %.0f s: %s", AWAY_SECONDS, error)
