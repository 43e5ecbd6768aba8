"""How a worker takes its leave of Redis."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.worker import lifecycle
from crawler.worker.lifecycle import Lifecycle


@pytest.mark.parametrize(
    ("broken", "away", "signed_off"), [(False, False, True), (True, False, False), (False, True, False)]
)
async def test_it_signs_off_for_as_long_as_it_may_close_unless_redis_is_away(
    broken: bool, away: bool, signed_off: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """From far away it takes longer than LEAVE_SECONDS; given up, its run would stay open, and its last counts lost."""
    monkeypatch.setattr(lifecycle, "LEAVE_SECONDS", 0.0)
    done: list[str] = []

    async def last() -> None:
        await asyncio.sleep(0.01)
        done.append("signed off")

    leaving: Any = Lifecycle.__new__(Lifecycle)
    leaving.worker = SimpleNamespace(outbox=SimpleNamespace(broken=broken), outage=SimpleNamespace(on=away))
    leaving._maintenance = SimpleNamespace(last=last)
    await leaving._sign_off(asyncio.get_running_loop().time() + 60)
    assert bool(done) is signed_off
    assert ("Could not sign off in time" in caplog.text) is not signed_off
