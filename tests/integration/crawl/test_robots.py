"""robots.txt by whole workers: fetched once for all of them, obeyed, and waited for where it cannot be reached."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count as count_from
from typing import Any

import pytest

from tests.crawling import SHORT_LEASE, Fleet, count, ended
from tests.sites import LATE, Page, Site
from tests.zygote import Forked

OBEY: dict[str, Any] = {"ROBOTSTXT_OBEY": True, "ROBOTSTXT_RETRY_SECONDS": 0.5, "ROBOTSTXT_TIMEOUT_SECONDS": 1}
PRIVATE = "User-agent: *\nDisallow: /private\n"


Pages = dict[str, Page | Callable[[], Page]]


def pages(number: int = 1) -> Pages:
    found: Pages = {f"/{each}": Page() for each in range(number)}
    return found | {"/private": Page()}


async def crawled(fleet: Fleet, workers: int = 1, **settings: Any) -> list[str]:
    """The logs of as many workers, which ended well."""
    return await finished([fleet.start(**OBEY | settings) for _ in range(workers)])


async def finished(started: list[Forked]) -> list[str]:
    """The logs of workers, which ended well."""
    results = [await ended(worker) for worker in started]
    assert [status for status, _ in results] == [0] * len(started), results
    return [log for _, log in results]


async def test_a_fleet_asks_once_and_obeys(fleet: Fleet) -> None:
    hold = threading.Event()
    with Site(pages(40) | {"/robots.txt": Page(PRIVATE, hold=hold)}) as site:
        await fleet.push(*map(site.url, pages(40)))
        patient = OBEY | {"ROBOTSTXT_TIMEOUT_SECONDS": 30, "DOWNLOAD_DELAY": 0.02}
        workers = [fleet.start(**patient) for _ in range(3)]
        await fleet.workers(3)
        await site.asked(1)
        await asyncio.sleep(0.5)  # long enough for every worker to need it
        hold.set()
        logs = await finished(workers)
        left = await fleet.left()
        assert site.requested[0] == "/robots.txt"
        assert sorted(site.requested[1:]) == sorted(f"/{number}" for number in range(40))
    assert left.states == {"done": left.counters.accepted}
    assert sum(count(log, "robotstxt/request_count") for log in logs) == 1
    assert sum(count(log, "robotstxt/forbidden") for log in logs) >= 1
    assert sum(count(log, "robots/shared") > 0 for log in logs) >= 1
    assert (left.in_flight, left.leases) == (0, 0)


async def test_a_first_page_follows_its_file_at_once_where_there_is_no_delay(fleet: Fleet) -> None:
    """To go back to the queue and to come again is a quarter of what a robots.txt costs."""
    with ExitStack() as stack:
        files = {"/robots.txt": Page(PRIVATE)}
        sites = [stack.enter_context(Site(pages(2) | files, f"127.0.4.{number}")) for number in range(1, 9)]
        await fleet.push(*(site.url(path) for site in sites for path in pages(2)))
        [log] = await crawled(fleet, DOWNLOAD_DELAY=0, AUTOTHROTTLE_ENABLED=False, CONCURRENT_REQUESTS_PER_DOMAIN=1)
        assert all(site.requested[0] == "/robots.txt" for site in sites)
    assert (count(log, "robotstxt/request_count"), count(log, "frontier/given_back")) == (8, 0)


async def test_a_killed_fetcher_costs_a_moment(fleet: Fleet) -> None:
    hold = threading.Event()
    with Site(pages() | {"/robots.txt": Page(PRIVATE, hold=hold)}) as site:
        await fleet.push(site.url("/0"), site.url("/private"))
        patient = SHORT_LEASE | {"ROBOTSTXT_TIMEOUT_SECONDS": 20}
        killed = fleet.start(**OBEY | patient)
        await site.asked(1)
        other = fleet.start(**OBEY | patient)
        await fleet.workers(2)
        killed.kill()
        died = time.monotonic()
        await site.asked(2)
        took = time.monotonic() - died
        hold.set()
        status, log = await ended(other)
        left = await fleet.left()
    assert status == 0, log
    assert took < 25, "LOCK_MS, and the time for which a page waits outside"
    assert site.requested == ["/robots.txt", "/robots.txt", "/0"]
    assert left.states == {"done": 2}


def wait_until(condition: Callable[[], bool], seconds: float = 18) -> None:
    """Delay a response until *condition* holds, up to a limit."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


ALLOWED = {
    "404": Page("no", 404),
    "401": Page("no", 401),
    "403": Page("no", 403),
    "410": Page("no", 410),
    "empty": Page(""),
    "a page": Page("<html><body>Disallow: everything you like</body></html>"),
    "binary": Page(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 999),
    "a redirect loop": Page("", 302, {"Location": "/robots.txt"}),
    "a redirect to what is not there": Page("", 301, {"Location": "/nowhere"}),
}
FORBIDDEN = {
    "rules": Page(PRIVATE),
    "UTF-8 with a mark": Page(b"\xef\xbb\xbf" + PRIVATE.encode()),
    "UTF-16": Page(PRIVATE.encode("utf-16")),
    "other line ends": Page(PRIVATE.replace("\n", "\r\n")),
    "not UTF-8": Page(b"# caf\xe9\n" + PRIVATE.encode()),
    "gzip": Page(gzip.compress(PRIVATE.encode()), headers={"Content-Encoding": "gzip"}),
    "10 MB": Page(PRIVATE + "# and so on\n" * 900_000),
    "a redirect": Page("", 301, {"Location": "/elsewhere"}),
}


async def test_every_kind_of_file(fleet: Fleet) -> None:
    elsewhere = {"/elsewhere": Page(PRIVATE)}
    kinds = ALLOWED | FORBIDDEN
    with ExitStack() as stack:
        sites = {
            name: stack.enter_context(Site(pages() | elsewhere | {"/robots.txt": page}, f"127.0.3.{number}"))
            for number, (name, page) in enumerate(kinds.items(), 1)
        }
        urls = [site.url(path) for site in sites.values() for path in ("/0", "/private")]
        await fleet.push(*urls)
        patient = {"ROBOTSTXT_TIMEOUT_SECONDS": 20}  # each file is asked for once, however busy the machine
        [log] = await crawled(fleet, DOWNLOAD_MAXSIZE=2_000_000, CONCURRENT_REQUESTS=32, **patient)
        left = await fleet.left()
    assert all("/0" in site.requested for site in sites.values())
    assert {name for name, site in sites.items() if "/private" in site.requested} == set(ALLOWED)
    assert sites["a redirect loop"].requested.count("/robots.txt") == 6
    assert all(site.requested.count("/robots.txt") == 1 for name, site in sites.items() if "loop" not in name)
    assert left.states == {"done": len(urls)}
    assert count(log, "robotstxt/forbidden") == len(FORBIDDEN)
    assert count(log, "robotstxt/response_status_count/404") == 2


async def test_a_file_may_be_on_a_host_that_the_spider_may_not_crawl(fleet: Fleet) -> None:
    """Refused as a page would be, the redirect counted as no file."""
    with Site({"/robots.txt": Page(PRIVATE)}, "127.0.0.2") as other:
        moved = Page("", 301, {"Location": other.url("/robots.txt")})
        with Site(pages() | {"/robots.txt": moved}) as site:
            await fleet.push(site.url("/0"), site.url("/private"), spider="sited")
            [log] = await finished([fleet.start("sited", **OBEY)])
    assert (site.requested, other.requested) == (["/robots.txt", "/0"], ["/robots.txt"]), log


@pytest.mark.parametrize("failure", ["500", "429", "304", "timeout", "closed", "bomb"])
async def test_a_file_that_cannot_be_reached_makes_its_pages_wait_and_nobody_else(fleet: Fleet, failure: str) -> None:
    hold = threading.Event()
    bad = {
        "500": Page("", 500),
        "429": Page("", 429),
        "304": Page("", 304),
        "timeout": Page(hold=hold),
        "closed": Page("", headers={"Content-Length": "99", "Connection": "close"}),
        "bomb": Page(gzip.compress(PRIVATE.encode() + bytes(40_000_000)), headers={"Content-Encoding": "gzip"}),
    }[failure]
    well = Site(pages(20), "127.0.0.2")

    asked = count_from(1)

    def robots() -> Page:
        number = next(asked)
        if number == 2:
            wait_until(lambda: len(well.received) == 1 + len(well.pages))
        return bad if number <= 2 else Page(PRIVATE)

    with Site(pages(3) | {"/robots.txt": robots}) as sick, well:
        await fleet.push(*map(sick.url, ("/0", "/1", "/2", "/private")), *map(well.url, well.pages))
        timeout = 2 if failure == "timeout" else 20
        [log] = await crawled(fleet, ROBOTSTXT_TIMEOUT_SECONDS=timeout)
        left = await fleet.left()
        hold.set()
        assert sick.requested[:3] == ["/robots.txt"] * 3
        assert sorted(sick.requested[3:]) == ["/0", "/1", "/2"]
        back = sick.received[2].at
        assert all(request.at < back for request in well.received), "the healthy host did not wait"
    assert left.states == {"done": 4 + 21}
    assert count(log, "robots/unreachable") == 2
    assert count(log, "robots/postponed") >= 4
    assert log.count("its pages wait") == 1, "said once"
    assert "is reachable again after" in log
    assert "frontier/dead" not in log, "a page that waited was not charged"


async def test_pages_of_a_file_that_stays_away_are_dead_letters_and_a_retry_begins_a_new_term(fleet: Fleet) -> None:
    file = Page("", 500)
    short: dict[str, Any] = {
        "ROBOTSTXT_UNREACHABLE_SECONDS": 8,
        "FRONTIER_BREAKER_FAULTS": 0,
    }
    with Site(pages(2) | {"/robots.txt": lambda: file}) as site:
        await fleet.push(site.url("/0"), site.url("/1"))
        [log] = await crawled(fleet, **short)
        assert re.search(r"Idle, waiting for 127.0.0.1 \((1 page|2 pages), next try in ", log)  # or one is on its way
        assert "/robots.txt has been unreachable for " in log
        left = await fleet.left()
        assert (left.states, set(site.requested)) == ({"dead": 2}, {"/robots.txt"})
        assert left.reasons == ["robots_unreachable"] * 2
        assert site.url("/robots.txt") in left.letters[0].detail["error"]
        file = Page(PRIVATE)
        done = fleet.runner.run("dead", "retry", "walk", "-s", f"FRONTIER_KEY={fleet.key}")
        assert "2 queued again" in done.stdout
        await crawled(fleet, **short)
        assert (await fleet.left()).states == {"done": 2}


@pytest.mark.parametrize("wish", ["Crawl-delay: 0.4", "Request-rate: 5/2s"])
async def test_what_it_asks_for_is_kept_on_the_wire_by_all(fleet: Fleet, wish: str) -> None:
    file = Page(f"User-agent: *\n{wish}\nSitemap: http://a.example/sitemap.xml\n")
    with Site(pages(5) | {"/robots.txt": file}) as site:
        await fleet.push(*map(site.url, pages(5)), cap=4)
        await crawled(fleet, workers=2)
        assert len(site.received) == 7
        assert min(site.gaps) >= 0.4 - LATE, site.gaps
        shown = fleet.runner.run("status", "--json", "-s", f"FRONTIER_KEY={fleet.key}")
        assert json.loads(shown.stdout)["hosts"] == []
        await fleet.push(site.url("/more"))
        shown = fleet.runner.run("status", "--json", "-s", f"FRONTIER_KEY={fleet.key}")
    [host] = json.loads(shown.stdout)["hosts"]
    assert host["sitemaps"] == {site.url(""): ["http://a.example/sitemap.xml"]}


async def test_a_page_may_be_exempt(fleet: Fleet) -> None:
    with Site(pages() | {"/robots.txt": Page(PRIVATE)}) as site:
        await fleet.push(site.url("/private"), meta={"dont_obey_robotstxt": True})
        await crawled(fleet)
        assert site.requested == ["/private"]
