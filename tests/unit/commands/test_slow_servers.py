"""What a command waits for at its start."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler import embedded
from crawler.frontier import command_session
from crawler.storage import connection
from tests.shipped import shipped

Session = Callable[[Settings], AbstractAsyncContextManager[Any]]


@pytest.mark.parametrize("session", [command_session.session, connection.session])
async def test_a_bundled_server_that_starts_slowly_does_not_hold_up_ctrl_c(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the event loop it did: Ctrl-C was heard minutes later, and a second one was a traceback."""
    began, is_ready = threading.Event(), threading.Event()

    def ensure(*_: Any, **__: Any) -> embedded.Endpoints:
        began.set()
        is_ready.wait(60)
        return embedded.Endpoints()

    async def enter() -> None:
        async with session(shipped(REDIS_URL="", MONGODB_URI="")):
            pass

    monkeypatch.setattr(embedded, "ensure", ensure)
    waiting = asyncio.create_task(enter())
    assert await asyncio.to_thread(began.wait, 60)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not is_ready.is_set()
    is_ready.set()
