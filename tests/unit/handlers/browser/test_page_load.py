"""What a page may ask for."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import DownloadCancelledError

from crawler.handlers.browser.page_limits import PageLimits
from crawler.handlers.browser.page_load import FLOOD, PageLoad
from crawler.handlers.wire_turn import WireTurn
from tests.integration.handlers.browsing import Stats

MOST = 20


class Asked:
    """A script's request, and its route."""

    url, resource_type, frame = "http://shop.example/1", "fetch", None
    answers = 0

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}

    def is_navigation_request(self) -> bool:
        return False

    async def continue_(self, **_: Any) -> None:
        self.answers += 1

    async def abort(self, _: str) -> None:
        self.answers += 1


async def test_a_page_beyond_its_bound_has_no_answers_and_in_a_flood_no_browser() -> None:
    floods: list[int] = []
    asked: Any = Asked()
    page = Request("http://shop.example/")
    turn, limits = WireTurn.of(page), PageLimits(frozenset(), MOST, 0)
    load = PageLoad(page, turn, lambda _: 0.0, limits, Stats(), lambda: floods.append(asked.answers))
    for number in range(MOST + 2 * FLOOD):
        with suppress(asyncio.CancelledError):  # of Playwright's task
            await load._route(asked, asked)
        assert load._instead.done() == (number >= MOST)
        assert bool(floods) == (number >= MOST + FLOOD - 1)
    assert (asked.answers, floods) == (MOST, [MOST])
    with pytest.raises(DownloadCancelledError, match=r"more than 20 resources \(BROWSER_PAGE_REQUESTS\)"):
        load._instead.result()
    load.close()
