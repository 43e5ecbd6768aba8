"""After a failover nothing is leased until all workers know of it."""

from __future__ import annotations

import asyncio

import pytest

from crawler.worker import pauses as worker_pauses
from crawler.worker.pauses import Pauses


class Told(Pauses):
    """Notes what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.reasons: list[str] = []
        self.over = asyncio.Event()

    def stop(self, owner: str, reason: str) -> None:
        super().stop(owner, reason)
        self.reasons.append(reason)
        if not reason:
            self.over.set()


async def test_a_rest_ends_so_long_after_the_last_failover(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pauses, "FAILOVER_SECONDS", 0.05)
    pauses = Told()
    pauses.failed_over()
    pauses.failed_over()
    assert "other workers may still be with the old primary" in pauses.reason
    await asyncio.wait_for(pauses.over.wait(), 30)
    await asyncio.sleep(0.1)
    assert [bool(reason) for reason in pauses.reasons] == [True, True, False]
