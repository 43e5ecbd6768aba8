"""Spider middleware that ties a page's output to its lease: children to their parent, and the end of the callback.

Nearest to the engine: it sees what all other spider middlewares let through.
"""

from __future__ import annotations

from typing import Any

from scrapy import Request
from scrapy.http import Response

from crawler.middlewares.fleet import FleetMiddleware
from crawler.middlewares.outputs import OutputMiddleware
from crawler.worker.leases.held import HeldLease


class LineageMiddleware(FleetMiddleware, OutputMiddleware[HeldLease]):
    """Children inherit their parent's crawl generation; a page is done only if its callback ran to the end."""

    def begin(self, response: Response) -> HeldLease | None:
        """The lease of the page."""
        return self._worker.book.behind(response)

    def each(self, output: Any, page: HeldLease) -> Any:
        """Pass everything on."""
        if isinstance(output, Request):
            self._worker.book.found(output, page)
        return output

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Another middleware may still make something of it."""
        if (page := self._worker.book.behind(response)) is not None:
            page.failed(exception)

    def end(self, page: HeldLease) -> None:
        """The callback has ended well."""
        page.parsed()
