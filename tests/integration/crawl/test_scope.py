"""A whole crawl stays in scope, and says what it left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from crawler import stats
from crawler.extraction.links import MAX_LINKS
from tests.crawling import Fleet, count, ended, open_frontier
from tests.sites import Page, Site

SCOPE = {
    "within": "host",
    "exclude": ["/admin"],
    "query_parameters": 2,
    "traps": "all",
    "depth": 2,
    "nofollow": True,
    "noindex": True,
}


def page(*hrefs: str, title: str = "A page", **headers: str) -> Page:
    links = "".join(f'<a href="{href}">x</a>' for href in hrefs)
    return Page(
        f"<html><title>{title}</title>{links}</html>", headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


async def cuts(fleet: Fleet, spider: str) -> Mapping[str, int]:
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        return (await frontier.inspection.stats(spider)).cut.get((spider, "0"), {})


async def test_links_out_of_scope_are_not_fetched_and_are_counted_by_rule(fleet: Fleet) -> None:
    menu = ("/admin/menu", "/calendar/2060/01", "/x/x/x")
    pages = {
        "/": page(
            *menu, "/one", "/moved", "/q?a=1&b=2&c=3", "http://elsewhere.example/", "/visit?PHPSESSID=1", "/private"
        ),
        "/one": page(*menu, "/two", "/visit?PHPSESSID=2"),
        "/two": page(*menu, "/three"),
        "/moved": Page(status=302, headers={"Location": "/admin/moved"}),
        "/visit": page("/visit?PHPSESSID=3"),
        "/private": page("/behind", X_Robots_Tag="nofollow"),
    }
    with Site(pages) as site:
        await fleet.push(site.url())
        status, log = await ended(fleet.start(SCOPE=SCOPE))
    assert status == 0, log
    assert sorted(site.requested) == ["/", "/moved", "/one", "/private", "/two", "/visit"]
    expected = {
        "exclude": 2,
        "calendar": 1,
        "repeating_path": 1,
        "depth": 1,
        "query_parameters": 1,
        "within": 1,
        "nofollow": 1,
    }
    assert {rule: count(log, stats.SCOPE_CUT.format(rule)) for rule in expected} == expected
    assert await cuts(fleet, "walk") == expected
    assert count(log, stats.SCOPE_SESSIONS) == 3
    assert "Out of scope by the rule 'calendar': 1 more, such as http" in log
    shown = fleet.runner.run("status", "walk", *fleet.options())
    assert "Out of scope for walk, by rule: exclude 2, calendar 1, " in " ".join(shown.stdout.split())
    as_json = json.loads(fleet.runner.run("status", "walk", "--json", *fleet.options()).stdout)
    assert as_json["cut"] == {"walk": expected}


async def test_what_scrapy_cuts_itself_is_counted_too(fleet: Fleet) -> None:
    with Site({"/": page("/one", "http://elsewhere.example/"), "/one": page("/two")}) as site:
        await fleet.push(site.url(), spider="sited")
        status, log = await ended(fleet.start("sited", DEPTH_LIMIT=1))
    assert status == 0, log
    assert site.requested == ["/", "/one"]
    assert (count(log, "offsite/filtered"), count(log, "depth/request_ignored_count")) == (1, 1)
    assert await cuts(fleet, "sited") == {"offsite": 1, "depth": 1}


async def test_a_spider_has_a_scope_of_its_own_and_pages_say_what_may_be_stored(
    fleet: Fleet, mongo_database: Any
) -> None:
    pages = {
        "/": page("/one", "/out", title="front"),
        "/one": page("/two", title="kept out", X_Robots_Tag="otherbot: nofollow, shoal: noindex"),
        "/two": Page('<html><head><title>t</title><meta name="robots" content="noindex"></head></html>'),
    }
    with Site(pages) as site:
        await fleet.push(site.url())
        scope = json.dumps({"exclude": ["/out"], "noindex": True})
        worker = fleet.runner.fork(
            "crawl", "walk", "-a", f"crawl_scope={scope}", *fleet.options(SCOPE={"noindex": False})
        )
        status, log = await ended(worker)
    assert status == 0, log
    assert site.requested == ["/", "/one", "/two"]
    assert await mongo_database["pages"].distinct("title") == ["front"]
    assert await cuts(fleet, "walk") == {"exclude": 1, "noindex": 2}


async def test_our_spiders_say_which_links_of_a_page_they_leave_out(fleet: Fleet) -> None:
    asks = '<html><head><title>t</title><meta name="robots" content="nofollow"></head><a href="/c/x">x</a></html>'
    many = '<html><title>t</title><a href="/asks/c/1">x</a>' + "<a href='#'>x</a>" * MAX_LINKS + "<a href=/c/2>y</a>"
    with Site({"/": Page(many), "/asks/c/1": Page(asks)}) as site:
        await fleet.push(site.url(), spider="pages")
        worker = fleet.start("pages", SPIDER_MODULES="crawler.spiders")
        status, log = await ended(worker)
    assert status == 0, log
    assert site.requested == ["/", "/asks/c/1"]
    assert await cuts(fleet, "pages") == {"nofollow": 1, "many_links": 1}


async def test_a_start_url_that_is_excluded_is_not_fetched(fleet: Fleet) -> None:
    with Site({"/": page(), "/admin": page()}) as site:
        urls = f"{site.url()} {site.url('/admin')}"
        worker = fleet.runner.fork(
            "crawl", "starting", "-a", f"urls={urls}", *fleet.options(SCOPE={"exclude": "/admin"})
        )
        status, log = await ended(worker)
        pushed = fleet.runner.run("push", "walk", site.url("/admin"), *fleet.options(SCOPE={"exclude": "/admin"}))
    assert status == 0, log
    assert site.requested == ["/"]
    assert (pushed.returncode, "out of scope by the rule 'exclude'" in pushed.stderr) == (2, True)


async def test_a_page_limit_keeps_what_is_urgent_and_near(fleet: Fleet) -> None:
    pages = {"/": page("/a", "/b", "/c"), "/a": page("/a/deep"), "/b": page("/b/deep"), "/c": page()}
    with Site(pages) as site:
        await fleet.push(site.url())  # without a limit: a worker's first push starts it
        worker = fleet.start(SCOPE={"pages_per_host": 3}, CONCURRENT_REQUESTS_PER_DOMAIN=1)
        status, log = await ended(worker)
        left = await fleet.left()
    assert status == 0, log
    assert sorted(site.requested) == ["/", "/a", "/b", "/c"]
    assert left.states == {"done": 4, "dropped": 2}
    assert await cuts(fleet, "walk") == {"pages_per_host": 2}


async def test_a_run_has_a_scope_of_its_own_which_each_worker_knows_before_its_first_page(fleet: Fleet) -> None:
    with Site({"/": page("/a", "/b", "/c/d")}) as site:
        given = json.dumps({"exclude": ["/c/"], "pages_per_host": 2})
        told = ("push", "walk", site.url(), site.url("/c/e"), "--scope", given)
        pushed = fleet.runner.run(*told, *fleet.options())
        status, log = await ended(fleet.start(SCOPE={"exclude": ["/a"], "depth": 5}))
        async with open_frontier(fleet.redis_url, fleet.key) as frontier:
            [over] = await frontier.runs.find("walk")
    assert (pushed.returncode, "1 pushed to walk, 1 refused" in pushed.stdout) == (2, True), pushed
    assert "out of scope by the rule 'exclude'" in pushed.stderr
    assert status == 0, log
    assert sorted(site.requested) == ["/", "/a"]
    assert over.counts.cut_by == {"exclude": 1, "pages_per_host": 1}
    assert "out of scope: exclude 1, pages_per_host 1" in over.told()
