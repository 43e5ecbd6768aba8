"""A thread that looks after this worker's leases and rules while a callback blocks the event loop.

Known weakness: a C call that holds the GIL (a catastrophic regular expression) blocks the thread as well.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from types import CodeType, FrameType
from typing import Final

from scrapy import Spider

from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierError
from crawler.frontier.messages import Handle
from crawler.frontier.server.blocking import BlockingScripts
from crawler.frontier.state.statement import Statement
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_buffer import Buffer

REMEMBERED: Final = 32  # standstills
STATE_SECONDS: Final = 4.0  # rules that no worker states for three times as long are no longer in force
WARN_SECONDS: Final = 1.0  # a loop that is blocked for less is only busy
# Frames below these belong to a page's callbacks.
SCRAPERS: Final = frozenset({"scrapy.core.scraper", "scrapy.core.spidermw", "crawler.engine.item_processor"})
_OURS: Final = ("crawler.engine.", "crawler.middlewares.", "crawler.worker.")
_AROUND: Final = ("scrapy.", "twisted.", "asyncio.", "contextlib", *_OURS)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class InHand:
    """What this worker has to keep alive now."""

    held: Sequence[HeldLease]  # started
    ending: Sequence[Handle]  # ended here, but not reported yet
    suspended: bool  # this time does not count towards FRONTIER_HARD_CAP_SECONDS


class Watchdog:
    """Watches the event loop; while it is blocked, renews started leases, gives back the others, and states the rules
    that this worker crawls by.

    A buffered lease goes back once it is too late to start: from then on no part of the worker may use it, not even a
    loop that wakes up at that moment. Started leases that were not sent by then are left to expire.
    """

    def __init__(
        self,
        config: FrontierConfig,
        scripts: BlockingScripts,
        buffer: Buffer,
        in_hand: Callable[[], InHand],
        stood_still: Callable[[], None],
        statement: Statement | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """*stood_still* is called once per standstill, in the thread."""
        self._scripts = scripts
        self._buffer = buffer
        self._in_hand = in_hand
        self._stood_still = stood_still
        self._statement = statement
        self._clock = clock
        self._renew_seconds = config.renew_seconds
        self._start_within = config.start_within_ms / 1000
        self._hard_cap = config.hard_cap_ms / 1000
        self._tick = min(1.0, self._renew_seconds / 4, self._start_within / 4)
        self._beat = self._looked = clock()
        self._held_up: deque[tuple[float, float]] = deque(maxlen=REMEMBERED)  # recent ones, from when to when
        self._renewed: float | None = None
        self._stated: float | None = None
        self._counted = False
        self._told_away = False
        self._warned: set[str] = set()
        self._loop_thread = 0  # the loop's thread
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look_often, name="watchdog", daemon=True)

    async def run(self) -> None:
        """Beat while the worker lives."""
        self._loop_thread = threading.get_ident()
        self._beat = self._looked = self._clock()
        self._thread.start()
        try:
            while True:
                self._come_round()
                await asyncio.sleep(self._tick)
        finally:
            self._ended.set()

    def since(self, moment: float) -> float:
        """Seconds since *moment* for which the loop was blocked: a response waited for the loop then, not for its
        host."""
        now = self._clock()
        held_up = [*self._held_up, (self._beat + self._tick, now)]
        return sum(max(0.0, end - max(begin, moment)) for begin, end in held_up if end - begin > WARN_SECONDS)

    def _come_round(self) -> None:
        now = self._clock()
        if now - self._beat - self._tick > WARN_SECONDS:
            self._held_up.append((self._beat + self._tick, now))
        self._beat = now

    def look(self) -> None:
        """Do what is due now."""
        now = self._clock()
        if (slept := now - self._looked) > self._tick + WARN_SECONDS:
            self._beat += slept  # the whole process was suspended, or waited for the server
        self._looked = now
        still = now - self._beat
        if still < min(STATE_SECONDS, self._renew_seconds, self._start_within):
            self._renewed, self._stated, self._counted, self._told_away = None, None, False, False
            return
        if still >= max(self._start_within, WARN_SECONDS):
            self._tell(still)
        try:
            if still >= STATE_SECONDS:
                self._state(now)
            if still >= self._start_within:
                self._return_late(now)
            if still >= self._renew_seconds and (self._renewed is None or now - self._renewed >= self._renew_seconds):
                self._renew(sent_only=still >= self._start_within)
                self._renewed = now
        except FrontierError as error:
            if not self._told_away:
                self._told_away = True
                logger.warning("Could not renew leases and rules while the event loop is blocked, trying on: %s", error)
        self._looked = self._clock()

    def _look_often(self) -> None:
        while not self._ended.wait(self._tick):
            try:
                self.look()
            except Exception:
                logger.exception("Keeping leases while the event loop is blocked failed; retrying")
        self._scripts.close()

    def _state(self, now: float) -> None:
        if self._statement is not None and (self._stated is None or now - self._stated >= STATE_SECONDS):
            self._scripts.everywhere("rules", *self._statement.row)
            self._stated = now

    def _return_late(self, now: float) -> None:
        late = self._buffer.withdraw(lambda held: held.slot.start_by < now)
        if not late:
            return
        try:
            self._scripts.on_handles("give_back", [held.handle for held in late])
        except FrontierError:
            for held in late:
                self._buffer.append(held)
            raise

    def _renew(self, *, sent_only: bool) -> None:
        mine = self._in_hand()
        held = [one for one in mine.held if one.slot.started_at is not None or not sent_only]
        handles = [*(one.handle for one in held), *mine.ending]
        if not handles:
            return
        answers = self._scripts.on_handles("renew", handles, "1" if mine.suspended else "0")
        for one in held:
            one.lost = one.lost or not answers[one.handle]

    def _tell(self, still: float) -> None:
        where = running(self._loop_thread)
        if not self._counted:
            self._counted = True
            self._stood_still()
        if where in self._warned:
            return
        self._warned.add(where)
        logger.warning(
            "The event loop has been blocked for %.0f s by %s. Requests on the wire stay leased for up to %.0f s "
            "(FRONTIER_HARD_CAP_SECONDS), others are given back. Move long work into a thread: "
            "`await asyncio.to_thread(...)`",
            still,
            where or "code outside the callbacks",
            self._hard_cap,
        )


def running(thread: int) -> str:
    """The callback, errback, pipeline or other method of a spider that *thread* is running, as `ShopSpider.parse
    (shop.py:12)`; empty if none."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001 - documented, underscore or not
    inner: list[FrameType] = []  # of the frames below Scrapy's scraper, the outermost is last
    while frame is not None and frame.f_globals.get("__name__") not in SCRAPERS:
        inner.append(frame)
        frame = frame.f_back
    if frame is None:  # Scrapy calls errbacks of failed downloads, and start(), elsewhere
        inner = [one for one in inner if isinstance(one.f_locals.get("self"), Spider)]
    own = [one for one in inner if not str(one.f_globals.get("__name__", "")).startswith(_AROUND)]
    if not (candidates := own or inner or ([frame] if frame is not None else [])):
        return ""
    found = candidates[-1]
    return f"{_name(found.f_code)} ({found.f_code.co_filename.rpartition('/')[2]}:{found.f_lineno})"


def _name(code: CodeType) -> str:
    return code.co_qualname.replace(".<locals>", "")
