"""How a tab is brought to a stop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crawler.handlers.browser import tab
from crawler.handlers.browser.tab import Tab


class FakePage:
    crash: Any

    def on(self, event: str, tell: Any) -> None:
        setattr(self, event, tell)


class FakeSession:
    """Of a tab that answers or not, and crashes where it is told to, or not."""

    def __init__(self, page: FakePage, *, answers: bool, crashes: bool) -> None:
        self.sent: list[str] = []
        self._page, self._answers, self._crashes = page, answers, crashes

    async def send(self, method: str, _: object = None) -> None:
        self.sent.append(method)
        if method == "Page.crash" and self._crashes:
            self._page.crash(self._page)
        if not self._answers:
            await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("answers", "crashes", "stops"), [(True, False, True), (False, True, True), (False, False, False)]
)
async def test_a_tab_that_does_not_stop_is_made_to_crash(
    monkeypatch: pytest.MonkeyPatch, answers: bool, crashes: bool, stops: bool
) -> None:
    monkeypatch.setattr(tab, "STILL_SECONDS", 0.01)
    told: list[int] = []
    page: Any = FakePage()
    session: Any = FakeSession(page, answers=answers, crashes=crashes)
    one = Tab(page, session, lambda: told.append(1))

    assert await one.stop() is stops
    assert session.sent[0] == "Emulation.setScriptExecutionDisabled"
    assert ("Page.crash" in session.sent) is not answers
    assert bool(told) is one.has_crashed is crashes


async def test_who_is_cancelled_meanwhile_leaves_no_failure_behind() -> None:
    """Whose traceback asyncio would log once it is collected."""
    page: Any = FakePage()
    session: Any = FakeSession(page, answers=False, crashes=False)
    stopping = asyncio.ensure_future(Tab(page, session, lambda: None).stop())
    for _ in range(2):  # for either task to begin
        await asyncio.sleep(0)
    assert session.sent
    stopping.cancel()
    await asyncio.wait({stopping})
    assert asyncio.all_tasks() == {asyncio.current_task()}
