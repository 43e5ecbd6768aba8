"""A recent size of the queue, for readers that must never wait for Redis."""

from __future__ import annotations

import asyncio
import logging

from crawler.frontier.errors import FrontierError
from crawler.frontier.state.inspection import FrontierStats, Inspection

logger = logging.getLogger(__name__)


class QueueSize:
    """Counts every *seconds*; `latest` is None until the first count, and again while counting fails."""

    def __init__(self, inspection: Inspection, spider: str, seconds: float) -> None:
        self._inspection = inspection
        self._spider = spider
        self._seconds = seconds
        self.latest: FrontierStats | None = None

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                self.latest = await self._inspection.stats(self._spider)
            except FrontierError as error:
                self.latest = None  # an old figure would look like a queue that stands still
                logger.debug("The queue could not be counted: %s", error)
            await asyncio.sleep(self._seconds)
