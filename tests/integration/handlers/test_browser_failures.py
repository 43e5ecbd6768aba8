"""How the browser tier's handler survives its pages, a real Chromium and its driver."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Error
from scrapy import Request, Spider
from scrapy.exceptions import DownloadConnectionRefusedError, DownloadTimeoutError
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

from crawler import stats as names
from crawler.errors import BrowserError, PageTimeoutError, TabLostError
from crawler.handlers.browser import chromium
from crawler.handlers.browser.handler import BrowserDownloadHandler
from crawler.utils import tasks
from tests.integration.handlers.browsing import opened, text
from tests.sites import Page, Site, nobody

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_page_that_never_comes_times_out_and_nothing_is_left(handler: BrowserDownloadHandler) -> None:
    hold = threading.Event()
    with Site({"/": Page(hold=hold), "/next": Page("fine")}) as site:
        assert "fine" in await text(handler, Request(site.url("/next")))  # the browser is up
        with pytest.raises(DownloadTimeoutError, match=r"> took longer than 3\.0 s in the browser"):
            await handler.download_request(Request(site.url("/"), meta={"download_timeout": 3}))
        assert "fine" in await text(handler, Request(site.url("/next")))
        hold.set()

    assert not any(wrapper.context.pages for wrapper in handler.context_wrappers.values())


async def test_a_signal_to_the_workers_process_group_reaches_neither_browser_nor_driver(
    handler: BrowserDownloadHandler,
) -> None:
    """Pages that are open are finished, and nothing prints a traceback."""
    with Site({"/": Page("fine")}) as site:
        assert "fine" in await text(handler, Request(site.url("/")))
    running = handler._lifecycle._chromium
    assert running._pid is not None
    assert running._driver is not None
    groups = {os.getpgid(running._pid), os.getpgid(running._driver)}
    assert os.getpgid(0) not in groups


async def test_the_time_of_a_page_begins_in_its_tab(
    handler: BrowserDownloadHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page with little time is no word against a browser that is busy: the tabs of others would end with it."""
    opens = ScrapyPlaywrightDownloadHandler._create_page

    async def open_late(self: BrowserDownloadHandler, request: Request, spider: Spider) -> object:
        await asyncio.sleep(1)
        return await opens(self, request, spider)

    hung = handler.stats.get_value(names.BROWSER_RESTARTS.format("hung"))
    monkeypatch.setattr(ScrapyPlaywrightDownloadHandler, "_create_page", open_late)
    hold = threading.Event()
    with Site({"/": Page(hold=hold)}) as site:
        with pytest.raises(DownloadTimeoutError, match=r"> took longer than 0\.3 s in the browser"):
            await handler.download_request(Request(site.url("/"), meta={"download_timeout": 0.3}))
        hold.set()
    assert handler.stats.get_value(names.BROWSER_RESTARTS.format("hung")) == hung


async def test_a_resource_that_never_comes_costs_the_settling_time_only(handler: BrowserDownloadHandler) -> None:
    hold = threading.Event()
    with Site({"/": Page("fine<script async src=/s.js></script>"), "/s.js": Page(hold=hold)}) as site:
        assert "fine" in await text(handler, Request(site.url("/")))
        hold.set()


@pytest.mark.parametrize("script", ["", "alert()"])
async def test_a_page_whose_script_never_ends_times_out(
    handler: BrowserDownloadHandler, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    """Which is its fault: the host has answered. That its tab may have to be made to crash is no browser's failure."""
    monkeypatch.setattr(handler, "_browser", replace(handler._browser, idle_seconds=60))
    with Site({"/": Page(f"<script>for (;;) {{{script}}}</script>"), "/next": Page("fine")}) as site:
        with pytest.raises(PageTimeoutError, match=r"came, and took longer than 3\.0 s to load"):
            await handler.download_request(Request(site.url("/"), meta={"download_timeout": 3}))
        assert "fine" in await text(handler, Request(site.url("/next")))


async def test_a_page_changes_its_history_so_often_and_no_more(handler: BrowserDownloadHandler) -> None:
    """200,000 changes in a row hung the browser, and with it the pages of others."""
    script = "for (i = 0; i < 2000; i++) history.pushState({}, '', `/${i}`); document.write(`at ${location.pathname} `)"
    with Site({"/": Page(f"<script>{script}</script>")}) as site:
        assert "at /199 " in await text(handler, Request(site.url("/")))


async def test_no_connection_is_the_hosts_failure(handler: BrowserDownloadHandler) -> None:
    with nobody() as address:
        with pytest.raises(DownloadConnectionRefusedError, match=rf"{address} refused the connection"):
            await handler.download_request(Request(f"http://{address}/"))
        with pytest.raises(DownloadConnectionRefusedError):
            await handler.download_request(Request(f"https://{address}/"))


async def test_a_browser_that_does_not_log_in_to_our_proxy_is_to_blame(
    handler: BrowserDownloadHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise Error("Page.goto: net::ERR_INVALID_AUTH_CREDENTIALS at http://127.0.0.1/")

    with Site({"/": Page("fine")}) as site:
        assert "fine" in await text(handler, Request(site.url("/")))
        monkeypatch.setattr(handler, "_load", refuse)
        with pytest.raises(BrowserError, match=r"Chromium \d+\.[\d.]+ does not log in to the worker's own proxy"):
            await handler.download_request(Request(site.url("/")))


async def test_a_tab_that_crashes_takes_no_other_one_along(handler: BrowserDownloadHandler) -> None:
    """Out of memory, say. Chromium says first that the tab stopped loading, which is no document that was cut."""
    restarts = handler.stats.get_value(names.BROWSER_RESTARTS.format("flooded"))
    hold = threading.Event()
    page = Page("fine<script src=/script></script>")
    with Site({"/": page, "/other": page, "/script": Page("", hold=hold)}) as site:
        other = asyncio.ensure_future(handler.download_request(Request(site.url("/other"))))
        await site.asked(2)
        loading = asyncio.ensure_future(handler.download_request(Request(site.url("/"), meta={"session": "crash"})))
        await site.asked(4)
        (load,) = [one for one, lent in handler._loads.values() if lent.wants.session]
        assert load._tab is not None
        crashing = asyncio.ensure_future(load._tab._session.send("Page.crash"))
        with pytest.raises(BrowserError, match="its tab crashed"):
            await loading
        hold.set()
        assert (await other).status == 200
        await tasks.finished(crashing)
    assert handler.stats.get_value(names.BROWSER_RESTARTS.format("flooded")) == restarts


@pytest.mark.parametrize(("method", "error"), [("GET", TabLostError), ("POST", BrowserError)])
async def test_a_page_that_ends_the_browser_is_no_failure_of_others(
    handler: BrowserDownloadHandler, method: str, error: type[BrowserError]
) -> None:
    """They are loaded once more, where that does nothing twice."""
    hold = threading.Event()
    with Site({"/": Page(hold=hold), "/next": Page("fine")}) as site:
        loading = asyncio.ensure_future(handler.download_request(Request(site.url("/"), method=method)))
        await site.asked(1)
        handler._flooded()
        with pytest.raises(BrowserError) as raised:
            await loading
        assert type(raised.value) is error
        hold.set()
        assert "fine" in await text(handler, Request(site.url("/next")))


async def test_a_killed_browser_is_replaced(handler: BrowserDownloadHandler) -> None:
    hold = threading.Event()
    with Site({"/": Page(hold=hold), "/next": Page("fine")}) as site:
        loading = asyncio.ensure_future(handler.download_request(Request(site.url("/"))))
        await site.asked(1)
        os.kill(handler._lifecycle._chromium._pid or 0, signal.SIGKILL)
        with pytest.raises(BrowserError):
            await loading
        hold.set()
        assert "fine" in await text(handler, Request(site.url("/next")))

    assert handler.stats.get_value(names.BROWSER_RESTARTS.format("died")) == 1


async def test_a_frozen_browser_is_found_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(BROWSER_CHECK_SECONDS=600) as watched:
        with Site({"/": Page("fine")}) as site:
            await watched.download_request(Request(site.url("/")))
            os.kill(watched._lifecycle._chromium._pid or 0, signal.SIGSTOP)
            loading = asyncio.ensure_future(watched.download_request(Request(site.url("/"))))
            await looked(watched, monkeypatch)
            with pytest.raises(BrowserError):
                await loading
            assert "fine" in await text(watched, Request(site.url("/")))

        assert watched.stats.get_value(names.BROWSER_RESTARTS.format("hung")) == 1


async def test_a_frozen_driver_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(BROWSER_CHECK_SECONDS=600) as watched:
        with Site({"/": Page("fine")}) as site:
            await watched.download_request(Request(site.url("/")))
            driver = chromium.parent(watched._lifecycle._chromium._pid or 0) or 0
            os.kill(driver, signal.SIGSTOP)
            await looked(watched, monkeypatch)
            monkeypatch.setattr(chromium, "END_SECONDS", 0.5)
            await watched._lifecycle._end()
            monkeypatch.undo()
            assert "fine" in await text(watched, Request(site.url("/")))

        assert "State:\tT" not in state(driver)


async def looked(watched: BrowserDownloadHandler, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check that comes each BROWSER_CHECK_SECONDS, with little patience: others have it on a busy machine."""
    monkeypatch.setattr(chromium, "END_SECONDS", 0.5)
    await watched._lifecycle._look()
    monkeypatch.undo()


def state(pid: int) -> str:
    """What the system says of the process *pid*, if there is one."""
    try:
        return Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return ""


async def test_it_is_replaced_after_its_pages_and_contexts_after_theirs() -> None:
    async with opened(BROWSER_MAX_PAGES=3, BROWSER_CONTEXT_PAGES=2, BROWSER_CONCURRENCY=2) as short:
        with Site({"/": Page("fine")}) as site:
            urls = [f"{site.url('/')}?{number}" for number in range(4)]
            site.pages.update({f"/?{number}": Page("fine") for number in range(4)})
            await asyncio.gather(*(short.download_request(Request(url)) for url in urls))

        assert sorted(site.requested) == [f"/?{number}" for number in range(4)]
        counted = short.stats.get_stats()
        assert counted[names.BROWSER_RESTARTS.format("pages")] == 1
        assert counted["playwright/context_count"] == 3
        assert counted["playwright/page_count/max_concurrent"] <= 2


async def test_it_is_replaced_when_it_has_grown() -> None:
    greedy = "<script>window.kept = []; for (let i = 0; i < 40; i++) kept.push(new Uint8Array(8e6).fill(1))</script>fat"
    async with opened(BROWSER_CHECK_SECONDS=0.2, BROWSER_MEMORY_MB=350) as watched:
        with Site({"/": Page(greedy), "/next": Page("fine")}) as site:
            await asyncio.gather(watched.download_request(Request(site.url("/"))), return_exceptions=True)
            assert "fine" in await text(watched, Request(site.url("/next")))

        assert {"browser/restarts/memory", "browser/restarts/runaway"} & set(watched.stats.get_stats())
