"""Spider middleware that drops known links before other middlewares spend time on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler import stats as names
from crawler.errors import CodecError, MessageError
from crawler.middlewares.conditional.spider import VersionMiddleware
from crawler.middlewares.fleet import FleetMiddleware
from crawler.middlewares.outputs import OutputMiddleware
from crawler.spiders.base import FrontierSpider
from crawler.worker.leases.held import HeldLease


class KnownLinksMiddleware(FleetMiddleware, OutputMiddleware[HeldLease]):
    """Asks this worker's memory of recently confirmed pushes, as the scheduler would at the end.

    Most links of a shop's page are on its other pages too: menu, categories, footer. It sits near the spider, behind
    what remembers a page's links; a middleware that rewrites requests or sets `dont_filter` belongs still nearer. No
    Scrapy signal is sent for what is dropped here. Where nothing stands between it and a spider of ours, that asks for
    each link before it makes a request (`judge`).
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off where the spider does not use the shared frontier."""
        middleware = super().from_crawler(crawler)
        if isinstance(crawler.spider, FrontierSpider):
            crawler.spider.judge_links = middleware.judge
        return middleware

    def judge(self, response: Response) -> Callable[[str], bool] | None:
        """Whether the request for a link of *response*, a plain one, would end here; it is counted then, as if it had.
        None where somebody may want to see or change these requests before."""
        page, known = self._worker.book.behind(response), self._worker.dupefilter
        asked = response.request
        if page is None or not self._is_next or (asked is not None and asked.callback is not None):
            return None
        generation, versions, stats = page.lease.generation, self._nearer, self._crawler.stats

        def is_known(url: str) -> bool:
            if not known.confirmed_link((generation, url)):
                return False
            stats.inc_value(names.DUPLICATES)
            for one in versions:
                one.pass_over(response, url)
            return True

        return is_known

    @cached_property
    def _is_next(self) -> bool:
        """Whether all requests of the spider's `parse` come here as it made them."""
        spider, worker = self._crawler.spider, self._worker
        assert isinstance(spider, FrontierSpider)
        if worker.dupefilter.debug or not (spider.is_unwrapped and worker.queue.encoder.by_url_alone):
            return False
        return all(type(one) is VersionMiddleware for one in self._nearer)

    @cached_property
    def _nearer(self) -> tuple[Any, ...]:
        """The spider middlewares between this one and the spider."""
        chain = self._crawler.engine.scraper.spidermw.middlewares
        return chain[chain.index(self) + 1 :]

    def begin(self, response: Response) -> HeldLease | None:
        """The lease of the page."""
        return self._worker.book.behind(response)

    def each(self, output: Any, page: HeldLease) -> Any:
        """All but known requests, which are counted as the scheduler counts them."""
        if not isinstance(output, Request) or output.dont_filter or not self._is_known(output, page.lease.generation):
            return output
        stats, spider = self._crawler.stats, self._crawler.spider
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
