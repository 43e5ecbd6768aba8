"""What can be seen of a spider that cannot work in a fleet."""

from __future__ import annotations

import codecs
import importlib.util
import os
import re
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import scrapy
from scrapy import Request, Spider
from scrapy.http import FormRequest, XmlRpcRequest
from scrapy.loader import ItemLoader
from scrapy_redis.spiders import RedisSpider

from crawler.addon import completed
from crawler.spiders.pages import PagesSpider
from crawler.spiders.products import ProductsSpider
from crawler.startup.fleet_check import findings, start_findings
from tests.shipped import shipped


@dataclass
class Book:
    """An item."""

    title: str


class Options:
    """What a project hands from page to page."""

    def parse(self, response: Any) -> None: ...


class OwnRequest(Request):
    """A user's own class."""


def of_a_module(response: Any) -> None: ...


class TroubledSpider(Spider):
    """One of everything; each line that is to be found says what in a comment."""

    name = "troubled"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {"scrapy_splash.SplashDeduplicateArgsMiddleware": 100}}
    helper = Options()

    async def start(self) -> AsyncIterator[Any]:
        yield Request("http://a.example/")
        yield Request("data:,x")
        yield Request("http://a.example/", meta={"lock": object()})  # an object

    def parse(self, response: Any, **kwargs: Any) -> Iterator[Any]:
        def inner(response: Any) -> None: ...

        book = Book("a")
        loader = ItemLoader(Book)
        later = lambda r: None  # noqa: E731
        links = response.css("a")
        yield Request("http://a.example/", later)  # a lambda
        yield Request("http://a.example/", callback=of_a_module)  # the function of_a_module
        yield Request("http://a.example/", callback=self.helper.parse)  # a method of self.helper
        yield Request("http://a.example/", meta={"links": links})  # a selector
        yield Request("http://a.example/", meta={"link": response.xpath("//a")[0], "text": links.get()})  # a selector
        yield Request("http://a.example/", meta={"made": self.crawler})  # the crawler
        for link in response.css("a"):
            yield Request(link.attrib["href"], cb_kwargs={"link": link})
        yield Request("http://a.example/", callback=lambda r: None)  # type: ignore[misc]  # a lambda
        yield Request("http://a.example/", inner)  # the inner function inner
        yield response.follow("/x", callback=partial(self.parse))  # a partial
        yield scrapy.Request("http://a.example/", self.parse, errback=lambda f: None)  # a lambda
        yield Request("http://a.example/", meta={"book": book})
        yield Request("http://a.example/", cb_kwargs=dict(loader=loader))  # noqa: C408  # an ItemLoader
        yield Request("http://a.example/", meta={"seen": (n for n in (1, 2))})  # a generator
        yield response.follow("/x", meta={"response": response})  # a response
        yield response.follow("/x", meta={"http_user": "me"})  # meta['http_user'] never goes to Redis
        yield OwnRequest("http://a.example/")  # OwnRequest cannot be queued
        yield XmlRpcRequest("http://a.example/")  # XmlRpcRequest cannot be queued


class LateSpider(Spider):
    """Puts them into requests that it has made, as many projects do."""

    name = "late"

    def parse(self, response: Any) -> Iterator[Any]:
        book = Book("a")
        request = response.follow("/x", callback=self.parse)
        request.meta["book"] = book
        request.meta["a"], request.cb_kwargs["loader"] = 1, 2
        request.cb_kwargs["loader"] = ItemLoader(Book)  # cb_kwargs holds an ItemLoader
        request.meta.update(seen=(n for n in (1, 2)), page=1)  # meta holds a generator
        request.meta.update({"spider": self})  # meta holds the spider
        request.meta["options"] = Options()  # meta holds an Options
        request.meta.update(total=Decimal(1), tags=set("ab"), seen={1, 2})
        request.meta.update(page=int("1"), names=dict(a=1), when=datetime(2026, 1, 2, tzinfo=UTC))  # noqa: C408
        total = Decimal("1.50")
        total = str(total)  # type: ignore[assignment]
        request.meta["total"] = total
        extra = {"book": book, "loader": ItemLoader(Book)}
        response.meta["own"] = book
        other = Request("http://a.example/", meta=extra)  # meta holds an ItemLoader
        yield from (request, other)


class FineSpider(Spider):
    """As the documentation has it."""

    name = "fine"
    start_urls = ["http://a.example/"]

    def parse(self, response: Any) -> Iterator[Any]:
        yield Request("http://a.example/", self.parse, meta={"page": 1, "name": response.url}, cb_kwargs={"a": [1]})
        yield from response.follow_all(css="a", callback=self.parse)
        yield sorted([1], key=lambda number: number)
        for of_a_module in (self.parse, self.settings["BOT_NAME"]):  # its own, not the module's
            yield Request(response.url.replace("{word}", self.settings.attributes), of_a_module)
        for text in response.css("a::text").getall():
            yield response.follow("/x", meta={"text": text, "last": response.css("a::text").getall()[-1]})


class PoppingSpider(RedisSpider):  # type: ignore[misc]
    """Overrides a method that is not called."""

    name = "popping"

    def next_requests(self) -> list[Any]:
        return []


def lines(kind: type[Spider]) -> list[str]:
    settings = shipped(SPIDER_MODULES=[])
    return [str(one) for one in findings(completed(settings, kind))]


@pytest.fixture(autouse=True)
def splash(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that is not installed here."""
    module = SimpleNamespace(SplashDeduplicateArgsMiddleware=Book)
    monkeypatch.setitem(sys.modules, "scrapy_splash", module)


def test_each_thing_that_cannot_work_is_named_with_its_line() -> None:
    found = lines(TroubledSpider)
    source = __file__
    text = Path(source).read_text().splitlines()
    yields = {number: line for number, line in enumerate(text, 1) if line.startswith("        yield ")}
    marked = {number: line.split("  # ")[-1] for number, line in yields.items() if "  # " in line}
    assert len(marked) == 17
    for number, what in marked.items():
        assert any(one.startswith(f"{source}:{number}: ") and what in one for one in found), (number, what, found)
    assert any("SplashDeduplicateArgsMiddleware" in one for one in found)
    looped = next(number for number, line in enumerate(text, 1) if '{"link": link}' in line)
    assert any(one.startswith(f"{source}:{looped}: cb_kwargs holds a selector") for one in found)
    assert len(found) == len(marked) + 2


def test_what_is_put_into_a_request_later_is_named_with_its_line() -> None:
    """A page's links ended in dead letters, and no line at the start had said so."""
    marked = {
        number: told[1]
        for number, line in enumerate(Path(__file__).read_text().splitlines(), 1)
        if (told := re.search(r"  # (\w+ holds .*)", line))
    }
    found = lines(LateSpider)
    assert len(found) == len(marked) == 5
    for number, what in marked.items():
        assert any(one.startswith(f"{__file__}:{number}: {what}") for one in found), (number, what, found)


class LoginSpider(Spider):
    """Logs in, as the documentation has it."""

    name = "login"

    def parse(self, response: Any) -> Any:
        return FormRequest.from_response(response, formdata={"user": "me"}, callback=self.inside)  # builds on cookies

    def inside(self, response: Any) -> Any:
        return FormRequest.from_response(response)


class JarSpider(Spider):
    """Several sessions."""

    name = "jars"

    async def start(self) -> AsyncIterator[Any]:
        yield Request("http://a.example/", meta={"cookiejar": 1})


class SeveralLoginsSpider(LoginSpider, JarSpider):
    """Both."""


@pytest.mark.parametrize(
    ("kind", "jar"), [(LoginSpider, "host"), (JarSpider, "session"), (SeveralLoginsSpider, "session")]
)
def test_a_session_that_other_workers_lack_is_named(kind: type[Spider], jar: str, tmp_path: Path) -> None:
    """Two workers got a 403 for each login, and ended with status 0 and without a line about it."""

    def told(cookies: str = "none", **settings: Any) -> list[str]:
        rules = tmp_path / "domains.toml"
        rules.write_text(f'["a.example"]\ncookies = "{cookies}"')
        settings = {"SPIDER_MODULES": [], "DOMAINS_FILE": str(rules), "COOKIES_ENABLED": True} | settings
        return [str(one) for one in findings(completed(shipped(**settings), kind))]

    [line] = told()
    assert line.startswith(f"{__file__}:")
    assert f'`cookies = "{jar}"` for the domain in DOMAINS_FILE shares them' in line
    assert told("host") == ([line] if jar == "session" else [])
    assert told("session") == told(COOKIES_ENABLED=False) == []


@pytest.mark.parametrize("kind", [FineSpider, ProductsSpider, PagesSpider])
def test_nothing_is_found_where_all_is_well(kind: type[Spider]) -> None:
    assert lines(kind) == []


def test_a_spider_of_ones_own_in_a_checkout_is_read_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`scrapy genspider` puts it beside ours, which are not read."""
    file = tmp_path / "myshop.py"
    file.write_text(
        "from scrapy import Request\n"
        "from crawler.spiders.products import ProductsSpider\n\n\n"
        "class MyShop(ProductsSpider):\n"
        "    name = 'myshop'\n\n"
        "    def parse(self, response):\n"
        "        yield Request(response.url, callback=lambda response: None)\n"
    )
    spec = importlib.util.spec_from_file_location("crawler.spiders.myshop", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    [line] = lines(module.MyShop)
    assert line.startswith(f"{file}:9: callback is a lambda")


def test_what_scrapy_redis_would_call_and_nobody_calls_here() -> None:
    assert ["next_requests" in one and "make_request_from_data" in one for one in lines(PoppingSpider)] == [True]


class OldSpider(Spider):
    """As Scrapy's documentation had it until 2.12."""

    name = "old"

    def start_requests(self) -> Iterator[Request]:
        yield Request("https://shop.example/")


class BothSpider(OldSpider):
    """Works with old and new releases of Scrapy."""

    name = "both"

    async def start(self) -> AsyncIterator[Any]:
        for request in self.start_requests():
            yield request


class OldPoppingSpider(RedisSpider):  # type: ignore[misc]
    """What it makes of the start URLs that it pops."""

    name = "old popping"

    def start_requests(self) -> Iterator[Request]:
        yield from self.next_requests()


def test_a_start_that_scrapy_calls_no_more_is_named_only_where_it_pops_start_urls() -> None:
    assert lines(OldSpider) == lines(BothSpider) == []
    assert ["OldPoppingSpider.start_requests" in one for one in lines(OldPoppingSpider)] == [True]


class WritingPipeline:
    """As Scrapy's documentation has it."""

    def open_spider(self) -> None:
        self.file = open("items.jsonl", "w")  # noqa: PTH123, SIM115 # each worker's

    def process_item(self, item: Any) -> Any:
        with Path("log").open("a") as log, open(__file__) as source:  # noqa: PTH123
            log.write(source.readline())
        return item


class NamingPipeline:
    """As many projects have it; the last three may be each worker's own."""

    def open_spider(self, spider: scrapy.Spider) -> None:
        self.files = [
            codecs.open("items.json", "w", encoding="utf-8"),  # noqa: SIM115 # 'items.json'
            open(f"{spider.name}.csv", "wb"),  # noqa: PTH123, SIM115 # f'{spider.name}.csv'
            open("%s.csv" % spider.name, mode="wb"),  # noqa: PTH123, SIM115, UP031 # '%s.csv' % spider.name
            Path("items.txt").open("w"),  # noqa: SIM115 # 'items.txt'
            open(f"{os.getpid()}.csv", "w"),  # noqa: PTH123, SIM115
            Path(spider.path).open("w"),  # type: ignore[attr-defined] # noqa: SIM115
            Path("out", str(os.getpid())).open("w"),  # noqa: SIM115
        ]


def test_a_pipeline_whose_file_each_worker_writes_over_is_named_with_its_line() -> None:
    places = {WritingPipeline: 400, "no.such.Pipeline": 401}
    [found] = findings(completed(shipped(ITEM_PIPELINES=places), PagesSpider))
    lines = Path(__file__).read_text().splitlines()
    [number] = [number for number, line in enumerate(lines, 1) if line.endswith("# each worker's")]
    assert str(found).startswith(f"{__file__}:{number}: opens 'items.jsonl' to write")


def test_a_file_is_named_whichever_way_it_is_opened() -> None:
    found = findings(completed(shipped(ITEM_PIPELINES={NamingPipeline: 400}), PagesSpider))
    names = ["'items.json'", "f'{spider.name}.csv'", "'%s.csv' % spider.name", "'items.txt'"]
    assert [one.what.partition(" to write")[0] for one in found] == [f"opens {name}" for name in names]


async def test_start_requests_are_tried() -> None:
    found = [str(one) for one in await start_findings(TroubledSpider())]
    assert len(found) == 2
    assert "data:" in found[0]
    assert "lock" in found[1]
    assert await start_findings(FineSpider()) == []


async def test_start_requests_of_an_old_spider_are_tried() -> None:
    class Locked(OldSpider):
        def start_requests(self) -> Iterator[Request]:
            yield Request("http://a.example/", meta={"lock": object()})

    assert ["lock" in str(one) for one in await start_findings(Locked())] == [True]


async def test_a_start_that_raises_is_found() -> None:
    class Failing(Spider):
        name = "failing"

        async def start(self) -> AsyncIterator[Any]:
            for _ in range(1):
                raise ValueError("no list")
            yield None

    assert "raises ValueError: no list" in str((await start_findings(Failing()))[0])


def within_a_function() -> type[Spider]:
    class Within(Spider):
        name = "within"
        page = """
<html>
"""

        def parse(self, response: Any) -> Any:
            yield Request(self.page, callback=lambda _: None)  # type: ignore[misc] # within

    return Within


def test_a_class_is_read_where_its_strings_are_indented_less_than_it() -> None:
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(source, 1) if text.endswith("# within"))
    [finding] = findings(completed(shipped(), within_a_function()))
    assert finding.where == f"{__file__}:{line}"


@pytest.mark.parametrize("text", ["class Gone(", "\0", "", "  odd\n indent"])
def test_a_spider_whose_file_has_changed_since_is_not_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "changed.py"
    path.write_text("from scrapy import Spider\n\n\nclass Gone(Spider):\n    name = 'gone'\n")
    spec = importlib.util.spec_from_file_location("changed_since", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["changed_since"] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        path.write_text(text)
        assert findings(completed(shipped(), module.Gone)) == []
    finally:
        del sys.modules["changed_since"]
