"""A writer that may wait no longer: its items are not stored, and nobody takes them for stored."""

from __future__ import annotations

import asyncio
import errno
import itertools
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pymongo.errors import AutoReconnect
from scrapy import Request, signals
from scrapy.exceptions import DropItem
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.errors import UnstoredItem
from crawler.items import PageItem
from crawler.middlewares.spider.archive import ArchiveMiddleware
from crawler.pipelines.drops import RejectedItem
from crawler.pipelines.mongodb import MongoPipeline
from crawler.policy.endings.outcome import Evidence, Verdict, conclude
from crawler.storage import disk_room
from crawler.storage.archive.archive import Archive, UnarchivedError
from crawler.storage.archive.config import ArchiveConfig, Keep
from crawler.storage.archive.files import OpenFile
from crawler.storage.archive.records import Page
from crawler.storage.archive.store import Store
from crawler.storage.config import StorageConfig
from crawler.storage.outage import AwayError, MongoOutage
from crawler.storage.spool.fallback import SpoolFallback
from crawler.storage.spool.high_water import HighWater
from crawler.storage.spool.spool import SpoolFullError
from crawler.storage.writer import Writer
from tests.integration.storage.observing import RecordedStats

ITEM = PageItem(url="http://a.example/", title="a page")
LONG_SECONDS = 60.0


class Away:
    """A repository whose server is away."""

    asked = 0

    async def store(self, *_: Any) -> Any:
        self.asked += 1
        raise AutoReconnect("away")

    reject = store


class FullSpool:
    """A spool without room."""

    taken = False
    refused = "the spool cannot be written"
    share = 0.1
    changed: Callable[[], None]

    async def take(self, entries: Sequence[Any]) -> bool:
        return False


def writer(spool: Any = None) -> tuple[Writer, list[float]]:
    """One that gives up after LONG_SECONDS, and for how long MongoDB was away each time that it asked."""
    asked: list[float] = []

    def gives_up(seconds: float) -> bool:
        asked.append(seconds)
        return seconds > LONG_SECONDS

    outage = MongoOutage(RecordedStats(), "here", 0.001, clock=itertools.count(step=LONG_SECONDS / 4).__next__)
    return Writer(Away(), StorageConfig(batch_ms=1), outage, spool, gives_up=gives_up), asked  # type: ignore[arg-type]


@pytest.mark.parametrize("spool", [None, FullSpool()])
async def test_items_and_rejections_wait_only_so_long(spool: Any) -> None:
    made, asked = writer(spool)
    with pytest.raises(AwayError):
        await made.store(ITEM)
    with pytest.raises(AwayError):
        await made.reject(ITEM, ["no price"])
    assert asked[0] <= LONG_SECONDS < asked[-1]


async def test_what_comes_later_asks_a_server_no_more_that_was_given_up() -> None:
    """Each try may take STORAGE_REPLY_SECONDS, and items with one key are written one after the other."""
    made, _ = writer()
    with pytest.raises(AwayError):
        await made.store(ITEM)
    asked = made._repository.asked  # type: ignore[attr-defined]
    for _ in range(5):
        with pytest.raises(AwayError):
            await made.store(ITEM)
        with pytest.raises(AwayError):
            await made.reject(ITEM, ["no price"])
    assert made._repository.asked == asked  # type: ignore[attr-defined]


async def test_whoever_ends_the_page_hears_of_it() -> None:
    crawler = get_crawler()
    pipeline = MongoPipeline.__new__(MongoPipeline)
    pipeline._writer, _ = writer()
    assert crawler.stats is not None
    pipeline._crawler, pipeline._stats, pipeline._timings = crawler, crawler.stats, None
    heard: list[tuple[str, DropItem]] = []

    def dropped(item: Any, response: Response, exception: DropItem) -> None:
        heard.append((response.url, exception))

    crawler.signals.connect(dropped, signals.item_dropped)
    with pytest.raises(UnstoredItem, match="MongoDB is away"):
        await pipeline.process_item(ITEM)
    page = Response(ITEM.url, request=Request(ITEM.url))
    await pipeline.item_dropped(ITEM, page, RejectedItem(["no price"]))
    assert [(url, type(error)) for url, error in heard] == [(page.url, UnstoredItem)]


def test_its_page_is_given_back_whatever_else_befell_it() -> None:
    assert conclude(Evidence(unstored=True, parsed=True, handed=True)).verdict is Verdict.GIVE_BACK
    assert conclude(Evidence(unstored=True, spider_error="ValueError")).verdict is Verdict.GIVE_BACK


def test_nothing_is_leased_while_a_disk_that_is_full_keeps_items_waiting() -> None:
    """Else the time that pages wait counted: they were fetched again, and dead letters in the end."""
    reasons: list[str] = []
    outage, spool = MongoOutage(RecordedStats(), "here", 0.05), FullSpool()
    HighWater(outage, spool, 0.8, reasons.append)  # type: ignore[arg-type]
    outage.failed(AutoReconnect("away"), outage._clock())
    assert reasons[-1] == "items have nowhere to go: the spool cannot be written"
    outage.over()
    assert reasons[-1] == ""
    spool.taken = True  # others are stored first: nothing overtakes them
    spool.changed()
    assert reasons[-1] == "items have nowhere to go: the spool cannot be written"


class NearlyFull:
    """A spool whose disk takes every other batch."""

    directory, max_bytes, size, waiting = Path(), 100, 10, True

    def __init__(self) -> None:
        self._fits = itertools.cycle((False, True))

    async def append(self, _: Sequence[Any]) -> None:
        if not next(self._fits):
            raise SpoolFullError("the disk has no room")

    async def oldest(self) -> None:
        return None


async def test_a_disk_that_is_nearly_full_does_not_stop_and_start_the_worker_with_every_batch(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons: list[str] = []
    one: Any = SimpleNamespace(body=SimpleNamespace(raw=b"an item"))
    outage, disk = MongoOutage(RecordedStats(), "here", 0.05), NearlyFull()
    repository: Any = Away()
    spool = SpoolFallback(disk, repository, outage, RecordedStats(), 10)  # type: ignore[arg-type]
    HighWater(outage, spool, 0.8, reasons.append)
    for taken in (False, True) * 5:
        assert await spool.take([one]) is taken
    assert set(reasons) == {"items have nowhere to go: the disk has no room"}
    full, again = caplog.messages  # each is said once
    assert full.startswith("the disk has no room. Items wait")
    assert again == "The disk takes what goes to the spool again; once it has for 30 s, leasing may resume"
    await spool.replay()  # nothing waits any more
    assert reasons[-1] == spool.refused == ""
    monkeypatch.setattr(disk_room, "STEADY_SECONDS", 0)
    assert not await spool.take([one])
    assert await spool.take([one])
    while spool.refused:  # noqa: ASYNC110 - a timer of the loop clears it
        await asyncio.sleep(0)
    assert reasons[-1] == ""


async def test_a_spool_that_was_never_opened_is_closed_all_the_same() -> None:
    """MongoDB went while the worker started."""
    closed: list[bool] = []
    disk: Any = SimpleNamespace(close=lambda: closed.append(True))
    repository: Any = Away()
    outage = MongoOutage(RecordedStats(), "here", 0.05)
    await SpoolFallback(disk, repository, outage, RecordedStats(), 10).close()
    assert closed


async def test_an_archive_whose_disk_is_full_stops_leasing_and_gives_up_when_it_may_wait_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    index: Any = None
    config = ArchiveConfig(keep=Keep.FAILED, directory=tmp_path)
    page = Page(url=ITEM.url, status=200, headers=[], body=b"a page", fetched_at=datetime(2026, 3, 1, tzinfo=UTC))
    made = Archive(config, index, Store(config), RecordedStats(), said.append, lambda seconds: seconds >= 0)
    monkeypatch.setattr(made, "_no_lookups_until", math.inf)

    def full(directory: Path, prefix: str) -> OpenFile:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(OpenFile, "create", full)
        for _ in range(2):
            with pytest.raises(UnarchivedError):
                await made.add(page)
    full_disk = f"the archive in {tmp_path} cannot be written: No space left on device"
    assert set(said) == {full_disk}
    assert await made.add(page)
    assert said[-1] == full_disk  # a single batch is no proof of room
    monkeypatch.setattr(disk_room, "STEADY_SECONDS", 0)
    made._room.forget()
    assert await made.add(page)
    while made._room.reason:  # noqa: ASYNC110 - a timer of the loop clears it
        await asyncio.sleep(0)
    assert said[-1] == ""


async def test_the_page_that_its_archive_gave_up_is_given_back() -> None:
    async def refused() -> str:
        raise UnarchivedError

    held = SimpleNamespace(evidence=Evidence(handed=True, spider_error="ValueError: no price"))
    middleware: Any = ArchiveMiddleware.__new__(ArchiveMiddleware)
    middleware._held = lambda response: held
    assert await middleware._synced(Response(ITEM.url), asyncio.create_task(refused())) == ""
    assert conclude(held.evidence).verdict is Verdict.GIVE_BACK
