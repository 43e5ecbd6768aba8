"""What the downloader does with a page whose host does not resolve."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from scrapy import Request

from crawler.engine.downloader import Downloader
from crawler.errors import RobotsUnresolvedError
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
