"""Which requests of a page end before the other spider middlewares see them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler import stats as names
from crawler.items import ProductItem
from crawler.middlewares.conditional import page_links
from crawler.middlewares.conditional.spider import PageVersion, VersionMiddleware
from crawler.middlewares.spider.known_links import KnownLinksMiddleware
from crawler.routing.encoder import Encoder
from crawler.routing.fingerprint import RequestFingerprinter
from crawler.routing.tier_routing import TierRouting
from crawler.spiders.base import FrontierSpider
from crawler.spiders.products import ProductsSpider
from crawler.worker.dupefilter import FrontierDupeFilter
from crawler.worker.scheduler import Scheduler
from tests.shipped import shipped

PAGE = Response("http://shop.example/p/1")
MENU, OTHER = "http://shop.example/c/knives", "http://shop.example/c/forks"


class OpenScheduler(Scheduler):
    """Open, without servers."""

    def __init__(self, worker: Any) -> None:
        life: Any = SimpleNamespace(worker=worker)
        self._life = life


class Shop:
    """A worker that holds the lease of `PAGE`, in generation 2."""

    def __init__(self, spider: Spider | None = None, nearer: Sequence[Callable[[Crawler], Any]] = ()) -> None:
        settings = shipped()
        spider = spider or Spider("products")
        self.encoder = Encoder(Spider("products"), settings, RequestFingerprinter(), TierRouting(("http",)))
        self.filter = FrontierDupeFilter(None, "")
        self.counts: dict[str, int] = {}
        held = SimpleNamespace(lease=SimpleNamespace(generation="2"))
        worker = SimpleNamespace(
            book=SimpleNamespace(behind={PAGE: held}.get),
            queue=SimpleNamespace(encoder=self.encoder),
            dupefilter=self.filter,
        )
        engine = SimpleNamespace(
            scheduler=OpenScheduler(worker), scraper=SimpleNamespace(spidermw=SimpleNamespace(middlewares=()))
        )
        stats = SimpleNamespace(inc_value=self.count)
        self.crawler = cast("Crawler", SimpleNamespace(engine=engine, stats=stats, spider=spider, settings=settings))
        self.middleware = KnownLinksMiddleware.from_crawler(self.crawler)
        engine.scraper.spidermw.middlewares = (object(), self.middleware, *(kind(self.crawler) for kind in nearer))

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


class Looking(ProductsSpider):
    """A project's, which looks at each request."""

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        for one in super().parse(response, **kwargs):
            yield one.replace(priority=1) if isinstance(one, Request) else one


def followed(shop: Shop, page: Response = PAGE) -> list[str]:
    """The requests that the spider makes for two links of *page*."""
    spider = shop.crawler.spider
    assert isinstance(spider, FrontierSpider)
    return [request.url for request in spider.plain_requests(page, (MENU, OTHER))]


async def known_menu(shop: Shop) -> Shop:
    shop.confirm(MENU)
    assert await shop.passed(Request(MENU)) == []
    assert shop.counts == {names.DUPLICATES: 1}
    return shop


async def test_no_request_is_made_for_a_link_that_would_end_here() -> None:
    shop = await known_menu(Shop(ProductsSpider()))
    assert followed(shop) == [OTHER]
    assert shop.counts == {names.DUPLICATES: 2}
    assert followed(shop, Response(PAGE.url)) == [MENU, OTHER]  # of a page that has no lease
    assert shop.counts == {names.DUPLICATES: 2}


async def test_requests_are_made_where_somebody_may_look_at_them() -> None:
    for shop in (Shop(Looking()), Shop(ProductsSpider(), (lambda crawler: object(),))):
        assert followed(await known_menu(shop)) == [MENU, OTHER]
    shop = await known_menu(Shop(ProductsSpider()))
    shop.filter.debug = True  # logs each of them
    assert followed(shop) == [MENU, OTHER]


async def test_a_callback_of_its_own_gets_all_requests() -> None:
    shop = await known_menu(Shop(ProductsSpider()))
    PAGE.request = Request(PAGE.url, shop.crawler.spider.parse)  # type: ignore[union-attr]
    try:
        assert followed(shop) == [MENU, OTHER]
    finally:
        PAGE.request = None


async def test_a_page_that_is_remembered_keeps_its_known_links() -> None:
    shop = await known_menu(Shop(ProductsSpider(), (VersionMiddleware,)))
    versions = shop.crawler.engine.scraper.spidermw.middlewares[-1]
    page = versions._pages[PAGE] = PageVersion('"1"', "", datetime(2026, 1, 1, tzinfo=UTC))
    assert followed(shop) == [OTHER]
    assert page.links == [page_links.plain(Request(MENU), Spider("products"))]


def test_off_without_the_shared_frontier() -> None:
    with pytest.raises(NotConfigured):
        KnownLinksMiddleware.from_crawler(Crawler(Spider))
