"""Any spider is in the fleet: what Scrapy's and scrapy-redis' documentation shows, side by side with Scrapy itself."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
import redis
from pymongo.asynchronous.database import AsyncDatabase

from crawler.frontier.joining import digests
from tests.crawling import count, ended, said
from tests.integration.crawl.quotes import Crawls, feed, listing
from tests.sites import Page

Database = AsyncDatabase[dict[str, Any]]
DOCUMENTED = ["quotes", "author", "rules", "sitemap", "login", "loader", "errback", "xml", "csv", "many"]


@pytest.mark.parametrize("spider", DOCUMENTED)
async def test_a_documented_spider_crawls_what_it_crawls_in_scrapy(
    spider: str, crawls: Crawls, mongo_database: Database, tmp_path: Path
) -> None:
    scrapys, ours = tmp_path / "scrapys.json", tmp_path / "ours.json"
    await crawls.run(spider, "-O", str(scrapys), FRONTIER_ENABLED=False)
    asked = crawls.asked()
    log = await crawls.run(spider, "-O", str(ours))
    assert crawls.asked() == asked
    assert feed(ours) == feed(scrapys) != []
    assert f"Requests of {spider} come from the frontier" in log
    assert count(log, "frontier/acked") > 0
    stored = await mongo_database["items"].count_documents({})
    assert stored == len(set(feed(scrapys)))


async def test_a_spider_of_older_releases_starts_as_it_did_there(crawls: Crawls, tmp_path: Path) -> None:
    ours = tmp_path / "ours.json"
    middleware = "tests.integration.crawl.documented_spiders.OldMiddleware"
    log = await crawls.run("old", "-O", str(ours), SPIDER_MIDDLEWARES={middleware: 543})
    assert "start_requests() of old is called" in log
    assert f"{middleware}.process_spider_output is no async generator" in log
    assert feed(ours) == [f'{{"marked": "old", "title": "Page {page}"}}' for page in (1, 2)]


async def test_a_crawl_without_a_reactor_is_in_the_fleet_too(crawls: Crawls) -> None:
    """Scrapy's handler for such crawls, which has no guard, took the place of ours, and the crawl was refused."""
    log = await crawls.run("quotes", TWISTED_REACTOR_ENABLED=False)
    assert count(log, "frontier/acked") == len(crawls.asked()) == 4


async def test_a_spider_of_scrapy_redis_waits_for_start_urls_and_pops_none_unleased(
    crawls: Crawls, mongo_database: Database
) -> None:
    with redis.Redis.from_url(crawls.fleet.redis_url) as client:
        client.delete("myspider:start_urls", "mycrawler:start_urls")

        async def crawled(name: str, pushed: str, *arguments: str) -> tuple[int, str]:
            worker = crawls.start(f"{name}_redis", *arguments, MAX_IDLE_TIME_BEFORE_CLOSE=3)
            await said(worker, "Waiting for work")
            client.lpush(f"{name}:start_urls", pushed)
            return await ended(worker)

        author = json.dumps({"url": crawls.site.url("/author/1"), "meta": {"job": "1"}})
        for status, log in await asyncio.gather(
            crawled("myspider", author, "-a", "domain=127.0.0.1"), crawled("mycrawler", crawls.site.url("/page/1/"))
        ):
            assert status == 0, log
            assert count(log, "frontier/seeds") == 1
            assert count(log, "scheduler/enqueued/redis") == 0
        assert client.exists("myspider:start_urls", "mycrawler:start_urls") == 0
    assert sorted(set(crawls.site.requested)) == sorted(
        [*(f"/page/{n}/" for n in (1, 2, 3)), *(f"/author/{n}" for n in range(3)), *(f"/tag/t{n}" for n in range(3))]
    )
    assert await mongo_database["items"].count_documents({"item.name": "A1"}) > 0


async def test_start_requests_are_taken_once_by_three_workers(crawls: Crawls) -> None:
    hold = threading.Event()
    crawls.site.pages["/page/3/"] = Page(listing(3), hold=hold)
    workers = [crawls.start("many") for _ in range(3)]
    await crawls.fleet.workers(3)
    await crawls.site.asked(5)
    hold.set()
    logs = [log for status, log in [await ended(worker) for worker in workers] if status == 0]
    assert len(logs) == 3
    # each start request once, the repeated one twice, and the pages again as links
    assert sorted(crawls.site.requested) == ["/page/1/"] * 2 + ["/page/2/"] * 2 + ["/page/3/"] * 2
    assert sum("Crawl 1 of many begins" in log for log in logs) == 1
    assert sum("Crawl 1 of many is under way: this worker joins it" in log for log in logs) == 2
    told = [match for log in logs for match in re.findall(r"run (\S+) finished: 6 done \(many start\)", log)]
    assert len(told) == 1, "one of them has seen it end"
    assert sum(log.count(f"joins it, run {told[0]}") + log.count(f"begins, run {told[0]}") for log in logs) == 3


async def test_a_restart_goes_on_and_the_next_day_crawls_again(crawls: Crawls) -> None:
    hold = threading.Event()
    crawls.site.pages["/page/2/"] = Page(listing(2), hold=hold)
    worker = crawls.start("quotes", CONCURRENT_REQUESTS_PER_DOMAIN=1)
    await crawls.site.asked(2)
    worker.send_signal(signal.SIGTERM)
    await said(worker, "Received SIGTERM")
    hold.set()
    assert (await ended(worker))[0] == 0
    begun = sorted(crawls.site.requested)
    assert begun == ["/page/1/", "/page/2/"]
    log = await crawls.run("quotes")
    assert "Crawl 1 of quotes is under way" in log
    assert len(crawls.site.requested) == 4, "page 2 as a link, and page 3"
    for day in (2, 3):
        crawls.asked()
        log = await crawls.run("quotes")
        assert f"Crawl {day} of quotes begins" in log
        assert len(crawls.asked()) == 4


async def test_arguments_belong_to_the_crawl(crawls: Crawls) -> None:
    hold = threading.Event()
    crawls.site.pages["/page/3/"] = Page(listing(3), hold=hold)
    worker = crawls.start("many", "-a", "part=one", "-a", "password=s3cret")
    await crawls.site.asked(5)
    for others in ([], ["-a", "part=two", "-a", "password=s3cret"], ["-a", "password=other"]):
        status, log = await ended(crawls.start("many", *others))
        assert status == 2
        assert "-a of spider many = " in log
        assert ("part" in log.splitlines()[-1]) is ("part=one" not in others)
        assert "s3cret" not in log
        assert "Traceback" not in log
    same = crawls.start("many", "-a", "password=s3cret", "-a", "part=one")
    await said(same, "Crawl 1 of many is under way")
    hold.set()
    assert [status for status, _ in [await ended(one) for one in (worker, same)]] == [0, 0]
    log = await crawls.run("many", "-a", "part=two")
    assert "Crawl 2 of many begins" in log


async def test_arguments_of_an_unfinished_crawl_hold_while_no_worker_lives(crawls: Crawls) -> None:
    hold = threading.Event()
    crawls.site.pages |= {path: Page(listing(1), hold=hold) for path in ("/page/1/", "/page/2/", "/page/3/")}
    worker = crawls.start("many", "-a", "part=one")
    await crawls.site.asked(1)
    worker.send_signal(signal.SIGKILL)
    hold.set()
    await ended(worker)
    status, log = await ended(crawls.start("many", "-a", "part=two"))
    assert status == 2
    assert "-a of spider many = 'part'" in log


def test_values_of_arguments_are_kept_as_digests_only() -> None:
    kept = digests({"password": "s3cret", "n": 1})
    assert set(kept) == {"password", "n"}
    assert "s3cret" not in str(kept)
    assert kept == digests({"n": "1", "password": "s3cret"}) != digests({"n": "2", "password": "s3cret"})


def test_what_scrapyd_calls_each_of_its_jobs_is_no_argument_of_the_crawl() -> None:
    """Its second job of a spider, or the first after a kill, was refused."""
    assert digests({"_job": "6487ec79947edab326d6db28a2d86511", "part": "one"}) == digests({"part": "one"})


async def test_a_worker_that_is_refused_leaves_no_sign_of_life(crawls: Crawls) -> None:
    hold = threading.Event()
    crawls.site.pages |= {path: Page(listing(1), hold=hold) for path in ("/page/1/", "/page/2/", "/page/3/")}
    worker = crawls.start("many")
    await crawls.site.asked(1)
    status, _ = await ended(crawls.start("many", "-a", "part=two"))
    assert status == 2
    await asyncio.sleep(0)
    await crawls.fleet.workers(1)
    hold.set()
    assert (await ended(worker))[0] == 0
