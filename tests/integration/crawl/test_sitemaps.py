"""`scrapy push --sitemap`: workers of any spider read sitemaps, and the run ends when all of them are read."""

from __future__ import annotations

import gzip
from collections.abc import Mapping

import pytest

from tests.crawling import Fleet, count, ended, open_frontier, options
from tests.sites import Page, Site

XML = {"Content-Type": "application/xml"}
MODULES = "tests.integration.crawl.spiders"


def urlset(*urls: str) -> str:
    return "<?xml version='1.0'?><urlset>" + "".join(f"<url><loc>{url}</loc></url>" for url in urls) + "</urlset>"


def index(**sitemaps: str) -> str:
    rows = (f"<sitemap><loc>/{name}.xml</loc><lastmod>{when}</lastmod></sitemap>" for name, when in sitemaps.items())
    return f"<sitemapindex>{''.join(rows)}</sitemapindex>"


def push(fleet: Fleet, *args: str, status: int = 0) -> str:
    given = options({"FRONTIER_KEY": fleet.key, "DOWNLOAD_DELAY": 0, "SPIDER_MODULES": MODULES})
    done = fleet.runner.run("push", "walk", *args, *given)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    return done.stdout + done.stderr


async def runs(fleet: Fleet) -> list[tuple[str, int, int]]:
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        await frontier.runs.settle()
        return [(run.state, run.counts.done, run.counts.dead) for run in await frontier.runs.find()]


def site(pages: Mapping[str, Page]) -> Site:
    return Site({f"/{name}": Page() for name in "abcdefg"} | dict(pages))


async def test_robots_index_and_packed_sitemaps_lead_to_their_pages(fleet: Fleet) -> None:
    packed = gzip.compress(urlset("/c", "/d?utm_source=x", "/skip/1").encode())
    with site({}) as shop:
        shop.pages |= {
            "/robots.txt": Page(f"User-agent: *\nDisallow: /private\nSitemap: {shop.url('/index.xml')}\n"),
            "/index.xml": Page(index(first="", second=""), headers=XML),
            "/first.xml": Page(urlset("/a", "/b", "/a", "/private/1"), headers=XML),
            "/second.xml": Page(packed, headers=XML | {"Content-Encoding": "gzip"}),
        }
        told = push(fleet, "--sitemap", "robots", shop.url("/any/page"), "--exclude", "/skip/")
        assert "1 sitemaps pushed to walk (run " in told
        status, log = await ended(fleet.start(DOWNLOAD_DELAY=0))
    assert (status, count(log, "sitemaps/pages")) == (0, 6)
    assert sorted(set(shop.requested) - {"/robots.txt"}) == [
        *("/a", "/b", "/c", "/d?utm_source=x", "/first.xml", "/index.xml", "/second.xml")
    ]
    assert await runs(fleet) == [("finished", 8, 0)] or (await runs(fleet))[0][0] == "finished"
