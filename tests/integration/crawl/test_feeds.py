"""Feeds and limits of one process, in a fleet."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio
from scrapy.extensions.feedexport import FeedExporter
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from crawler.errors import ConfigError
from crawler.worker import feeds
from crawler.worker.feeds import check, overwritten
from tests.crawling import ended, said
from tests.effort import PATIENCE
from tests.integration.crawl.quotes import Crawls, listing
from tests.sites import Page


async def test_a_second_worker_on_the_same_feed_is_refused_by_name(crawls: Crawls, tmp_path: Path) -> None:
    hold = threading.Event()
    crawls.site.pages["/page/3/"] = Page(listing(3), hold=hold)
    path = tmp_path / "items.jsonl"
    first = crawls.start("many", "-O", str(path))
    await crawls.site.asked(5)
    status, log = await ended(crawls.start("many", "-O", str(path)))
    assert status == 2
    assert f"FEEDS (-O) = '{path}' is invalid" in log.splitlines()[-1]
    assert "scrapy export" in log
    assert "%(worker)s" in log
    own = crawls.start("many", "-O", str(tmp_path / "%(worker)s.jsonl"))
    appended = crawls.start("many", "-o", str(path.with_suffix(".csv")))
    await crawls.fleet.workers(3)
    hold.set()
    for worker in (first, own, appended):
        assert (await ended(worker))[0] == 0
    assert written(tmp_path) == 6


async def test_a_feed_stays_claimed_when_redis_was_emptied(crawls: Crawls, tmp_path: Path) -> None:
    hold, path = threading.Event(), str(tmp_path / "items.jsonl")
    crawls.site.pages["/page/3/"] = Page(listing(3), hold=hold)
    first = crawls.start("many", "-O", path)
    await crawls.site.asked(5)
    key = f"{{{crawls.fleet.key}:0}}:feeds"
    async with redis.asyncio.from_url(crawls.fleet.redis_url) as client:
        before = await client.hgetall(key)
        await client.flushall()
        async with asyncio.timeout(PATIENCE):
            while not await client.exists(key):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert await client.hgetall(key) == before
    status, log = await ended(crawls.start("many", "-O", path))
    assert (status, "overwrites this one" in log) == (2, True), log
    hold.set()
    await ended(first)


def written(directory: Path) -> int:
    """Items in all feeds, of which one is named after its worker."""
    assert len(list(directory.glob(f"{socket.gethostname()}-*.jsonl"))) == 1
    lines = [json.loads(line) for file in directory.glob("*.jsonl") for line in file.read_text().splitlines()]
    return len(lines) + len((directory / "items.csv").read_text().split()[1:])


async def test_the_feed_of_a_worker_that_was_killed_is_free_at_once(crawls: Crawls, tmp_path: Path) -> None:
    hold = threading.Event()
    crawls.site.pages |= {path: Page(listing(1), hold=hold) for path in ("/page/1/", "/page/2/", "/page/3/")}
    worker = crawls.start("many", "-O", str(tmp_path / "items.json"))
    await crawls.site.asked(1)
    worker.send_signal(signal.SIGKILL)
    hold.set()
    await ended(worker)
    again = crawls.start("many", "-O", str(tmp_path / "items.json"))
    await said(again, "Crawl 1 of many is under way")
    await said(again, "Spider opened")
    again.send_signal(signal.SIGTERM)
    assert (await ended(again))[0] == 0


async def test_settings_of_one_process_are_explained_where_they_are_set(crawls: Crawls, tmp_path: Path) -> None:
    log = await crawls.run("quotes", JOBDIR=str(tmp_path), CLOSESPIDER_ITEMCOUNT=1_000, DEPTH_LIMIT=2)
    assert f"JOBDIR = '{tmp_path}' keeps `spider.state` only: the frontier keeps the crawl" in log
    assert "CLOSESPIDER_ITEMCOUNT = '1000' counts in this worker only" in log
    assert "DEPTH_LIMIT = '2' holds for the whole fleet" in log
    assert "CLOSESPIDER_TIMEOUT =" not in log


def test_spiders_of_one_project_each_overwrite_a_feed_of_their_name() -> None:
    given: dict[str, dict[str, bool]] = {"out/%(name)s.json": {"overwrite": True}, "100%.json": {"overwrite": True}}
    mine, others = (overwritten(Settings({"FEEDS": given}), spider) for spider in ("one", "two"))
    assert mine[0].endswith("/out/one.json")
    assert others[0].endswith("/out/two.json")
    assert mine[1] == others[1]


def test_which_feeds_are_overwritten() -> None:
    here = f"{socket.gethostname()}:"
    given: dict[str, dict[str, bool]] = {
        "a.json": {"overwrite": True},
        "file:///tmp/b.json": {"overwrite": True},
        "c.json": {},
        "d-%(worker)s.json": {"overwrite": True},
        "e-%(time)s.json": {"overwrite": True},
        "s3://me:secret@bucket/f.json": {},
        "s3://bucket/g.json": {"overwrite": False},
        "stdout:": {"overwrite": True},
    }
    found = overwritten(Settings({"FEEDS": given}), "many")
    assert found[:2] == [f"{here}{Path('a.json').resolve()}", f"{here}/tmp/b.json"]
    assert len(found) == 3
    assert found[2].endswith("bucket/f.json")
    assert "secret" not in found[2]


@pytest.mark.parametrize(
    ("uri", "how", "named", "expected"),
    [
        ("out.xyz", {}, "FEEDS['out.xyz']['format'] = 'xyz'", "one of json, "),
        ("out.json", {"format": "xls"}, "FEEDS['out.json']['format'] = 'xls'", "one of json, "),
        ("out", {}, "FEEDS['out']['format'] = ''", "one of json, "),
        ("out", {"format": ["json"]}, "FEEDS['out']['format'] = ['json']", "one of json, "),
        ("out.json", {"item_filter": "nope"}, "FEEDS['out.json']['item_filter'] = 'nope'", "a class, or its path"),
        ("gopher://me:secret@x/a.json", {}, "= 'gopher'", "a path, or a URI that begins with one of file, "),
        ("gs://bucket/a.json", {}, "= 'gs'", "pip install google-cloud-storage"),
        ("out.json", "json", "FEEDS['out.json'] = 'json'", "a dict of options"),
    ],
)
def test_a_feed_that_scrapy_would_leave_out_is_refused(
    uri: str, how: Any, named: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "_is_installed", lambda module: module != "google.cloud.storage")
    with pytest.raises(ConfigError) as refused:
        check(Settings({"FEEDS": {uri: how}}))
    assert named in str(refused.value)
    assert expected in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_feed_whose_file_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    wrong = {"": "it is a folder", "/file/a.json": "Not a directory", "/file/%(name)s.json": "Not a directory"}
    for scheme in ("", "file://"):
        for end, why in wrong.items():
            with pytest.raises(ConfigError, match=f"expected a file that can be written .{why}.$"):
                check(Settings({"FEEDS": {f"{scheme}{tmp_path}{end}": {"format": "json"}}}))
    right = ["file", "new", "new/folder/a", "%(name)s", "new-%(time)s/%(batch_id)d"]
    check(Settings({"FEEDS": {f"{tmp_path}/{one}": {"format": "json"} for one in right}}))
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("file", "kept")]


def test_feeds_that_scrapy_writes_pass() -> None:
    given = [
        "a.json",
        "%(name)s.csv",
        "file:///tmp/b.jsonl",
        "stdout:",
        Path("c.xml"),
        "C:\\d.jl",
        "s3://bucket/e.json",
    ]
    settings = {"FEEDS": {uri: {"format": "json"} for uri in given}}
    check(Settings(settings))
    assert len(FeedExporter.from_crawler(get_crawler(settings_dict=settings)).feeds) == len(given)
    own = {"FEED_EXPORTERS": {"xyz": "mine.Exporter"}, "FEED_STORAGES": {"webdav": "mine.Storage"}}
    theirs: dict[str, Any] = {"FEEDS": {"webdav://x/a.xyz": {}}}
    with pytest.raises(ConfigError, match="'xyz' is invalid"):
        check(Settings(theirs))
    check(Settings(theirs | own))
