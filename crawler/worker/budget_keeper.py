"""States the budgets of this worker's spider, and tells what its answers came to."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from time import monotonic, time

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ConfigError
from crawler.frontier.frontier import Frontier
from crawler.frontier.state.budgets import Closed, Terms
from crawler.policy.budgets import Budget, read_budget
from crawler.policy.domain_values import BadValueError
from crawler.policy.domains import Rules
from crawler.worker.lease_book import LeaseBook
from crawler.worker.outbox import Outbox

logger = logging.getLogger(__name__)


class BudgetKeeper:
    """BUDGET is the spider's, the table `budget` in domains.toml a domain's, that of [default] each other host's."""

    def __init__(
        self,
        crawler: Crawler,
        frontier: Frontier,
        book: LeaseBook,
        outbox: Outbox,
        domains: Rules,
        clock: Callable[[], float] = time,
    ) -> None:
        """Raises ConfigError for a budget that cannot be."""
        assert crawler.spider is not None
        self._frontier = frontier
        self._book = book
        self._outbox = outbox
        self._clock = clock
        self._spider = crawler.spider.name
        self._said: set[str] = set()
        self._budgets = dict(_budgets(self._spider, spider_budget(crawler.settings), domains))

    @property
    def on(self) -> bool:
        """Whether there is any."""
        return bool(self._budgets)

    async def state(self) -> None:
        """To be repeated every minute: a day ends, and budgets that nobody states any more are over."""
        if self.on:
            now_ms = round(self._clock() * 1000)
            await self._frontier.budgets.state([_terms(name, one, now_ms) for name, one in self._budgets.items()])
            self._say(await self._frontier.budgets.closed(now_ms))

    def _say(self, closed: Sequence[Closed]) -> None:
        known = {one.name: one for one in closed}
        for name in known.keys() - self._said:
            at = datetime.fromtimestamp(self._clock() + known[name].until_ms / 1000, UTC)
            logger.warning("Requests wait until %s: %s", f"{at:%Y-%m-%d %H:%M} UTC", known[name].told)
        for name in self._said - known.keys():
            logger.info("The budget or the hours %s let requests go again", name)
        self._said = set(known)

    def answered(self, request: Request, size: int) -> None:
        """*request* was answered, or failed, after *size* bytes."""
        if (held := self._book.of(request)) is None:
            return
        in_browser = request.meta.get("tier") == "browser" and held.started_at is not None
        browser_ms = (monotonic() - (held.started_at or 0.0)) * 1000 if in_browser else 0.0
        self._outbox.charge((held.lease.host, self._spider, held.lease.generation), size, browser_ms, 0.0)

    def paid(self, request: Request, cost: float) -> None:
        """A proxy or an API took *cost* for *request*."""
        if cost and (held := self._book.of(request)) is not None:
            self._outbox.charge((held.lease.host, self._spider, held.lease.generation), 0, 0.0, cost)


def spider_budget(settings: BaseSettings) -> Budget | None:
    """BUDGET; None where it is empty. Raises ConfigError."""
    try:
        return read_budget(config.mapping(settings, "BUDGET")) if settings.get("BUDGET") else None
    except BadValueError as error:
        key = "".join(f"[{part!r}]" for part in error.path)
        raise ConfigError(f"BUDGET{key}", error.value, error.expected) from None


def _budgets(spider: str, own: Budget | None, domains: Rules) -> Iterator[tuple[str, Budget]]:
    if own is not None:
        yield f"s:{spider}", own
    if domains.default.budget is not None:
        yield "*", domains.default.budget
    for name, site in domains.by_host.items():
        outer = domains.around(name)
        if site.budget is not None and site.budget is not outer.budget:
            yield f"d:{name}", site.budget


def _terms(name: str, budget: Budget, now_ms: int) -> Terms:
    return Terms(
        name,
        budget.day(now_ms),
        requests=budget.requests,
        size=budget.mb * 1_000_000,
        browser_ms=budget.browser_seconds * 1000,
        cost=budget.cost,
        windows=budget.windows(now_ms),
    )
