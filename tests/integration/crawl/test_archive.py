"""Whole workers that archive what they fetch."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pymongo.asynchronous.database import AsyncDatabase

from crawler.storage.archive import records
from crawler.storage.archive.members import ArchiveDamage
from crawler.storage.archive.records import WarcRecord
from tests.crawling import SHORT_LEASE, Fleet, count, ended
from tests.sites import Page, Site

Database = AsyncDatabase[dict[str, Any]]
BODY = "<title>{0}</title><p>" + "a knife, forged. " * 50


def pages(directory: Path) -> list[WarcRecord]:
    return [record for path in sorted(directory.glob("*.warc.gz*")) for record in stored(path)]


def stored(path: Path) -> Iterator[WarcRecord]:
    with path.open("rb") as stream:
        for found in records.scan(stream):
            if not isinstance(found, ArchiveDamage):
                yield found[0]


def checked(directory: Path) -> None:
    paths = [str(path) for path in directory.glob("*.warc.gz")]
    assert paths
    done = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", *paths], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def path_of(record: WarcRecord) -> str:
    return urlsplit(record.page.url).path


async def test_every_page_that_the_spider_saw_is_in_the_archive(
    fleet: Fleet, mongo_database: Database, tmp_path: Path
) -> None:
    site_pages = {f"/{n}": Page(BODY.format(n)) for n in range(6)} | {
        "/same": Page(BODY.format(0)),
        "/gone": Page("not here any more", 410),
        "/cookie": Page("<title>c</title>", headers={"Set-Cookie": "a=b", "X-Note": "ok"}),
    }
    with Site(site_pages) as site:
        await fleet.push(*map(site.url, site.pages))
        status, log = await ended(fleet.start(ARCHIVE_PAGES="all", ARCHIVE_DIR=str(tmp_path / "archive")))
    assert status == 0
    found = {path_of(record): record for record in pages(tmp_path / "archive")}
    assert set(found) == set(site.pages)
    assert {path: record.page.status for path, record in found.items() if record.page.status != 200} == {"/gone": 410}
    assert count(log, "archive/pages/response") + count(log, "archive/pages/revisit") == 9
    assert count(log, "archive/files") == 1
    checked(tmp_path / "archive")
    assert ("X-Note", "ok") in found["/cookie"].page.headers
    indexed = {each["request_id"]: each async for each in mongo_database["archive"].find()}
    assert {record.page.request_id for record in found.values()} == set(indexed)
    (document,) = await mongo_database["pages"].find({"url": site.url("/1")}).to_list()
    assert indexed[document["source"]["request_id"]]["at"] == document["fetched_at"]


async def test_every_confirmed_page_of_killed_workers_is_parsed_again(
    fleet: Fleet, mongo_database: Database, tmp_path: Path
) -> None:
    directory = tmp_path / "archive"
    archiving = SHORT_LEASE | {"ARCHIVE_PAGES": "all", "ARCHIVE_DIR": str(directory), "DOWNLOAD_DELAY": 0.01}
    hold = threading.Event()  # the last pages: no worker finishes before it is killed
    with Site({f"/{n}": Page(BODY.format(n), hold=hold if n >= 100 else None) for n in range(120)}) as site:
        await fleet.push(*map(site.url, site.pages))
        for asked, done in ((30, 1), (70, 11)):
            worker = fleet.start(**archiving)
            await site.asked(asked)
            await fleet.until(lambda now, least=done: now.counters.done >= least)  # type: ignore[misc]
            worker.kill()
            await ended(worker)
        done = (await fleet.left()).counters.done
        known = await mongo_database["pages"].distinct("_id")
        assert len(known) >= done > 10
        assert list(directory.glob("*.warc.gz.open"))
        for path in directory.glob("*.warc.gz.open"):
            with path.open("ab") as torn:  # as if the last batch had been cut off
                torn.write(next(iter(directory.glob("*.open"))).read_bytes()[:200])
        assert len(pages(directory)) >= done

        await mongo_database.drop_collection("pages")
        asked = len(site.received)
        reparse = fleet.runner.run("reparse", "walk", *fleet.options(ARCHIVE_DIR=str(directory)))
        assert reparse.returncode == 0, reparse.stderr
        assert len(site.received) == asked
        again = await mongo_database["pages"].distinct("_id")
        assert len(again) >= done
        assert len(set(known) & set(again)) >= done  # an item may be stored while its page is still being archived
        assert not list(directory.glob("*.open"))
        checked(directory)
        hold.set()
    parsed, new = map(int, re.findall(r"(\d+) (?:pages parsed again|new)", reparse.stdout))
    assert len(again) == new <= parsed


async def test_a_page_that_was_fetched_twice_is_new_once(
    fleet: Fleet, mongo_database: Database, tmp_path: Path
) -> None:
    directory, fetches = str(tmp_path / "archive"), iter(range(40))
    with Site({f"/{n}": lambda: Page(BODY.format(next(fetches))) for n in range(20)}) as site:
        for _ in range(2):
            await fleet.push(*map(site.url, site.pages), dedupe=False)
        assert (await ended(fleet.start(ARCHIVE_PAGES="all", ARCHIVE_DIR=directory)))[0] == 0
        assert len(site.received) == 40
    await mongo_database.drop_collection("pages")
    reparse = await asyncio.to_thread(fleet.runner.run, "reparse", "walk", *fleet.options(ARCHIVE_DIR=directory))
    assert "40 pages parsed again" in reparse.stdout
    assert re.findall(r"(\d+) new", reparse.stdout) == ["20"], reparse.stdout


async def test_failed_parses_alone_are_kept_with_their_reason(
    fleet: Fleet, mongo_database: Database, tmp_path: Path
) -> None:
    with Site({path: Page() for path in ("/fine", "/at-once", "/midway", "/refused")}) as site:
        await fleet.push(*map(site.url, site.pages), spider="failing")
        status, _ = await ended(fleet.start("failing", ARCHIVE_PAGES="failed", ARCHIVE_DIR=str(tmp_path / "archive")))
        left = await fleet.left("failing")
    assert status == 0
    assert left.states == {"done": 2, "dead": 2}
    assert {path_of(record) for record in pages(tmp_path / "archive")} == {"/at-once", "/midway", "/refused"}
    reasons = {each["url"]: each["failed"] async for each in mongo_database["archive"].find()}
    assert reasons[site.url("/at-once")] == reasons[site.url("/midway")] == "ValueError: no price"
    assert reasons[site.url("/refused")].startswith("integer_too_large: ")
