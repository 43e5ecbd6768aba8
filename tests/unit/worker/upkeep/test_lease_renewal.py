"""Which leases are renewed, and what becomes of those that are lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

from scrapy import Request

from crawler.frontier.messages import Handle
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.pauses import Pauses
from crawler.worker.upkeep.lease_renewal import LeaseRenewal
from tests.unit.frontier.fakes import held

ENDING, WAITING = ("0:8", 8), ("0:9", 9)


class Frontier:
    """Knows all leases but the *lost*; shard 1 is away."""

    config = SimpleNamespace(hard_cap_ms=900_000)
    shards = SimpleNamespace(has=lambda handle: handle[0].startswith("0:"))

    def __init__(self, *lost: Handle) -> None:
        self.lost = lost
        self.asked: list[tuple[list[Handle], dict[str, bool]]] = []

    async def renew(self, handles: list[Handle], **how: bool) -> list[bool]:
        self.asked.append((handles, how))
        return [handle not in self.lost for handle in handles]


async def test_what_is_in_hand_and_what_waits_is_renewed_where_its_shard_is_there() -> None:
    mine, gone, away = held(1), held(2), held(3)
    away.lease = away.lease._replace(id="1:3")
    book = LeaseBook()
    for lease in (mine, gone, away):
        book.hold(Request("http://a.example/"), lease)
    frontier: Any = Frontier(gone.handle, WAITING)
    new = SimpleNamespace(children=SimpleNamespace(refused=True))
    outbox: Any = SimpleNamespace(ending=lambda: [ENDING], waiting=[WAITING], new=new, abandon=Mock())
    pauses = Pauses()
    pauses.stop("storage", "MongoDB is away")
    await LeaseRenewal(frontier, book, outbox, pauses).renew()
    assert frontier.asked == [
        ([mine.handle, gone.handle, ENDING], {"suspended": True}),
        ([WAITING], {"for_room": True}),
    ]
    assert [lease.lost for lease in (mine, gone, away)] == [False, True, False]
    assert [call.args for call in outbox.abandon.call_args_list] == [(WAITING,)]
