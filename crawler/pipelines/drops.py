"""The two ways in which an item does not reach its collection; both are counted, and one is kept."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NoReturn

from scrapy.exceptions import DropItem
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.storage.items import origin
from crawler.storage.items.documents import unreadable

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


class readable:  # noqa: N801 - used as a function; a generator would take three times as long, four times per item
    """Rejects *item* for what it raises when it is looked at: another fetch of its page would bring the same one."""

    __slots__ = ("_item", "_stats")

    def __init__(self, item: Any, stats: StatsCollector) -> None:
        self._item = item
        self._stats = stats

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, DropItem):
            reject(self._item, [f"unreadable: {unreadable(self._item, error)}"], self._stats)


def reject(item: Any, reasons: Sequence[str], stats: StatsCollector) -> NoReturn:
    """Count the item, say so in one line, and raise RejectedItem."""
    stats.inc_value(names.ITEMS.format("rejected"))
    text = f"{_address(item):.300}, kept in rejected_items: {'; '.join(reasons):.500}"
    logger.warning("Rejected %s", text.encode("utf-8", "backslashreplace").decode())
    raise RejectedItem(reasons)


def _address(item: Any) -> str:
    """The item's URL, that of its page, or its class."""
    known = origin.current()
    try:
        own = str(getattr(item, "url", "") or "")
    except Exception:  # noqa: BLE001 - an item without a readable URL
        own = ""
    return own or (known.url if known is not None else "") or type(item).__qualname__
