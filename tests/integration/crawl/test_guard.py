"""Whatever way a link to the inside comes in, no worker dials it, and each ends as a dead letter that says why."""

from __future__ import annotations

from typing import Any

from crawler import stats as names
from tests.crawling import Fleet, count, ended
from tests.sites import Page, Site

OUTSIDE, INSIDE = "127.0.0.2", "127.0.0.3"
SPELLINGS = (INSIDE, "2130706435", "0x7f.3", "0177.0.0.3", "127.3")


def moved(url: str) -> Page:
    return Page(status=302, headers={"Location": url})


def refreshing(url: str) -> Page:
    return Page(f'<html><head><meta http-equiv="refresh" content="0; url={url}"></head></html>')


def linking(urls: list[str]) -> Page:
    return Page("<html><body>" + "".join(f'<a href="{url}">in</a>' for url in urls) + "</body></html>")


def sitemap(url: str) -> Page:
    text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{url}</loc></url></urlset>'
    return Page(text, headers={"Content-Type": "application/xml"})


async def test_no_way_leads_inside(fleet: Fleet) -> None:
    with Site({"/secret": Page()}, host=INSIDE) as inside, Site({}, host=OUTSIDE) as outside:
        secret = inside.url("/secret?")
        spelled = [f"{secret}{name}".replace(INSIDE, name) for name in SPELLINGS]
        outside.pages = {
            "/robots.txt": moved(secret + "robots"),
            "/redirect": moved(secret + "redirect"),
            "/refresh": refreshing(secret + "refresh"),
            "/links": linking(spelled),
            "/sitemap.xml": sitemap(secret + "sitemap"),
        }
        ways = [outside.url(path) for path in ("/redirect", "/refresh", "/links", "/sitemap.xml")]
        await fleet.push(*ways, secret + "direct")
        settings: dict[str, Any] = {"GUARD_ALLOWED_NETWORKS": f"{OUTSIDE}/32", "ROBOTSTXT_OBEY": True}
        status, log = await ended(fleet.start(**settings))
        left = await fleet.left()

        assert status == 0, log
        assert inside.received == []
        assert sorted(outside.requested) == sorted(["/robots.txt", "/redirect", "/refresh", "/links", "/sitemap.xml"])
    refused = {letter.detail["url"] for letter in left.letters if "loopback" in str(letter.detail)}
    assert refused == {secret + way for way in ("direct", "redirect", "refresh", "sitemap")} | set(spelled)
    assert len(left.letters) == len(refused)
    assert count(log, names.ADDRESSES_REFUSED) >= len(refused)


async def test_a_handler_without_the_guard_stops_the_start(fleet: Fleet) -> None:
    unguarded = {"http": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"}
    status, log = await ended(fleet.start(DOWNLOAD_HANDLERS=unguarded))

    assert status != 0
    assert "DOWNLOAD_HANDLERS['http']" in log
    assert "guards_addresses" in log
