"""Whoever is part of a page does not wait until all pages have ended."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request

from crawler.current_request import note
from crawler.engine import closing


class Engine(SimpleNamespace):
    """Closes once its page has ended."""

    def __init__(self) -> None:
        super().__init__(page_ended=asyncio.Event(), told=[])

    async def close_spider_async(self, *, reason: str = "cancelled") -> None:
        await self.page_ended.wait()
        self.told.append(reason)

    async def stop_async(self) -> None:
        await self.close_spider_async(reason="shutdown")


@pytest.mark.parametrize("apart", [False, True], ids=["itself", "in a task of its own"])
async def test_a_page_that_closes_ends_first(*, apart: bool) -> None:
    engine: Any = Engine()
    closing.install(engine)

    async def page() -> None:
        request = Request("http://a.example/")
        note(request)
        close = engine.close_spider_async(reason="enough")
        await (asyncio.ensure_future(close) if apart else close)
        assert engine.told == []
        engine.page_ended.set()

    await asyncio.wait_for(asyncio.create_task(page()), 60)
    async with asyncio.timeout(60):
        await asyncio.gather(*closing._closing)
    assert engine.told == ["enough"]


async def test_who_stops_in_the_context_of_a_page_waits_all_the_same() -> None:
    """As the handler of a signal may."""
    engine: Any = Engine()
    closing.install(engine)

    async def page() -> None:
        request = Request("http://a.example/")
        note(request)
        stopping = asyncio.ensure_future(engine.stop_async())
        await asyncio.sleep(0.05)
        assert not stopping.done()
        engine.page_ended.set()
        await stopping
        assert engine.told == ["shutdown"]

    await asyncio.wait_for(asyncio.create_task(page()), 60)


async def test_others_wait_until_all_is_closed() -> None:
    engine: Any = Engine()
    closing.install(engine)
    engine.page_ended.set()
    await engine.close_spider_async(reason="finished")
    assert engine.told == ["finished"]
