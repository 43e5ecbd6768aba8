"""After a failover nothing is leased until all workers know of it."""

from __future__ import annotations

import asyncio

from crawler.worker.pauses import Pauses
from crawler.worker.upkeep.failover_rest import FailoverRest


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


async def test_a_rest_ends_so_long_after_the_last_failover() -> None:
    pauses = Told()
    rest = FailoverRest(pauses, seconds=0.05)
    rest.begin()
    rest.begin()
    assert "other workers may still be with the old primary" in pauses.reason
    await asyncio.wait_for(pauses.over.wait(), 30)
    await asyncio.sleep(0.1)
    assert [bool(reason) for reason in pauses.reasons] == [True, True, False]
