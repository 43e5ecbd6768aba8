"""Downloader middleware that charges what an answer came to against the budgets. Near to the wire, where bodies are as
they were received."""

from __future__ import annotations

from functools import cached_property
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.stats import get_header_size
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.worker.access import worker_of
from crawler.worker.budget_keeper import BudgetKeeper
from crawler.worker.scheduler import in_use


class BudgetMiddleware:
    """Bytes are those of HTTP messages, bodies compressed as received; browser time counts from the wire start."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off where the spider does not use the shared frontier. A run may bring a budget along at any time."""
        if not in_use(crawler.settings):
            raise NotConfigured
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Charge an answer."""
        if self._budgets.on:
            self._budgets.answered(request, len(response.body) + get_header_size(response.headers))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """A failure may have kept a tab busy."""
        self._budgets.answered(request, 0)

    @cached_property
    def _budgets(self) -> BudgetKeeper:
        return worker_of(self._crawler).budgets
