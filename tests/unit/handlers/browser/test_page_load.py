"""What a page may ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from playwright.async_api import Error
from scrapy import Request
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Response

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


def load_of(page: Request, flooded: Callable[[], None] = lambda: None) -> PageLoad:
    return PageLoad(page, WireTurn.of(page), lambda _: 0.0, PageLimits(frozenset(), MOST, 0), Stats(), flooded)


async def test_a_page_that_is_leaving_is_told_by_where_it_goes() -> None:
    """Its content cannot be had a moment before Chromium says that nothing is left of it."""
    load = load_of(Request("http://shop.example/"))

    async def leaving() -> Response:
        asyncio.get_running_loop().call_later(0.01, load._blank, "about:blank")
        raise Error("Page.content: Unable to retrieve content because the page is navigating and changing the content.")

    with pytest.raises(DownloadCancelledError, match="the page leaves for about:blank: nothing is left of it"):
        await load.end(leaving())
    load.close()


async def test_a_page_beyond_its_bound_has_no_answers_and_in_a_flood_no_browser() -> None:
    floods: list[int] = []
    asked: Any = Asked()
    load = load_of(Request("http://shop.example/"), lambda: floods.append(asked.answers))
    for number in range(MOST + 2 * FLOOD):
        with suppress(asyncio.CancelledError):  # of Playwright's task
            await load._route(asked, asked)
        assert load._instead.done() == (number >= MOST)
        assert bool(floods) == (number >= MOST + FLOOD - 1)
    assert (asked.answers, floods) == (MOST, [MOST])
    with pytest.raises(DownloadCancelledError, match=r"more than 20 resources \(BROWSER_PAGE_REQUESTS\)"):
        load._instead.result()
    load.close()
