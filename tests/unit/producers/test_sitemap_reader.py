"""What a worker makes of a sitemap: all of it is queued before its end is told, in little memory."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.messages import PushOutcome
from crawler.frontier.pushing import Row
from crawler.frontier.run_record import RunError
from crawler.frontier.runs.sitemaps import SitemapVerdict
from crawler.frontier.server.outage import RedisOutage
from crawler.policy.rules.patterns import Pattern
from crawler.producers import sitemap_reader
from crawler.producers.sitemap_reader import SitemapError, SitemapReader
from crawler.routing.encoder import Encoder
from crawler.routing.fingerprint import RequestFingerprinter
from crawler.routing.sitemap_requests import SitemapTerms, sitemap_message
from crawler.routing.tier_routing import TierRouting
from crawler.spiders.products import ProductsSpider
from tests.shipped import shipped

URL = "https://shop.example/sitemap.xml"
RUN = "20261122000001"


class Away:
    """A frontier that answers from a list of what goes wrong, then accepts; notes what happened in order."""

    def __init__(self, *wrong: PushOutcome | FrontierUnavailableError, away: int = 0) -> None:
        self.wrong = list(wrong)
        self.away = away  # for how many calls that are no pushes
        self.added: list[str] = []
        self.happened: list[str] = []
        self.rows: list[Row] = []
        self.left = 0
        self.is_forgotten = False
        self.keep = True
        self.known_as = self.lastmod = ""
        self.sitemaps = self.runs = self

    async def push_rows(self, rows: Sequence[Row], *, forced: bool) -> list[PushOutcome]:
        assert forced, "children of leased work"
        wrong = self.wrong.pop(0) if self.wrong else PushOutcome.ACCEPTED
        if isinstance(wrong, FrontierUnavailableError):
            raise wrong
        if wrong is PushOutcome.ACCEPTED:
            self.rows += rows if self.keep else ()
            self.happened.append("pushed")
        return [wrong] * len(rows)

    def _be_away(self) -> None:
        self.away -= 1
        if self.away >= 0:
            raise FrontierUnavailableError("away")

    async def add(self, *args: Any, changed_only: bool) -> list[SitemapVerdict]:
        self._be_away()
        self.added += [url for url, _ in args[2]]
        return [SitemapVerdict.READ if changed_only else SitemapVerdict.UNCHANGED for _ in args[2]]

    async def end(self, *args: Any) -> int:
        self._be_away()
        self.happened.append("ended")
        _, _, self.known_as, self.lastmod = args
        return self.left

    async def seal(self, run_id: str) -> None:
        self._be_away()
        if self.is_forgotten:
            raise RunError(f"there is no run {run_id}")
        self.happened.append(f"sealed {run_id}")


def encoder(**settings: object) -> Encoder:
    return Encoder(ProductsSpider, shipped(**settings), RequestFingerprinter(), TierRouting())


class Known:
    """Storage that knows every page, or is away."""

    def __init__(self, *, is_away: bool = False, is_wanted: bool = True) -> None:
        self.told: dict[str, datetime] = {}
        self.is_away = is_away
        self.is_wanted = is_wanted

    async def wanted(self) -> bool:
        return self.is_wanted

    async def note(self, told: Mapping[str, datetime]) -> int | None:
        self.told |= told
        return None if self.is_away else len(told)


async def read(
    body: bytes, frontier: Away, terms: SitemapTerms | None = None, known: Known | None = None, **settings: object
) -> dict[str, int]:
    cut: list[tuple[str, str, str]] = []
    made = encoder(**settings)
    outage = RedisOutage(StatsCollector(Crawler(Spider)), lambda: None, lambda low, high: -0.05)
    reader = SitemapReader(frontier, made, lambda *told: cut.append(told), outage, known)  # type: ignore[arg-type]
    terms = terms or SitemapTerms(url=URL)
    counts = await reader.read(Response(URL, body=body), terms, RUN, 0)
    assert len(cut) == counts["cut"]
    return dict(+counts)


def urlset(count: int, more: str = "") -> bytes:
    rows = (
        f"<url>\n <loc>https://shop.example/category/kitchen-knives/chef-knife-{number:08d}.html</loc>\n"
        "  <lastmod>2026-11-22</lastmod>\n  <changefreq>daily</changefreq>\n</url>\n"
        for number in range(count)
    )
    return f"<urlset>{''.join(rows)}{more}</urlset>".encode()


def index(count: int, more: str = "") -> bytes:
    rows = (f"<sitemap><loc>/{number}.xml</loc></sitemap>" for number in range(count))
    return f"<sitemapindex>{''.join(rows)}{more}</sitemapindex>".encode()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap_reader, "ROOM_SECONDS", 0.0)


async def test_the_last_one_seals_its_run_after_all_is_queued() -> None:
    frontier = Away()
    assert await read(urlset(1_000), frontier) == {"pages": 1_000}
    assert frontier.happened == ["pushed"] * 3 + ["ended", "sealed 20261122-1"]
    frontier = Away()
    frontier.left = 1
    await read(urlset(1), frontier)
    assert frontier.happened == ["pushed", "ended"]


async def test_one_that_was_redirected_is_read_under_the_name_that_its_run_knows() -> None:
    frontier, pushed = Away(), "https://shop.example/old.xml"
    await read(urlset(1), frontier, SitemapTerms(url=pushed))
    assert frontier.known_as == pushed


async def test_of_many_invalid_addresses_the_log_has_the_first(caplog: pytest.LogCaptureFixture) -> None:
    wrong = "".join(f"<url><loc>https://[half/{number}</loc></url>" for number in range(9))
    assert await read(urlset(1, wrong), Away()) == {"pages": 1, "invalid": 9}
    assert len(caplog.messages) == 3


async def test_a_run_that_is_forgotten_has_no_end_to_tell() -> None:
    frontier = Away()
    frontier.is_forgotten = True
    assert await read(urlset(1), frontier) == {"pages": 1}
    assert frontier.happened == ["pushed", "ended"]


async def test_a_redis_that_is_full_or_away_is_waited_for() -> None:
    frontier = Away(PushOutcome.REFUSED_MEMORY, FrontierUnavailableError("away"), PushOutcome.REFUSED_MEMORY)
    assert await read(urlset(3), frontier) == {"pages": 3}
    assert len(frontier.rows) == 3
    frontier = Away(*[PushOutcome.REFUSED_MEMORY] * sitemap_reader.ROOM_TRIES)
    with pytest.raises(SitemapError, match="no room in Redis"):
        await read(urlset(3), frontier)
    assert frontier.happened == []


async def test_all_that_is_told_waits_for_redis() -> None:
    frontier = Away(away=2)
    assert await read(index(1), frontier) == {"sitemaps": 1}
    assert frontier.happened == ["pushed", "ended", "sealed 20261122-1"]
    frontier = Away(FrontierUnavailableError("away"), away=1)
    assert await read(urlset(1), frontier) == {"pages": 1}
    assert frontier.happened == ["pushed", "ended", "sealed 20261122-1"]


async def test_a_sitemap_that_cannot_be_fetched_is_not_waited_for() -> None:
    frontier = Away()
    more = "<sitemap><loc>ftp://shop.example/b.xml</loc></sitemap><sitemap><loc>http://[</loc></sitemap>"
    assert await read(index(1, more), frontier) == {"sitemaps": 1, "invalid": 2}
    assert frontier.added == ["https://shop.example/0.xml"]
    assert len(frontier.rows) == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (gzip.compress(urlset(1_000))[:-20], r"is damaged \(it ends in the middle\); 9[0-9]{2} pages of it are queued"),
        (b"<!doctype html><html>", "is a web page"),
        (b"", "is not a sitemap: it names no address"),
        (b"nothing here\nor here", "is not a sitemap"),
        (urlset(2_001), "names more than 2,000 pages"),
        (urlset(10, " " * 2_000_000), r"is too long \(more than 1,500,000 bytes\); 10 pages"),
        (gzip.compress(b"<urlset>" + b"\0" * 50_000_000), "is too long"),
        (index(30_000), "names more than 2,000 sitemaps"),
    ],
)
async def test_what_fails_is_never_told_as_read(body: bytes, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap_reader, "MAX_BYTES", 1_500_000)
    monkeypatch.setattr(sitemap_reader, "MOST_PAGES", 2_000)
    monkeypatch.setattr(sitemap_reader, "MOST", 2_000)
    frontier = Away()
    with pytest.raises(SitemapError, match=words):
        await read(body, frontier)
    assert not {"ended", "sealed 20261122-1"} & set(frontier.happened)
    assert len(frontier.rows) < 10_000, "what follows is not even noted"


async def test_patterns_and_scope_choose_pages() -> None:
    body = b"<urlset><url><loc>/p/1</loc></url><url><loc>/p/2?sid=1</loc></url><url><loc>http://[</loc></url></urlset>"
    terms = SitemapTerms(include=(Pattern("/p/|\\["),), exclude=(Pattern("2$"),), url=URL)
    assert await read(body, Away(), terms) == {"pages": 2, "invalid": 1}
    assert await read(body, Away(), SitemapTerms(include=(Pattern("/p/1"),), url=URL)) == {"pages": 1, "filtered": 2}
    cut = await read(body, Away(), SCOPE={"exclude": ["/p/2"]})
    assert cut == {"pages": 1, "cut": 1, "invalid": 1}


async def test_a_cancelled_run_leaves_its_sitemaps_to_the_next_one() -> None:
    frontier = Away(PushOutcome.CANCELLED)
    await read(urlset(sitemap_reader.BATCH + 1), frontier, SitemapTerms(url=URL, lastmod="2026-11-22"))
    assert "ended" not in frontier.happened


@pytest.mark.parametrize(("exclude", "lastmod"), [("/none/", "2026-11-22"), ("00000001", "")])
async def test_one_of_which_pages_were_left_out_counts_as_changed(exclude: str, lastmod: str) -> None:
    frontier = Away()
    terms = SitemapTerms(exclude=(Pattern(exclude),), url=URL, lastmod="2026-11-22")
    await read(urlset(3), frontier, terms)
    assert (frontier.happened[-2], frontier.lastmod) == ("ended", lastmod)


async def test_further_sitemaps_are_queued_unless_they_have_not_changed() -> None:
    body = b"<sitemapindex><sitemap><loc>/a.xml</loc></sitemap><sitemap><loc>/b.xml</loc></sitemap></sitemapindex>"
    frontier = Away()
    assert await read(body, frontier) == {"sitemaps": 2}
    made = encoder()
    for row, name in zip(frontier.rows, "ab", strict=True):
        terms = SitemapTerms(depth=1)
        url = f"https://shop.example/{name}.xml"
        assert sitemap_message(made, url, terms, RUN, 0).body in row[1]
    assert await read(body, Away(), SitemapTerms(changed_only=False, url=URL)) == {"sitemaps_unchanged": 2}
    with pytest.raises(SitemapError, match="levels deep"):
        await read(body, Away(), SitemapTerms(depth=4, url=URL))


DATED = b"""<urlset>
<url><loc>/p?b=1&amp;a=2&amp;utm_source=x</loc><lastmod>2026-11-20</lastmod></url>
<url><loc>http://shop.example:8080/q</loc><lastmod>2026-11-21T12:00:00Z</lastmod></url>
<url><loc>https://other.example/</loc><lastmod>2026-11-20</lastmod></url>
<url><loc>http://[</loc><lastmod>2026-11-20</lastmod></url>
<url><loc>/r</loc><lastmod>last week</lastmod></url><url><loc>/s</loc></url></urlset>"""


async def test_pages_of_its_own_site_that_are_said_to_have_changed_are_told() -> None:
    known = Known()
    assert await read(DATED, Away(), known=known) == {"pages": 5, "invalid": 1, "lastmods": 2}
    assert known.told == {
        "https://shop.example/p?a=2&b=1": datetime(2026, 11, 20, tzinfo=UTC),
        "http://shop.example:8080/q": datetime(2026, 11, 21, 12, tzinfo=UTC),
    }


async def test_nobody_waits_for_who_would_be_told() -> None:
    frontier = Away()
    assert await read(DATED, frontier, known=Known(is_away=True)) == {"pages": 5, "invalid": 1, "lastmods_lost": 2}
    assert frontier.happened[-1] == "sealed 20261122-1"
    nobody = Known(is_wanted=False)
    assert await read(DATED, Away(), known=nobody) == {"pages": 5, "invalid": 1}
    assert nobody.told == {}


async def test_a_long_one_takes_little_memory_and_lets_others_work() -> None:
    body = gzip.compress(urlset(10_000))
    frontier, turns = Away(), 0
    frontier.keep = False

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    beside = asyncio.create_task(others())
    tracemalloc.start()
    try:
        assert await read(body, frontier) == {"pages": 10_000}
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        beside.cancel()
    assert peak < 5e6
    assert turns > 10_000 / sitemap_reader.BATCH
