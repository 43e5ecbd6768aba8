"""Spider middleware that drops known links before other middlewares spend time on them."""

from __future__ import annotations

from typing import Any

from scrapy import Request
from scrapy.http import Response

from crawler import stats as names
from crawler.errors import CodecError, MessageError
from crawler.middlewares.spider.fleet import FleetMiddleware
from crawler.middlewares.spider.outputs import OutputMiddleware
from crawler.worker.lease_book import Held


class KnownLinksMiddleware(FleetMiddleware, OutputMiddleware[Held]):
    """Asks this worker's memory of recently confirmed pushes, as the scheduler would at the end.

    Most links of a shop's page are on its other pages too: menu, categories, footer. It sits near the spider, behind
    what remembers a page's links; a middleware that rewrites requests or sets `dont_filter` belongs still nearer. No
    Scrapy signal is sent for what is dropped here.
    """

    def begin(self, response: Response) -> Held | None:
        """The lease of the page."""
        return self._worker.book.behind(response)

    def each(self, output: Any, page: Held) -> Any:
        """All but known requests, which are counted as the scheduler counts them."""
        if not isinstance(output, Request) or output.dont_filter or not self._is_known(output, page.lease.generation):
            return output
        stats, spider = self._crawler.stats, self._crawler.spider
        assert stats is not None
        assert spider is not None
        stats.inc_value(names.DUPLICATES)
        self._worker.dupefilter.log(output, spider)
        return None

    def _is_known(self, request: Request, generation: str) -> bool:
        encoder, known = self._worker.queue.encoder, self._worker.dupefilter
        plain = encoder.by_url_alone and request.method == "GET" and not request.meta and not request.body
        if plain and known.confirmed_link((generation, request.url)):
            return True
        try:
            place = encoder.place(request)
        except (CodecError, MessageError):  # the scheduler reports it
            return False
        fingerprint = (place.stream, generation, place.fingerprint)
        if not known.confirmed(fingerprint):
            return False
        if plain:
            known.confirm_link((generation, request.url), fingerprint)
        return True
