"""A tab: whether it has crashed, and how what its page does is brought to a stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from playwright.async_api import CDPSession, Page

from crawler.utils import tasks

STILL_SECONDS: Final = 1.0  # for a tab to stop its scripts, or to crash


class Tab:
    """That of *page*, spoken to through *session*. *crashed* is called when it crashes: out of memory, say."""

    def __init__(self, page: Page, session: CDPSession, crashed: Callable[[], None]) -> None:
        self._session = session
        self._told = crashed
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        page.on("crash", self._crashed)

    @property
    def has_crashed(self) -> bool:
        """Known a moment after Chromium has said that the page stopped loading."""
        return self._end.done()

    async def stop(self) -> bool:
        """Have no script run any more; returns whether that is so. A tab that does not answer, as one that goes
        elsewhere all the time on a busy machine, is made to crash, which Chromium refuses in the middle of that.

        Known weakness: tabs of one site and context may share a process, and then crash together.
        """
        if await self._in_time(self._stop_scripts()):
            return True
        await self._in_time(self._session.send("Page.crash"))  # has no answer but the crash
        return self.has_crashed

    async def _stop_scripts(self) -> None:
        await self._session.send("Emulation.setScriptExecutionDisabled", {"value": True})
        await self._session.send("Page.stopLoading")

    async def _in_time(self, stopping: Coroutine[Any, Any, Any]) -> bool:
        """Whether *stopping* came to an end, the tab's own included."""
        task, first = asyncio.ensure_future(stopping), asyncio.FIRST_COMPLETED
        try:
            return bool((await asyncio.wait({task, self._end}, timeout=STILL_SECONDS, return_when=first))[0])
        finally:
            await tasks.finished(task)

    def _crashed(self, _: Page) -> None:
        if not self._end.done():
            self._end.set_result(None)
            self._told()
