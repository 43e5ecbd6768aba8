"""What the downloader does with a page whose host does not resolve, or that is lost without any fault of its own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from scrapy import Request

from crawler.engine.downloader import Downloader
from crawler.errors import BrowserError, RobotsUnresolvedError, TabLostError
from crawler.handlers.http.errors import StaleConnectionError
from tests.unit.frontier.fakes import held


async def test_only_the_page_whose_robots_txt_could_not_be_asked_for_fails_of_it() -> None:
    """A middleware that sends another request in its place, to a mirror, got the same failure for that."""
    downloader: Any = Downloader.__new__(Downloader)
    downloader._tiers = downloader._tls = SimpleNamespace(of=lambda request: None)
    downloader.handlers = SimpleNamespace(download_request_async=AsyncMock(return_value="answer"))
    lease = held()
    lease.unresolved = "a.example: not known"
    with pytest.raises(RobotsUnresolvedError, match="not known"):
        await downloader._handle(Request("http://a.example/"), lease)
    assert await downloader._handle(Request("http://mirror.example/"), lease) == "answer"


@pytest.mark.parametrize("lost", [StaleConnectionError("closed"), TabLostError("another page")])
async def test_a_page_that_was_lost_without_its_fault_takes_one_more_turn(lost: Exception) -> None:
    downloader: Any = Downloader.__new__(Downloader)
    downloader._worker = SimpleNamespace(pacer=AsyncMock())
    downloader._attempt = AsyncMock(side_effect=[lost, "answer", lost, BrowserError("crashed"), lost, lost])
    page = Request("http://a.example/")
    assert (await downloader._answered(page))[1] == "answer"
    assert downloader._worker.pacer.confirm.await_count == 1, "the host was asked: its delay counts from then"
    for error in (BrowserError, type(lost)):
        with pytest.raises(error):
            await downloader._answered(page)
    assert downloader._attempt.await_count == 6
