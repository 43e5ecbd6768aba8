"""What an idle worker says, and how often."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from crawler.extensions import idle
from crawler.extensions.idle import REPEAT_SECONDS, TELL_SECONDS, IdleExtension
from crawler.frontier.inspection.waiting import WaitingHost


async def test_what_is_waited_for_is_told_anew_when_it_changes_and_seldom_while_it_is_the_same(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A host that is down for a night was a line each minute, of each worker."""
    monkeypatch.setattr(idle, "_held_back", AsyncMock(return_value=[]))
    caplog.set_level("INFO")
    now, hosts = 0.0, ["a.example"]
    crawler: Any = SimpleNamespace(engine=None)
    extension = IdleExtension(crawler, 0, clock=lambda: now)

    async def waiting(spider: str, most: int) -> list[WaitingHost]:
        return [WaitingHost(host, 1, "delayed", round(REPEAT_SECONDS - now)) for host in hosts]

    worker: Any = SimpleNamespace(frontier=SimpleNamespace(inspection=SimpleNamespace(waiting=waiting)))
    while now < REPEAT_SECONDS:
        await extension._tell(worker, "s")
        now += TELL_SECONDS
    assert len(caplog.messages) == 1
    await extension._tell(worker, "s")
    assert len(caplog.messages) == 2
    hosts.append("b.example")
    await extension._tell(worker, "s")
    assert "b.example (1 page" in caplog.messages[2]
