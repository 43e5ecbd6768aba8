"""Downloader middleware that charges what an answer came to against the budgets. Nearest to the wire, where bodies are
as they were received."""

from __future__ import annotations

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.stats import get_header_size
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.policy.domains import load_rules
from crawler.worker.access import worker_of
from crawler.worker.budget_keeper import spider_budget
from crawler.worker.scheduler import in_use


class BudgetMiddleware:
    """Bytes are those of HTTP messages, bodies compressed as received; browser time counts from the wire start."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off where there is no budget."""
        rules = load_rules(crawler.settings["DOMAINS_FILE"]) if in_use(crawler.settings) else None
        sites = (rules.default, *rules.by_host.values()) if rules else ()
        if not sites or (not spider_budget(crawler.settings) and all(site.budget is None for site in sites)):
            raise NotConfigured
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Charge an answer."""
        worker_of(self._crawler).budgets.answered(request, len(response.body) + get_header_size(response.headers))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """A failure may have kept a tab busy."""
        worker_of(self._crawler).budgets.answered(request, 0)
