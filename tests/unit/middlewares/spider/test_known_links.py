"""Which requests of a page end before the other spider middlewares see them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler import stats as names
from crawler.items import ProductItem
from crawler.middlewares.spider.known_links import KnownLinksMiddleware
from crawler.routing.encoder import Encoder
from crawler.routing.fingerprint import RequestFingerprinter
from crawler.routing.tier_routing import TierRouting
from crawler.worker.dupefilter import FrontierDupeFilter
from crawler.worker.scheduler import Scheduler
from tests.shipped import shipped

PAGE = Response("http://shop.example/p/1")
MENU = "http://shop.example/c/knives"


class OpenScheduler(Scheduler):
    """Open, without servers."""

    def __init__(self, worker: Any) -> None:
        self._worker = worker


class Shop:
    """A worker that holds the lease of `PAGE`, in generation 2."""

    def __init__(self) -> None:
        settings = shipped()
        self.encoder = Encoder(Spider("products"), settings, RequestFingerprinter(), TierRouting(("http",)))
        self.filter = FrontierDupeFilter(None, "")
        self.counts: dict[str, int] = {}
        held = SimpleNamespace(lease=SimpleNamespace(generation="2"))
        worker = SimpleNamespace(
            book=SimpleNamespace(behind={PAGE: held}.get),
            queue=SimpleNamespace(encoder=self.encoder),
            dupefilter=self.filter,
        )
        engine = SimpleNamespace(scheduler=OpenScheduler(worker))
        stats = SimpleNamespace(inc_value=self.count)
        crawler = SimpleNamespace(engine=engine, stats=stats, spider=Spider("products"))
        self.middleware = KnownLinksMiddleware(cast("Crawler", crawler))

    def count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def confirm(self, url: str, generation: str = "2") -> None:
        """The frontier has it."""
        place = self.encoder.place(Request(url))
        self.filter.confirm((place.stream, generation, place.fingerprint))

    async def passed(self, *outputs: Any, page: Response = PAGE) -> list[Any]:
        """What is left of the output of *page*."""

        async def given() -> AsyncIterator[Any]:
            for one in outputs:
                yield one

        return [one async for one in self.middleware.process_spider_output(page, given())]


async def test_what_the_frontier_has_confirmed_ends_here_and_is_counted() -> None:
    shop = Shop()
    shop.confirm(MENU)
    item, new = ProductItem(url=PAGE.url), Request("http://shop.example/p/2")
    for _ in range(2):  # looked up by fingerprint, then by URL
        outputs = (Request(MENU), item, new, Request(f"{MENU}?utm_source=menu"))
        assert await shop.passed(*outputs) == [item, new]
    assert shop.counts == {names.DUPLICATES: 4}


async def test_what_is_to_be_fetched_again_passes() -> None:
    shop = Shop()
    shop.confirm(MENU)
    again, form = Request(MENU, dont_filter=True), Request(MENU, method="POST", body=b"a=1")
    dearer = Request(MENU, meta={"min_tier": "browser"})
    assert await shop.passed(again, form) == [again, form]
    shop.encoder.tier_routing.served = frozenset(("http", "browser"))
    assert await shop.passed(dearer) == [dearer]
    assert shop.counts == {}


async def test_another_generation_knows_nothing_of_it() -> None:
    shop = Shop()
    shop.confirm(MENU, generation="1")
    again = Request(MENU)
    assert await shop.passed(again) == [again]


async def test_what_cannot_be_placed_is_the_schedulers_to_refuse() -> None:
    shop = Shop()
    shop.confirm(MENU)
    mail, known = Request("ftp://shop.example/"), Request(MENU)
    assert await shop.passed(mail) == [mail]
    assert await shop.passed(known, page=Response(PAGE.url)) == [known]  # of a page that has no lease


def test_off_without_the_shared_frontier() -> None:
    with pytest.raises(NotConfigured):
        KnownLinksMiddleware.from_crawler(Crawler(Spider))
