"""The log of a real crawl: one id from the download over the callback to the item, no secrets, one line each."""

from __future__ import annotations

import json
import re
import threading
from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import Redis

from tests.integration.extensions.visiting import arguments, crawl, logged
from tests.servers import ScrapyRunner
from tests.sites import Page, Site

PIPELINE = 'ITEM_PIPELINES={"tests.integration.extensions.spiders.LogPipeline": 1}'
DEBUG = "LOG_LEVEL=DEBUG"


def _lines(runner: ScrapyRunner, site: Site, paths: list[str]) -> list[dict[str, Any]]:
    result = crawl(runner, [site.url(path) for path in paths], DEBUG, "LOG_JSON=True", PIPELINE)
    assert result.returncode == 0
    return [json.loads(line) for line in result.stderr.splitlines()]


def test_every_line_of_a_page_carries_one_id(scrapy_run: ScrapyRunner) -> None:
    with Site({"/1": Page(), "/2": Page(), "/3": Page()}) as site:
        lines = _lines(scrapy_run, site, ["/1", "/2", "/3"])
    by_id: dict[str, list[str]] = {}
    for line in lines:
        if "request_id" in line:
            by_id.setdefault(line["request_id"], []).append(line["event"].split("http")[0].split("<")[0])
    assert len(by_id) == 3
    for messages in by_id.values():
        assert [text.strip() for text in messages] == [
            "Crawled (200)",
            "parsing a page",
            "storing an item",
            "Scraped from",
        ]


def test_a_traceback_is_inside_its_line_and_an_errback_names_its_request(scrapy_run: ScrapyRunner) -> None:
    with Site({"/break": Page()}) as site:
        lines = _lines(scrapy_run, site, ["/break"])
        failing = site.url("/")
    error = next(line for line in lines if line["level"] == "ERROR")
    assert error["exception"].endswith("ValueError: the page is not as expected")
    assert error["url"] == site.url("/break")
    assert error["request_id"] == next(line for line in lines if line["event"].startswith("Crawled ("))["request_id"]
    result = crawl(scrapy_run, [failing], "LOG_JSON=True", "RETRY_ENABLED=False")
    failed = next(line for line in map(json.loads, result.stderr.splitlines()) if "failed:" in line["event"])
    assert failed["url"] == failing
    assert failed["request_id"]


def test_what_a_page_leaves_behind_does_not_speak_in_its_name(scrapy_run: ScrapyRunner) -> None:
    said = threading.Event()
    with Site({"/drop": Page(), "/late": Page(hold=said)}) as site:
        urls = [site.url("/drop"), site.url("/late")]
        process = scrapy_run.fork(*arguments(urls, DEBUG, "LOG_JSON=True", PIPELINE))
        logged(process, re.compile("long after the page"))
        said.set()
        _, log = process.communicate(60)
    late = next(line for line in map(json.loads, log.splitlines()) if line["event"] == "long after the page")
    assert "request_id" not in late


FIELDS = {"ts", "level", "event", "logger", "spider", "worker", "request_id", "host", "url", "attempt", "tier"}


def test_every_line_about_a_request_says_whose_it_is_and_who_made_it(scrapy_run: ScrapyRunner) -> None:
    pages = {
        "/top": Page("<a href=/child>"),
        "/child": Page("<a href=/broken><a href=/moved>"),
        "/broken": Page(status=503),
        "/moved": Page(status=302, headers={"Location": "/there"}),
        "/there": Page(),
    }
    middleware = 'DOWNLOADER_MIDDLEWARES={"tests.integration.extensions.spiders.LogMiddleware": 900}'
    quick = ("RETRY_TIMES=1", "RETRY_CLASSES={}", "RETRY_BASE_SECONDS=0.02", "MAX_IDLE_TIME_BEFORE_CLOSE=0.1")
    more = ("AUTOTHROTTLE_ENABLED=False", "FRONTIER_POLL_SECONDS=0.1", "LOG_JSON=True", DEBUG, PIPELINE, middleware)
    with Site(pages) as site:
        done = scrapy_run.run(*arguments([site.url("/top")], *quick, *more, spider="family"))
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    told: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        if "url" in line:
            told.setdefault(urlsplit(line["url"]).path, []).append(line)
    ids = {path: {line["request_id"] for line in found} for path, found in told.items()}
    assert all(len(one) == 1 for one in ids.values()), ids
    assert ids["/moved"] == ids["/there"]
    parents = {path: {line.get("parent_id") for line in found} for path, found in told.items()}
    child, below = ids["/top"], ids["/child"]
    assert parents == {"/top": {None}, "/child": child, "/broken": below, "/moved": below, "/there": below}
    assert all(set(line) >= FIELDS for found in told.values() for line in found)
    said = {path: {line["event"].split(" http")[0].split(" <")[0] for line in found} for path, found in told.items()}
    ways = {"sending", "received", "Crawled (503)", "Retrying", "Gave up retrying", "failing a page", "storing an item"}
    assert said["/broken"] >= ways
    assert said["/there"] >= {"sending", "received", "Crawled (200)", "parsing a page", "parsed a page", "Scraped from"}
    assert {line["attempt"] for line in told["/broken"]} == {1, 2}
    apart = {"callback", "pipeline", "middleware"}
    assert not [line for line in lines if line["logger"] in apart and "request_id" not in line]
    assert any("is put back" in line["event"] for line in told["/broken"])
    assert {line.get("run_id") for line in lines if "request_id" in line} == {told["/top"][0]["run_id"]}


async def test_text_carries_the_id_too_and_no_line_shows_a_password(
    scrapy_run: ScrapyRunner, redis_client: Redis, redis_url: str
) -> None:
    await redis_client.acl_setuser("somebody", enabled=True, passwords=["+t0p-s3cret"], keys=["*"], commands=["+@all"])
    where = urlsplit(redis_url)
    redis = f"redis://somebody:t0p-s3cret@{where.hostname}:{where.port}/0"
    with Site({"/": Page()}) as site:
        scrapy_run.env |= {"MONGODB_URI": "mongodb://shoal:t0p-s3cret@db.example/", "REDIS_URL": redis}
        result = crawl(scrapy_run, [site.url()], DEBUG, PIPELINE)
    assert result.returncode == 0
    assert f"starting with redis://***@{where.hostname}" in result.stderr
    assert "t0p-s3cret" not in result.stderr
    lines = result.stderr.splitlines()
    ids = {line.split("[")[2].split("]")[0] for line in lines if line.endswith(("parsing a page", "storing an item"))}
    assert ids == {"0:1"}


def test_a_line_of_every_period_comes_once_per_period(scrapy_run: ScrapyRunner) -> None:
    """On uvloop's own timers it came several times at the end of most periods."""
    hold = threading.Event()
    with Site({"/": Page(hold=hold)}) as site:
        process = scrapy_run.fork(*arguments([site.url()], "LOGSTATS_INTERVAL=0.0072"))
        logged(process, re.compile("Crawled 0 pages"))
        threading.Timer(1, hold.set).start()
        log = process.communicate(60)[1]
    elapsed = re.search(r"'elapsed_time_seconds': ([0-9.]+)", log)
    assert elapsed is not None
    lines = len(re.findall(r"Crawled \d+ pages", log))
    assert 2 <= lines <= float(elapsed[1]) / 0.0072 + 2  # one at once, one for what the stats do not count of the end
