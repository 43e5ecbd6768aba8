"""Liveness and readiness of this worker, answered from memory: a probe never waits for Redis or MongoDB."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from time import monotonic
from typing import Any

from scrapy.crawler import Crawler

from crawler import scrapy_hooks
from crawler import stats as names
from crawler.worker.scheduler import Scheduler
from crawler.worker.upkeep import watchdog
from crawler.worker.worker import Worker


class WorkerHealth:
    """What the probes of one worker report; may be read from any thread.

    Alive: the event loop ran within *max_lag_seconds*, or within *callback_seconds* while a callback blocks it, as its
    pages stay leased that long; right after it the loop has *max_lag_seconds* again, from when a probe last saw the
    callback. A server that is away must not get workers killed. Ready: it leases, or would if there were work.
    """

    def __init__(
        self,
        crawler: Crawler,
        max_lag_seconds: float,
        callback_seconds: float,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._crawler = crawler
        self._max_lag = max_lag_seconds
        self._callback_seconds = max(callback_seconds, max_lag_seconds)
        self._thread = get_ident()
        self._clock = clock
        self._beat = self._seen = clock()
        self._opened = False

    def opened(self) -> None:
        """The spider is open, and so is the connection to the frontier."""
        self._opened = True

    def beat(self) -> None:
        """Called by the event loop several times a second."""
        self._thread = get_ident()
        self._beat = self._clock()

    @property
    def lag(self) -> float:
        """Seconds since the event loop last ran."""
        return self._clock() - self._beat

    def stuck(self) -> str:
        """Why this worker should be restarted; empty if it should not."""
        words, allowed = self._held_up()
        return words if self.lag > allowed else ""

    def _held_up(self) -> tuple[str, float]:
        """What blocks the loop for too long, and how many seconds it may."""
        if (lag := self.lag) <= self._max_lag:
            return "", self._max_lag
        if not (where := watchdog.running(self._thread)):
            still = self._clock() - max(self._beat, self._seen)
            words = f"the event loop has not run for {lag:.0f} s (limit {self._max_lag:.0f} s)"
            return (words if still > self._max_lag else ""), self._max_lag
        self._seen = self._clock()
        words = f"{where} has blocked the event loop for {lag:.0f} s (limit {self._callback_seconds:.0f} s)"
        return words, self._callback_seconds

    def unready(self) -> str:
        """Why it is not leasing; empty while it is."""
        if not self._opened:
            return "starting"
        engine = self._crawler.engine
        if scrapy_hooks.is_closing(engine):
            return "closing: it finishes what it has started"
        if engine.paused:
            return "paused"
        if (worker := self.worker) is not None and worker.outage.on:
            return "Redis does not answer"
        if self._crawler.stats.get_value(names.STORE_AWAY):
            return "MongoDB does not store"
        return self._held_up()[0]

    def told(self) -> dict[str, Any]:
        """All that readiness depends on, and how much this worker holds; it names no host, URL or credential."""
        worker, reason, lag = self.worker, self.unready(), self.lag
        stats = self._crawler.stats.get_stats().copy()
        paused, slowed = (worker.pauses.reason, worker.pauses.slowed) if worker else ("", "")
        checks = {
            "event_loop": {"ok": lag <= self._max_lag, "lag_seconds": round(lag, 3), "held_up_by": self._held_up()[0]},
            "leasing": {"ok": worker is not None and not paused, "paused": paused, "slowed": slowed},
            "redis": {"ok": worker is not None and not worker.outage.on},
            "mongodb": {"ok": not stats.get(names.STORE_AWAY), "spool_bytes": stats.get(names.SPOOL_BYTES, 0)},
            "archive": {"ok": not stats.get(names.ARCHIVE_AWAY)},
        }
        held = (
            {"leases": len(worker.book), "buffered": len(worker.queue), "outbox": len(worker.outbox)} if worker else {}
        )
        name, spider = worker.name if worker else "", getattr(self._crawler.spider, "name", "")
        return {
            "ready": not reason,
            "reason": reason,
            "spider": spider,
            "worker": name,
            "checks": checks,
            "holds": held,
        }

    @property
    def worker(self) -> Worker | None:
        """The `Worker`; None with another scheduler, and before the spider is open."""
        scheduler = self._crawler.engine.scheduler if self._opened else None
        return scheduler.worker if isinstance(scheduler, Scheduler) else None
