"""What a worker that closes is still waiting for, in its log: a callback, a pipeline or a spider may never end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, Final

from scrapy import Request

from crawler.routing.codec import shown
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_book import LeaseBook

LOOK_SECONDS: Final = 1.0
TELL_AFTER_SECONDS: Final = 10.0
TELL_SECONDS: Final = 60.0  # between log lines
MOST_TOLD: Final = 5  # pages
LAST: Final = frozenset({"closed", "close_spider"})  # methods of spiders, pipelines and extensions

logger = logging.getLogger(__name__)


class ClosingPages:
    """Names the pages of *book* that have not ended, then what ends with the spider, once the worker has been closing
    for a while, and again each minute."""

    def __init__(self, book: LeaseBook, is_closing: Callable[[], bool], clock: Callable[[], float] = monotonic) -> None:
        self._book = book
        self._is_closing = is_closing
        self._clock = clock
        self._tell_at: float | None = None

    async def run(self) -> None:
        """Look until it is cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.look()

    def look(self) -> None:
        """Do what is due now."""
        if not self._is_closing():
            return
        now = self._clock()
        if self._tell_at is None:
            self._tell_at = now + TELL_AFTER_SECONDS
        if now < self._tell_at:
            return
        if len(self._book):
            self._tell_pages(now)
        elif waits := sorted(_last_waits()):
            self._tell_at = now + TELL_SECONDS
            logger.warning("Closing, but %s has not ended. A second SIGTERM or Ctrl-C quits at once", ", ".join(waits))

    def _tell_pages(self, now: float) -> None:
        self._tell_at = now + TELL_SECONDS
        pages = sorted(self._book.requests(), key=lambda page: page[1].leased_at)
        told = [f"[{held.lease.id}] {shown(request)} {_waits(request, held, now)}" for request, held in pages]
        more = f"; and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
        words = "Closing, but pages have not ended (%d): %s%s. A second SIGTERM or Ctrl-C quits at once"
        logger.warning(words, len(told), "; ".join(told[:MOST_TOLD]), more)


def _waits(request: Request, held: HeldLease, now: float) -> str:
    if held.parsed_at is not None:
        return f"has had items in pipelines for {now - held.parsed_at:.0f} s"
    if held.handed_at is not None:
        name = getattr(request.callback, "__name__", "parse")
        return f"has been in its callback {name} for {now - held.handed_at:.0f} s"
    if held.slot.started_at is not None and not held.slot.reported:
        return f"has had no answer for {now - held.slot.started_at:.0f} s"
    return f"is in a middleware, leased {now - held.leased_at:.0f} s ago"


def _last_waits() -> Iterator[str]:
    """The coroutines among LAST that are under way."""
    for task in asyncio.all_tasks():
        waits: Any = task.get_coro()
        while waits is not None:
            if getattr(waits, "__name__", "") in LAST:
                yield waits.__qualname__
            waits = getattr(waits, "cr_await", None)
