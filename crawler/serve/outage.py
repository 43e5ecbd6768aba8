"""Redis as the service sees it: logged once when it goes and once when it is back."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import ClassVar

from crawler.frontier.errors import FrontierUnavailableError
from crawler.outage import Outage

logger = logging.getLogger(__name__)


class ServiceOutage(Outage):
    """Shared by all that the leader does."""

    errors: ClassVar[tuple[type[Exception], ...]] = (FrontierUnavailableError, TimeoutError)

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(longest_wait=5.0, shortest_wait=0.05, clock=clock)

    def counted(self) -> None:
        """Nobody asks how often."""

    def tell_gone(self, error: Exception) -> None:
        words = "Redis does not answer (%s): schedules wait, nothing is lost.%s"
        logger.warning(words, str(error) or type(error).__name__, self.often)

    def tell_back(self, seconds: float) -> None:
        logger.warning("Redis answers again after %.1f s", seconds)
