"""How other components get the `Worker` of their crawl."""

from __future__ import annotations

from scrapy.crawler import Crawler

from crawler import scrapy_hooks
from crawler.worker.scheduler import Scheduler
from crawler.worker.worker import Worker


def worker_of(crawler: Crawler) -> Worker:
    """The worker of a fleet crawl; exists once its spider is open."""
    scheduler = crawler.engine.scheduler
    assert isinstance(scheduler, Scheduler)
    return scheduler.worker


def worker_if_any(crawler: Crawler) -> Worker | None:
    """The worker, or None in a crawl that does not use the shared frontier."""
    engine = scrapy_hooks.engine_of(crawler)
    scheduler = engine.scheduler if engine is not None else None
    return scheduler.worker if isinstance(scheduler, Scheduler) else None


def stop_leasing(crawler: Crawler, owner: str, reason: str) -> None:
    """Lease nothing while *owner* has a *reason*, cleared with "": what is fetched has nowhere to go."""
    if (worker := worker_if_any(crawler)) is not None:
        worker.pauses.stop(owner, reason)
