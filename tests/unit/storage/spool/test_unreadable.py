"""A spool whose directory cannot be read: no file descriptor is free, say. No item is to blame for it."""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pymongo.errors import AutoReconnect
from scrapy import Request, signals
from scrapy.http import Response
from scrapy.utils.test import get_crawler
from twisted.python.failure import Failure

from crawler.items import PageItem
from crawler.pipelines.drops import RejectedItem
from crawler.pipelines.mongodb import MongoPipeline
from crawler.storage.config import StorageConfig
from crawler.storage.items.repository import StoreResult
from crawler.storage.outage import AwayError, MongoOutage
from crawler.storage.spool import fallback
from crawler.storage.spool.claims import Claim
from crawler.storage.spool.fallback import SpoolFallback
from crawler.storage.spool.high_water import HighWater
from crawler.storage.spool.spool import Spool
from crawler.storage.writer import Writer
from tests.integration.storage.observing import RecordedStats

ITEM = PageItem(url="http://a.example/", title="a page")


class Server:
    """A repository that serves, or raises *error*."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    async def store(self, name: str, documents: Sequence[Any]) -> list[StoreResult]:
        if self.error is not None:
            raise self.error
        return [StoreResult.NEW] * len(documents)

    async def reject(self, rejections: Sequence[Any]) -> list[None]:
        return [None] * len(await self.store("", rejections))


def _soon(seconds: float) -> bool:
    return seconds > 20


def build(server: Server, directory: Path, reasons: list[str]) -> tuple[Writer, Spool]:
    outage = MongoOutage(RecordedStats(), "here", 0.001, clock=itertools.count().__next__)
    spool, repository = Spool(directory, 1_000_000), server
    fallback = SpoolFallback(spool, repository, outage, RecordedStats(), 10)  # type: ignore[arg-type]
    HighWater(outage, fallback, 0.8, reasons.append)
    made = Writer(repository, StorageConfig(batch_ms=1), outage, fallback, gives_up=_soon)  # type: ignore[arg-type]
    return made, spool


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> Any:
    def take() -> None:
        def refuse(*_: Any) -> Any:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

        monkeypatch.setattr(os, "scandir", refuse)

    return take


async def test_items_are_stored_while_mongodb_serves(tmp_path: Path, unreadable: Any) -> None:
    writer, _ = build(Server(), tmp_path, [])
    unreadable()
    assert await writer.store(ITEM) is StoreResult.NEW


async def test_they_wait_while_it_is_away(tmp_path: Path, unreadable: Any) -> None:
    reasons: list[str] = []
    writer, _ = build(Server(AutoReconnect("away")), tmp_path, reasons)
    unreadable()
    with pytest.raises(AwayError):
        await writer.store(ITEM)
    assert reasons[-1].startswith("items have nowhere to go")
    assert reasons[-1].endswith("cannot be written: Too many open files")


async def test_leasing_stays_stopped_while_nothing_goes_to_an_empty_spool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look at it took the disk to have room again, and a worker on a read-only disk leased on."""

    def refuse(*_: Any) -> Any:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(fallback, "POLL_SECONDS", 0.001)
    reasons: list[str] = []
    writer, _ = build(Server(AutoReconnect("away")), tmp_path, reasons)
    monkeypatch.setattr(Claim, "hold", refuse)
    assert writer._fallback is not None
    writer._fallback.open()
    with pytest.raises(AwayError):
        await writer.store(ITEM)
    await asyncio.sleep(0.1)
    assert [bool(reason) for reason in reasons] == sorted(bool(reason) for reason in reasons)
    writer._outage.over()
    await asyncio.sleep(0.1)
    assert (reasons[-1], writer._fallback.refused) == ("", "")
    await writer.close()


async def test_nothing_overtakes_what_was_spooled_before(tmp_path: Path, unreadable: Any) -> None:
    server = Server(AutoReconnect("away"))
    writer, spool = build(server, tmp_path, [])
    assert await writer.store(ITEM) is StoreResult.SPOOLED
    unreadable()
    assert spool.waiting


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), MemoryError()])
async def test_what_the_machine_lacks_rejects_no_item_and_confirms_no_page(tmp_path: Path, error: Exception) -> None:
    writer, _ = build(Server(error), tmp_path, [])
    with pytest.raises(type(error)):
        await writer.store(ITEM)
    crawler = get_crawler()
    pipeline = MongoPipeline.__new__(MongoPipeline)
    pipeline._writer, pipeline._crawler = writer, crawler
    heard: list[Failure] = []

    def failed(failure: Failure) -> None:
        heard.append(failure)

    crawler.signals.connect(failed, signals.item_error)
    await pipeline.item_dropped(ITEM, Response(ITEM.url, request=Request(ITEM.url)), RejectedItem(["no price"]))
    assert [failure.value for failure in heard] == [error]
