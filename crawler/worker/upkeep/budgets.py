"""States the budgets of this worker's spider in Redis, and reports what its responses spent."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from time import monotonic, time

from scrapy import Request
from scrapy.crawler import Crawler

from crawler.frontier.frontier import Frontier
from crawler.frontier.state.budgets import Closed
from crawler.routing.budgeting import budgets_of, spider_budget, terms_of
from crawler.routing.encoder import Encoder
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.outbox.outbox import Outbox

logger = logging.getLogger(__name__)


class WorkerBudgets:
    """BUDGET applies to the spider, a `budget` table in domains.toml to its domain, [default]'s to every other host."""

    def __init__(self, crawler: Crawler, frontier: Frontier, book: LeaseBook, outbox: Outbox, encoder: Encoder) -> None:
        """Raises ConfigError for an invalid budget."""
        assert crawler.spider is not None
        self._frontier = frontier
        self._book = book
        self._outbox = outbox
        self._spider = crawler.spider.name
        self._said: set[str] = set()
        self._scopes = encoder.scopes
        own = spider_budget(crawler.settings)
        self._budgets = dict(budgets_of(self._spider, own, encoder.rules.domains))

    @property
    def on(self) -> bool:
        """Whether there is a budget, or was one in a run."""
        return bool(self._budgets) or self._scopes.budgeted

    async def state(self) -> None:
        """Repeated every minute: days end, and a budget that no worker states any more expires."""
        if self.on:
            now_ms = round(time() * 1000)
            terms = [terms_of(name, one, now_ms) for name, one in self._budgets.items()]
            await self._frontier.budgets.state(terms)
            await self._frontier.shares.begin(terms)
            self._say(await self._frontier.budgets.closed(now_ms))

    def _say(self, closed: Sequence[Closed]) -> None:
        known = {one.name: one for one in closed if not one.is_of_run}  # of these WorkerRuns tells how they end
        for name in known.keys() - self._said:
            logger.warning("Requests wait: %s, %s", known[name].told, known[name].lasts)
        for name in self._said - known.keys():
            logger.info("The budget or the hours %s let requests go again", name)
        self._said = set(known)

    def answered(self, request: Request, size: int) -> None:
        """*request* got a response of *size* bytes, or failed after them."""
        if not self.on or (held := self._book.of(request)) is None:
            return
        in_browser = request.meta.get("tier") == "browser" and held.slot.started_at is not None
        browser_ms = (monotonic() - (held.slot.started_at or 0.0)) * 1000 if in_browser else 0.0
        self._outbox.counts.charge((held.lease.host, self._spider, held.lease.generation), size, browser_ms, 0.0)

    def paid(self, request: Request, cost: float) -> None:
        """A proxy or an API charged *cost* for *request*."""
        if cost and self.on and (held := self._book.of(request)) is not None:
            self._outbox.counts.charge((held.lease.host, self._spider, held.lease.generation), 0, 0.0, cost)
