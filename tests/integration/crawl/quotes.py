"""A site of quotes, as Scrapy's documentation has it, and crawls of it by the documented spiders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.crawling import Fleet, ended, options
from tests.sites import Page, Site

SETTINGS = {
    "SPIDER_MODULES": "tests.integration.crawl.documented_spiders",
    "METRICS_PORT": -1,
    "ROBOTSTXT_OBEY": False,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "FRONTIER_POLL_SECONDS": 0.1,
    "RETRY_BASE_SECONDS": 0.02,
    "COOKIES_ENABLED": True,
    "DUPEFILTER_DEBUG": True,
}
LOGIN = '<form action="/session" method="post"><input name="token" value="t1"><input name="username"></form>'


def listing(number: int, last: int = 3) -> str:
    quotes = "".join(
        f'<div class="quote"><span class="text">Quote {number}.{n}</span><span>by <small class="author">A{n}</small>'
        f'<a href="/author/{n}">about</a></span><div class="tags"><a class="tag" href="/tag/t{n}">t{n}</a></div></div>'
        for n in range(3)
    )
    following = f'<ul><li class="next"><a href="/page/{number + 1}/">Next</a></li></ul>' if number < last else ""
    return f"<html><title>Page {number}</title><body>{quotes}{following}</body></html>"


def pages() -> dict[str, Page]:
    found = {f"/page/{number}/": Page(listing(number)) for number in (1, 2, 3)}
    found |= {
        f"/author/{n}": Page(f'<title>A{n}</title><h3 class="author-title">A{n}</h3><p class="author-description">B')
        for n in range(3)
    }
    return found | {
        "/tag/t1": Page(listing(9)),
        "/tag/t2": Page(listing(8)),
        "/login": Page(LOGIN, headers={"Set-Cookie": "session=abc"}),
        "/session": Page("Welcome"),
        "/empty": Page(""),
        "/feed.xml": Page('<items><item id="1"><name>a</name></item><item id="2"><name>b</name></item></items>'),
        "/feed.csv": Page("1;'a'\n2;'b'\n", headers={"Content-Type": "text/csv"}),
    }


@contextmanager
def quotes_site() -> Iterator[Site]:
    """Its pages, robots.txt and sitemap."""
    with Site(pages()) as site:
        urls = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in ("/author/0", "/author/1", "/page/1/"))
        site.pages["/robots.txt"] = Page(
            f"Sitemap: {site.url('/sitemap.xml')}\n", headers={"Content-Type": "text/plain"}
        )
        sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
        site.pages["/sitemap.xml"] = Page(sitemap, headers={"Content-Type": "application/xml"})
        yield site


class Crawls:
    """`scrapy crawl` of the documented spiders."""

    def __init__(self, fleet: Fleet, site: Site) -> None:
        fleet.runner.env["TEST_SITE"] = site.url()
        self.fleet = fleet
        self.site = site

    def start(self, spider: str, *arguments: str, **settings: Any) -> Any:
        given = options(SETTINGS | {"FRONTIER_KEY": self.fleet.key} | settings)
        return self.fleet.runner.fork("crawl", spider, *arguments, *given)

    async def run(self, spider: str, *arguments: str, **settings: Any) -> str:
        status, log = await ended(self.start(spider, *arguments, **settings))
        assert status == 0, log
        is_scrapys = settings.get("FRONTIER_ENABLED") is False  # its cookies ask the network for public suffixes
        assert "Traceback" not in log or (is_scrapys and "publicsuffix.org" in log)
        return log

    def asked(self) -> list[str]:
        """What the site was asked for since the last look."""
        found = sorted(f"{one.method} {one.path} {one.body}" for one in self.site.received)
        self.site.received.clear()
        return found


def feed(path: Path) -> list[str]:
    """The items, in any order."""
    return sorted(json.dumps(item, sort_keys=True) for item in json.loads(path.read_text()))
