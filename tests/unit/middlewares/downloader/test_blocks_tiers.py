"""The two middlewares one by one; tests/integration/crawl/test_tiers.py has them in a fleet."""

from __future__ import annotations

import gzip
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler

from crawler.meta import BLOCK, TIER_STAYS
from crawler.middlewares.downloader.blocks import BlocksMiddleware
from crawler.middlewares.downloader.tiers import TiersMiddleware
from crawler.policy.rules.domains import Rules, parse_rules
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.scheduler import Scheduler
from tests.unit.frontier.fakes import held
from tests.unit.policy.blocks.block_pages import page
from tests.unit.test_settings import base

URL = "http://a.example/p/1"
CHALLENGE = page("Just a moment...", "<script>window._cf_chl_opt={}</script>")
SHELL = page("Shop", '<div id="root"></div><script src="/app.js"></script>')
SUSPENDED = page("Account Suspended", "<h1>This account has been suspended.</h1><p>Contact your hosting provider.</p>")
GOOD = page("A lamp", "<p>Of brushed steel.</p>")
FLEET = {"SCHEDULER": "crawler.worker.scheduler.Scheduler"}


class Crawl:
    """A crawl with one leased request; notes what the frontier would be told."""

    def __init__(self, up: tuple[Any, str] = ("browser", ""), rules: str = "") -> None:
        self.crawler: Any = get_crawler(Spider, FLEET)
        self.told: list[Any] = []
        self.book = LeaseBook()
        self.up = up

        async def back_off(request: Request) -> None:
            self.told.append("back off")

        async def failed(request: Request, at: str) -> tuple[Any, str]:
            self.told.append(f"failed at {at}")
            return self.up

        tiers = SimpleNamespace(
            failed=failed,
            good=lambda host, request, at: self.told.append(f"good at {at}"),
            spend=lambda tier: self.told.append(f"sent in {tier}"),
        )
        scheduler = Scheduler.__new__(Scheduler)
        encoder = SimpleNamespace(rules=SimpleNamespace(domains=parse_rules(rules) if rules else Rules()))
        worker: Any = SimpleNamespace(
            answers=SimpleNamespace(back_off=back_off),
            tiers=tiers,
            book=self.book,
            queue=SimpleNamespace(encoder=encoder),
        )
        life: Any = SimpleNamespace(worker=worker)
        scheduler._life = life
        self.crawler.engine = SimpleNamespace(scheduler=scheduler)  # type: ignore[assignment]
        self.blocks = BlocksMiddleware(self.crawler)
        self.tiers = TiersMiddleware(self.crawler)

    def leased(self, tier: str = "http", **meta: Any) -> Request:
        request = Request(URL, meta={"tier": tier, **meta})
        self.book.hold(request, held())
        return request

    def stat(self, name: str) -> Any:
        return self.crawler.stats.get_value(name, 0)

    async def answer(self, request: Request, body: str, status: int = 200) -> Request | Response:
        """What the two make of an answer, one after the other."""
        response = HtmlResponse(URL, status=status, body=body.encode(), request=request)
        return await self.tiers.process_response(request, await self.seen(request, response))

    async def seen(self, request: Request, response: Response) -> Response:
        """*response* behind BlocksMiddleware."""
        passed = self.blocks.process_response(request, response)
        return passed if isinstance(passed, Response) else await passed


def test_they_stand_between_decompression_and_retries() -> None:
    order = {path.rpartition(".")[2]: place for path, place in base().getdict("DOWNLOADER_MIDDLEWARES").items()}
    compression = base().getdict("DOWNLOADER_MIDDLEWARES_BASE")[
        "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware"
    ]
    assert base().getdict("DOWNLOADER_MIDDLEWARES")["crawler.middlewares.downloader.retry.RetryMiddleware"] == 550
    ours = order["TiersMiddleware"], order["BlocksMiddleware"]
    assert 550 < ours[0] < ours[1] < compression


def test_they_are_off_outside_the_fleet() -> None:
    for made in (BlocksMiddleware, TiersMiddleware):
        with pytest.raises(NotConfigured):
            made.from_crawler(get_crawler(Spider))


async def test_a_block_page_moves_up_and_backs_its_host_off() -> None:
    crawl = Crawl()
    request = crawl.leased()
    moved = await crawl.answer(request, CHALLENGE, 403)
    assert isinstance(moved, Request)
    assert moved is not request
    assert (moved.url, moved.meta["tier"], moved.meta["min_tier"]) == (URL, "browser", "browser")
    assert BLOCK not in moved.meta
    assert crawl.told == ["back off", "failed at http"]
    assert crawl.stat("blocks/cloudflare") == 1


async def test_a_page_that_may_not_move_says_why() -> None:
    crawl = Crawl(up=(None, "max_tier is http"))
    request = crawl.leased()
    response = await crawl.answer(request, SHELL)
    assert isinstance(response, Response)
    assert (request.meta[BLOCK], request.meta[TIER_STAYS]) == ("javascript", "max_tier is http")
    assert crawl.stat("tiers/refused") == 1
    assert crawl.told == ["failed at http"]  # an app shell is no reason to pause its host


async def test_no_tier_is_learned_from_a_site_that_shows_nobody_anything() -> None:
    """Its other pages went to the browser for hours."""
    crawl = Crawl()
    request = crawl.leased()
    response = await crawl.answer(request, SUSPENDED)
    assert isinstance(response, Response)
    assert (request.meta[BLOCK], request.meta[TIER_STAYS]) == ("suspended", "no visitor gets past it")
    assert crawl.told == ["back off"]


@pytest.mark.parametrize(
    ("tier", "body", "status", "told"),
    [
        ("http", GOOD, 200, ["good at http"]),
        ("http", SHELL, 200, ["failed at http"]),
        ("browser", SHELL, 200, ["failed at browser"]),  # its scripts have run, and nothing came
        ("browser", GOOD, 200, ["good at browser"]),
        ("http", SHELL, 404, ["good at http"]),
        ("browser", CHALLENGE, 200, ["back off", "failed at browser"]),
    ],
)
async def test_what_counts_as_failed(tier: str, body: str, status: int, told: list[str]) -> None:
    crawl = Crawl(up=("api", ""))
    await crawl.answer(crawl.leased(tier), body, status)
    assert crawl.told == told


@pytest.mark.parametrize(("url_rule", "told"), [("/p/", ["failed at http"]), ("/c/", ["good at http"])])
async def test_product_pages_need_what_the_rules_require(url_rule: str, told: list[str]) -> None:
    crawl = Crawl(rules=f'["a.example"]\nproduct = "{url_rule}"\nrequired = [{{ css = "#price" }}]\n')
    await crawl.answer(crawl.leased(), GOOD)
    assert crawl.told == told


async def test_a_request_without_a_lease_is_only_marked() -> None:
    crawl = Crawl()
    request = Request(URL)
    response = await crawl.answer(request, CHALLENGE)
    assert isinstance(response, Response)
    assert request.meta[BLOCK] == "cloudflare"
    assert crawl.told == ["back off"]


@pytest.mark.parametrize("body", [CHALLENGE, SHELL])
async def test_a_spider_that_allows_it_gets_what_comes(body: str) -> None:
    crawl = Crawl()
    request = crawl.leased(allow_blocked=True)
    assert isinstance(await crawl.answer(request, body), Response)
    assert BLOCK not in request.meta
    assert "failed at http" not in crawl.told


async def test_what_an_earlier_answer_was_says_nothing_of_this_one() -> None:
    crawl = Crawl()
    request = crawl.leased(block="cloudflare")
    await crawl.answer(request, GOOD)
    assert BLOCK not in request.meta


@pytest.mark.parametrize("body", [CHALLENGE, SHELL])
async def test_dont_retry_leaves_the_mark(body: str) -> None:
    crawl = Crawl()
    request = crawl.leased(dont_retry=True)
    await crawl.answer(request, body)
    assert request.meta[BLOCK] in {"cloudflare", "javascript"}


async def test_dont_retry_leaves_a_request_where_it_is() -> None:
    crawl = Crawl()
    response = await crawl.answer(crawl.leased(dont_retry=True), CHALLENGE)
    assert isinstance(response, Response)
    assert crawl.told == ["back off"]


async def test_bytes_that_are_not_decompressed_are_no_block() -> None:
    crawl = Crawl()
    request = crawl.leased()
    response = Response(URL, body=gzip.compress(CHALLENGE.encode()))
    assert await crawl.tiers.process_response(request, await crawl.seen(request, response)) is response


async def test_each_host_and_vendor_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    crawl = Crawl()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            await crawl.answer(crawl.leased(), CHALLENGE)
    assert [record.getMessage() for record in caplog.records] == [
        f"a.example blocks us: challenge (cloudflare), status 200, <GET {URL}>; said once per host and vendor"
    ]
    assert crawl.stat("blocks/cloudflare") == 3


def test_what_goes_out_is_counted_by_tier() -> None:
    crawl = Crawl()
    crawl.tiers.process_request(crawl.leased("browser"))
    crawl.tiers.process_request(Request(URL))
    assert crawl.told == ["sent in browser"]
