"""What a worker does about addresses: it looks up, tells the fleet, and notices moves before it sends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.exceptions import CannotResolveHostError

from crawler.policy.shared_addresses import SharedAddresses
from crawler.worker.turns.addresses import AT_ONCE, AddressBook
from tests.clock import Clock
from tests.unit.frontier.fakes import Outage

A, B = "192.0.2.1", "192.0.2.2"


class Around:
    """A book, its resolver and its frontier."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.where: dict[str, list[str]] = {}
        self.asked: list[str] = []
        self.told: list[dict[str, Sequence[str]]] = []
        self.away: set[str] = set()  # hosts of shards that are
        self.woken = 0
        self.free = asyncio.Event()
        self.free.set()
        self.ended: list[asyncio.Task[None]] = []
        rules: Any = SimpleNamespace(by_address=True, is_named_group=lambda host: host == "platform")
        fleet: Any = self
        outage: Any = Outage()
        shared, ended = SharedAddresses(), self.ended.append
        self.book = AddressBook(fleet, rules, outage, shared, self._wake, ended, 900, self.clock)
        self.book.resolve = self._resolve

    def _wake(self) -> None:
        self.woken += 1

    async def _resolve(self, host: str) -> list[str]:
        self.asked.append(host)
        await self.free.wait()
        if host not in self.where:
            raise CannotResolveHostError(host)
        return self.where[host]

    async def tell(self, found: Mapping[str, Sequence[str]], holds_ms: int) -> dict[str, str]:
        assert holds_ms == 900_000
        self.told.append(dict(found))
        await asyncio.sleep(0)
        there = {host: addresses for host, addresses in found.items() if host not in self.away}
        return {host: f"ip:{addresses[0]}" if addresses else "" for host, addresses in there.items()}

    async def settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)
        assert [task.exception() for task in self.ended] == [None] * len(self.ended)


@pytest.fixture
async def around() -> Around:
    return Around()


async def test_what_is_sought_is_looked_up_once_and_told_in_batches(around: Around) -> None:
    around.where = {"a.example": [A], "b.example": [B, A]}
    around.free.clear()
    around.book.seek(["a.example", "b.example", "gone.example", "platform"])
    around.book.seek(["a.example", "b.example"])
    await around.settle()
    assert around.told[0] == {"platform": ()}  # its name is no host's
    around.free.set()
    await around.settle()
    assert {host: at for told in around.told for host, at in told.items()} == {
        "platform": (),
        "a.example": (A,),
        "b.example": (A, B),
        "gone.example": (),
    }
    assert sorted(around.asked) == ["a.example", "b.example", "gone.example"]
    assert len(around.told) <= 3
    assert around.woken == len(around.told)


async def test_slow_name_servers_hold_a_bounded_number(around: Around) -> None:
    around.free.clear()
    around.book.seek([f"h{number}.example" for number in range(2 * AT_ONCE)])
    await around.settle()
    assert len(around.asked) == AT_ONCE
    await around.book.close()
    around.free.set()
    assert around.told == []


async def test_a_request_beside_the_queue_waits_until_the_fleet_knows(around: Around) -> None:
    around.where = {"a.example": [A]}
    await around.book.ensure("a.example")
    assert around.told == [{"a.example": (A,)}]
    await around.book.ensure("a.example")
    assert len(around.told) == 1
    around.clock.now += 901
    await around.book.ensure("a.example")
    assert len(around.told) == 2


async def test_hosts_of_a_shard_that_is_away_are_told_once_it_is_back_and_hold_up_no_other(
    around: Around, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.worker.turns.addresses.AGAIN_SECONDS", 0.01)
    around.where, around.away = {"a.example": [A], "b.example": [B]}, {"a.example"}
    waiting = asyncio.create_task(around.book.ensure("a.example"))
    await asyncio.sleep(0.05)
    assert len(around.told) < 10
    await asyncio.wait_for(around.book.ensure("b.example"), 60)
    assert not waiting.done()
    around.away.clear()
    await asyncio.wait_for(waiting, 60)
    await around.settle()


async def test_a_host_that_has_moved_is_not_asked_under_its_old_turn(around: Around) -> None:
    around.book.learn({"a.example": f"ip:{A}"})
    assert not around.book.is_moving("a.example", f"ip:{A}")
    around.book.answered("a.example", [B, A])  # one of several
    assert not around.book.is_moving("a.example", f"ip:{A}")
    around.book.answered("a.example", [B])
    assert around.book.is_moving("a.example")
    await around.settle()
    assert around.told == [{"a.example": (B,)}]
    assert not around.book.is_moving("a.example")
    assert not around.book.is_moving("a.example", f"ip:{B}")
    assert around.book.is_moving("a.example", f"ip:{A}")  # leased before
    around.book.answered("new.example", [B])  # nobody was paced by anything
    assert not around.book.is_moving("new.example")
