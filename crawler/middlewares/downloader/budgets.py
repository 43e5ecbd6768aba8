"""Downloader middleware that charges what an answer came to against the budgets. Near to the wire, where bodies are as
they were received."""

from __future__ import annotations

from functools import cached_property

from scrapy import Request
from scrapy.downloadermiddlewares.stats import get_header_size
from scrapy.http import Response

from crawler.middlewares.fleet import FleetMiddleware
from crawler.worker.upkeep.budgets import WorkerBudgets


class BudgetMiddleware(FleetMiddleware):
    """Bytes are those of HTTP messages, bodies compressed as received; browser time counts from the wire start. A run
    may bring a budget along at any time."""

    def process_response(self, request: Request, response: Response) -> Response:
        """Charge an answer."""
        if self._budgets.on:
            self._budgets.answered(request, len(response.body) + get_header_size(response.headers))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """A failure may have kept a tab busy."""
        self._budgets.answered(request, 0)

    @cached_property
    def _budgets(self) -> WorkerBudgets:
        return self._worker.budgets
