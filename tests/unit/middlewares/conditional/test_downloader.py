"""When conditions are put into a request, and what a MongoDB that is away does to that: nothing but cost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.settings import Settings

from crawler.components import MONGODB
from crawler.errors import ConfigError, ServiceError
from crawler.frontier.runs.runs import Runs
from crawler.middlewares.conditional.downloader import ConditionalMiddleware, page_id
from crawler.middlewares.conditional.spider import VersionMiddleware
from crawler.storage.page_versions import StoredVersion
from tests.clock import Clock
from tests.shipped import shipped
from tests.unit.frontier.fakes import Stats, held

FLEET = {"SCHEDULER": "crawler.worker.scheduler.Scheduler", "ITEM_PIPELINES": {MONGODB: 1}}
URL = "http://a.example/a"
THEN = datetime(2026, 1, 1, tzinfo=UTC)
PAGE = StoredVersion(f"shop {URL}", '"1"', "yesterday", (("pages", URL),), b"", THEN)


class PageVersions:
    """Remembers PAGE; *away* as MongoDB may be."""

    away = False
    calls = 0
    stored = True
    links = PAGE.links

    async def find(self, page: str) -> StoredVersion | None:
        self._served()
        return replace(PAGE, links=self.links) if page == PAGE.id else None

    async def seen(self, page: StoredVersion, at: Any, run: str) -> bool:
        self._served()
        return self.stored

    async def remember(self, page: StoredVersion) -> bool:
        self._served()
        return True

    def _served(self) -> None:
        self.calls += 1
        if self.away:
            raise ServiceError("MongoDB is away")


class Site:
    """The middleware, with what is around it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, generation: str = "1", stream: str = "shop") -> None:
        self.clock, self.stats, self.versions = Clock(), Stats(), PageVersions()
        crawler: Any = SimpleNamespace(settings=project(), stats=self.stats, spider=SimpleNamespace(name="shop"))
        self.middleware = ConditionalMiddleware(crawler, self.clock)
        lease = held()
        lease.lease = SimpleNamespace(generation=generation, stream=stream, leased_at_ms=0)  # type: ignore[assignment]
        monkeypatch.setattr(self.middleware, "_versions", self.versions)
        monkeypatch.setattr(self.middleware, "_held", lambda request: lease)
        worker = SimpleNamespace(frontier=SimpleNamespace(runs=Runs(SimpleNamespace())))  # type: ignore[arg-type]
        monkeypatch.setattr("crawler.middlewares.conditional.downloader.worker_of", lambda crawler: worker)

    async def ask(self, request: Request) -> dict[str, str]:
        """The conditions put into *request*."""
        await self.middleware.process_request(request)
        names = ("If-None-Match", "If-Modified-Since")
        return {name: value.decode() for name in names if (value := request.headers.get(name)) is not None}


def project(**changed: object) -> Settings:
    settings = shipped()
    settings.setdict(FLEET | {"MONGODB_URI": "mongodb://127.0.0.1:1"} | changed, priority="cmdline")
    return settings


async def test_a_page_of_a_recrawl_is_asked_with_all_it_said(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch)
    asked = {"If-None-Match": '"1"', "If-Modified-Since": "yesterday"}
    request = Request(URL + "?utm_source=x#top")
    assert await site.ask(request) == asked
    hop = request.replace(url="http://a.example/elsewhere")
    assert await site.ask(hop) == {}, "conditions are of one page: a redirect does not take them along"
    assert await site.ask(request) == asked, "asked again after a failure"


@pytest.mark.parametrize(
    "request_",
    [Request(URL, method="POST"), Request(URL, meta={"conditional_whole": True}), Request("http://a.example/b")],
)
async def test_others_are_asked_for_whole(monkeypatch: pytest.MonkeyPatch, request_: Request) -> None:
    assert await Site(monkeypatch).ask(request_) == {}


async def test_a_spiders_own_condition_is_its_own_business(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch)
    request = Request(URL, headers={"If-None-Match": '"mine"'})
    assert await site.ask(request) == {"If-None-Match": '"mine"'}
    answer = Response(URL, 304)
    assert await site.middleware.process_response(request, answer) is answer


async def test_a_first_crawl_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch, generation="0")
    assert await site.ask(Request(URL)) == {}
    assert site.versions.calls == 0


async def test_the_version_of_a_shell_says_nothing_of_what_fills_it(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch, stream="shop:browser")
    assert await site.ask(Request(URL)) == {}
    assert site.versions.calls == 0


async def test_while_mongodb_is_away_pages_are_asked_for_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch)
    site.versions.away = True
    for _ in range(3):
        assert await site.ask(Request(URL)) == {}
        await site.middleware.store(PAGE)
    assert site.versions.calls == 1, "it is left alone for a while"
    assert site.stats.counts == {"conditional/errors": 6}
    site.versions.away = False
    site.clock.now += 30
    assert await site.ask(Request(URL)) != {}


async def test_an_unchanged_page_whose_items_cannot_be_marked_is_asked_for_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = Site(monkeypatch)
    await site.ask(request := Request(URL))
    site.versions.away = True
    whole = await site.middleware.process_response(request, Response(URL, 304))
    assert isinstance(whole, Request)
    assert await site.ask(whole) == {}


async def test_an_unchanged_page_whose_links_cannot_be_read_is_asked_for_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch)
    site.versions.links = b"noise"
    await site.ask(request := Request(URL))
    whole = await site.middleware.process_response(request, Response(URL, 304))
    assert isinstance(whole, Request)
    assert await site.ask(whole) == {}
    assert site.stats.counts["conditional/refetched/links_unreadable"] == 1


@pytest.mark.parametrize("status", [400, 412])
async def test_a_condition_that_a_server_refuses_costs_no_page(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    site = Site(monkeypatch)
    await site.ask(request := Request(URL))
    whole = await site.middleware.process_response(request, Response(URL, status))
    assert isinstance(whole, Request)
    assert await site.ask(whole) == {}
    final = Response(URL, status)
    assert await site.middleware.process_response(whole, final) is final, "asked once more, not for ever"
    assert site.stats.counts == {"conditional/asked": 1, f"conditional/refetched/status_{status}": 1}


@pytest.mark.parametrize("middleware", [ConditionalMiddleware, VersionMiddleware])
@pytest.mark.parametrize(
    "changed",
    [
        {"CONDITIONAL_REQUESTS": False},
        {"HTTPCACHE_ENABLED": True},
        {"ITEM_PIPELINES": {}},
        {"SCHEDULER": "scrapy.core.scheduler.Scheduler"},
    ],
)
def test_off_where_it_has_nothing_to_do(middleware: Any, changed: dict[str, object]) -> None:
    with pytest.raises(NotConfigured):
        middleware.from_crawler(SimpleNamespace(settings=project(**changed)))


@pytest.mark.parametrize(("name", "value"), [("CONDITIONAL_REQUESTS", "perhaps")])
def test_a_value_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    crawler: Any = SimpleNamespace(settings=project(**{name: value}), stats=None)
    with pytest.raises(ConfigError, match=name):
        ConditionalMiddleware.from_crawler(crawler)


def test_a_page_is_known_by_spider_and_canonical_url() -> None:
    crawler: Any = SimpleNamespace(spider=SimpleNamespace(name="shop"))
    assert page_id(crawler, "HTTP://A.example:80/a?b=1&a=2#x") == "shop http://a.example/a?a=2&b=1"
