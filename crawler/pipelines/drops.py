"""The two ways in which an item does not reach its collection; both are counted, and one is kept."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NoReturn

from scrapy.exceptions import DropItem
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.storage import origin

logger = logging.getLogger(__name__)


class RejectedItem(DropItem):
    """An item kept in `rejected_items` with its reasons, each starting with the issue's name."""

    def __init__(self, reasons: Sequence[str]) -> None:
        # Scrapy would log the whole item: only when debugging; the line is our own.
        super().__init__("; ".join(reasons), log_level="DEBUG")
        self.reasons = list(reasons)


class DuplicateItem(DropItem):
    """The same content of the same item was stored a moment ago."""

    def __init__(self, url: str) -> None:
        super().__init__(f"duplicate of {url}", log_level="DEBUG")


class LinkedItem(DropItem):
    """The same content is stored under another URL of the host; the link is on record."""

    def __init__(self, url: str, original: str) -> None:
        super().__init__(f"{url} has the content of {original}", log_level="DEBUG")


def reject(item: Any, reasons: Sequence[str], stats: StatsCollector) -> NoReturn:
    """Count the item, say so in one line, and raise RejectedItem."""
    stats.inc_value(names.ITEMS.format("rejected"))
    known = origin.current()
    url = getattr(item, "url", "") or (known.url if known is not None else "") or type(item).__qualname__
    logger.warning("Rejected %.300s, kept in rejected_items: %.500s", url, "; ".join(reasons))
    raise RejectedItem(reasons)
