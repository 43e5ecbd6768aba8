"""`scrapy push --sitemap`: workers of any spider read sitemaps, and the run ends when all of them are read."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import Fleet, count, ended, open_frontier, options
from tests.sites import Page, Site

XML = {"Content-Type": "application/xml"}
MODULES = "tests.integration.crawl.spiders"


def urlset(*urls: str) -> str:
    return "<?xml version='1.0'?><urlset>" + "".join(f"<url><loc>{url}</loc></url>" for url in urls) + "</urlset>"


def index(**sitemaps: str) -> str:
    rows = (f"<sitemap><loc>/{name}.xml</loc><lastmod>{when}</lastmod></sitemap>" for name, when in sitemaps.items())
    return f"<sitemapindex>{''.join(rows)}</sitemapindex>"


def push(fleet: Fleet, *args: str, spider: str = "walk", status: int = 0) -> str:
    given = options({"FRONTIER_KEY": fleet.key, "DOWNLOAD_DELAY": 0, "SPIDER_MODULES": MODULES})
    done = fleet.runner.run("push", spider, *args, *given)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    return done.stdout + done.stderr


async def runs(fleet: Fleet) -> list[tuple[str, int, int]]:
    """State, done and dead of each, the oldest first."""
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        await frontier.runs.settle()
        found = [(str(run.state), run.counts.done, run.counts.dead) for run in await frontier.runs.find()]
    return found[::-1]


def shop(**pages: Page) -> Site:
    return Site({f"/{name}": Page() for name in "abcdefg"} | {f"/{name}.xml": page for name, page in pages.items()})


def once(site: Site) -> list[str]:
    """What was asked for, once each; the list is begun anew."""
    found = sorted(set(site.requested))
    site.received.clear()
    return found


async def test_robots_index_and_packed_sitemaps_lead_to_their_pages(fleet: Fleet) -> None:
    packed = gzip.compress(urlset("/c", "/d?utm_source=x", "/skip/1").encode())
    with shop(
        index=Page(index(first="", second=""), headers=XML),
        first=Page(urlset("/a", "/b", "/a", "/private/1"), headers=XML),
        second=Page(packed, headers=XML | {"Content-Encoding": "gzip"}),
    ) as site:
        rules = f"User-agent: *\nDisallow: /private\nDisallow: /robots.txt\nSitemap: {site.url('/index.xml')}\n"
        site.pages |= {"/robots.txt": Page(rules), "/d?utm_source=x": Page()}
        told = push(fleet, "--sitemap", "robots", site.url("/any/page"), "--exclude", "/skip/")
        assert told.startswith("1 sitemap pushed to walk (run ")
        assert told.endswith("which ends after the last of its sitemaps is read)\n")
        status, log = await ended(fleet.start(DOWNLOAD_DELAY=0, ROBOTSTXT_OBEY=True))
    assert (status, count(log, "sitemaps/named/pages"), count(log, "sitemaps/read")) == (0, 6, 4)
    found = ["/a", "/b", "/c", "/d?utm_source=x", "/first.xml", "/index.xml", "/robots.txt"]
    assert once(site) == [*found, "/second.xml"]
    assert await runs(fleet) == [("finished", 9, 0)]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (Page("no", status=404), ""),
        (
            Page(gzip.compress(urlset(*(f"/{name}" for name in "abc")).encode())[:-9], headers=XML),
            "became a dead letter: spider_error (SitemapError: sitemap ",
        ),
    ],
)
async def test_one_that_fails_leaves_the_run_open_and_is_one_line(
    fleet: Fleet, tmp_path: Path, bad: Page, reason: str
) -> None:
    with shop(index=Page(index(good="", bad="")), good=Page(urlset("/d", "/e")), bad=bad) as site:
        push(fleet, "--sitemap", site.url("/index.xml"))
        _, log = await ended(fleet.start(DOWNLOAD_DELAY=0, ARCHIVE_PAGES="failed", ARCHIVE_DIR=str(tmp_path)))
        assert {"/d", "/e"} <= set(once(site))
        assert all(letter.detail["page"] for letter in (await fleet.left()).letters), "kept, to be looked at"
        assert "Traceback" not in log
        told = [line for line in log.splitlines() if " ERROR: " in line]
        assert (len(told), all(reason in line for line in told)) == (bool(reason), True)
        ((state, _, _),) = await runs(fleet)
        assert state == "open"
        assert "0 sitemaps pushed" in push(fleet, "--sitemap", site.url("/index.xml"))


async def test_one_that_cannot_be_fetched_at_all_holds_up_no_run(fleet: Fleet) -> None:
    wrong = "<sitemap><loc>ftp://shop.example/wrong.xml</loc></sitemap></sitemapindex>"
    with shop(index=Page(index(good="").replace("</sitemapindex>", wrong)), good=Page(urlset("/a"))) as site:
        push(fleet, "--sitemap", site.url("/index.xml"))
        _, log = await ended(fleet.start(DOWNLOAD_DELAY=0))
        assert once(site) == ["/a", "/good.xml", "/index.xml"]
    assert count(log, "sitemaps/named/invalid") == 1
    assert "unknown scheme 'ftp': expected http or https: 'ftp://shop.example/wrong.xml'" in log
    assert await runs(fleet) == [("finished", 3, 0)]


async def test_sitemaps_that_have_not_changed_are_read_by_a_recrawl_alone(fleet: Fleet) -> None:
    with shop(
        index=Page(index(first="2026-11-01", second="2026-11-01", third="")),
        first=Page(urlset("/a")),
        second=Page(urlset("/b")),
        third=Page(urlset("/c")),
    ) as site:
        seen = []
        for more in ([], [], ["--recrawl"]):
            push(fleet, "--sitemap", site.url("/index.xml"), *more)
            await ended(fleet.start(DOWNLOAD_DELAY=0))
            seen.append(once(site))
            site.pages["/index.xml"] = Page(index(first="2026-11-01", second="2026-11-02", third=""))
    every = ["/a", "/b", "/c", "/first.xml", "/index.xml", "/second.xml", "/third.xml"]
    assert seen == [every, ["/index.xml", "/second.xml", "/third.xml"], every]
    assert [state for state, _, _ in await runs(fleet)] == ["finished"] * 3


async def test_it_may_be_longer_than_a_page_and_tells_what_has_changed(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]]
) -> None:
    seen, told = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 2, tzinfo=UTC)
    changed = "</loc><lastmod>2026-11-02</lastmod></url><url><loc> "
    with shop(long=Page(urlset("/a" + changed, " " * 12_000_000), headers=XML)) as site:
        record = {"_id": {"c": "pages", "id": site.url("/a")}, "spider": "walk", "visited_at": seen, "due_at": seen}
        await mongo_database.pages.insert_one({"_id": "https://elsewhere.example/"})
        await mongo_database.recrawl.insert_one(record)
        push(fleet, "--sitemap", site.url("/long.xml"))
        await ended(fleet.start(DOWNLOAD_DELAY=0, DOWNLOAD_MAXSIZE=1_000_000, ARCHIVE_PAGES="all"))
        assert once(site) == ["/a", "/long.xml"]
    assert await runs(fleet) == [("finished", 2, 0)]
    assert await mongo_database.recrawl.find_one() == record | {"told_at": told}


async def test_circles_and_ever_deeper_indexes_end(fleet: Fleet) -> None:
    with shop(
        circle=Page(index(circle="", other="")), other=Page(index(circle="", good="")), good=Page(urlset("/a"))
    ) as site:
        for level in range(9):
            site.pages[f"/deep{level}.xml"] = Page(index(**{f"deep{level + 1}": ""}))
        push(fleet, "--sitemap", site.url("/circle.xml"))
        push(fleet, "--sitemap", site.url("/deep0.xml"))
        await ended(fleet.start(DOWNLOAD_DELAY=0))
        asked = once(site)
    assert [path for path in asked if "deep" not in path] == ["/a", "/circle.xml", "/good.xml", "/other.xml"]
    assert len([path for path in asked if "deep" in path]) == 5
    assert [state for state, _, _ in await runs(fleet)] == ["finished", "open"]


async def test_retries_and_redirects_to_other_hosts_and_a_spider_of_scrapys_own(fleet: Fleet) -> None:
    """The spider replaces SPIDER_MIDDLEWARES; one sitemap comes at the second try, one from another host."""
    with Site({"/moved.xml": Page(urlset("/far"))}, host="127.0.0.2") as other, shop() as site:
        tries = iter([Page(status=503), Page(urlset("/a"))])
        moved = Page(status=301, headers={"Location": other.url("/moved.xml")})
        other.pages["/far"] = Page()
        site.pages |= {"/slow.xml": lambda: next(tries), "/left.xml": moved}
        push(fleet, "--sitemap", site.url("/slow.xml"), "--sitemap", site.url("/left.xml"), spider="stock")
        settings = {"SPIDER_MODULES": MODULES, "DOWNLOAD_DELAY": 0, "RETRY_BASE_SECONDS": 0.1, "RETRY_TIMES": 2}
        status, log = await ended(fleet.start("stock", **settings))
        assert (status, count(log, "sitemaps/read")) == (0, 2)
        assert once(site) == ["/a", "/left.xml", "/slow.xml"]
        assert once(other) == ["/far", "/moved.xml"]
    assert {state for state, _, _ in await runs(fleet)} == {"finished"}, "the start of the spider is a run, too"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sitemap", "ftp://a.example/s.xml"], "--sitemap: unknown scheme 'ftp': expected http or https"),
        (["--sitemap", "http://a.example/s.xml", "--dry-run"], "--dry-run and --column are for files"),
        (["http://a.example/", "--include", "x"], "--include and --exclude choose pages of a --sitemap"),
    ],
)
async def test_a_mistake_is_one_line(fleet: Fleet, arguments: list[str], words: str) -> None:
    told = push(fleet, *arguments, status=2)
    assert words in told
    assert len(told.splitlines()) <= 2
    assert await runs(fleet) == []
