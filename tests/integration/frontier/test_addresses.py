"""POLITENESS_GROUP = "ip": hosts with the same address are paced as one."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from crawler.frontier.messages import Lease
from crawler.frontier.runs.control import Target
from crawler.frontier.state.statement import Statement
from crawler.policy.pace import Pace
from tests.integration.frontier.making import Timed, acked, answer, handles, message, reported, sent, timed

DELAY_MS = 1_000
HOUR_MS = 3_600_000
A, B, C = "192.0.2.1", "192.0.2.2", "192.0.2.3"


class Platform:
    """A frontier in that mode, whose look-ups are answered from *where*; remembers when each address was asked."""

    def __init__(self, made: Timed, *, cap: int = 1, delay_ms: int = DELAY_MS) -> None:
        self.made = made
        self.frontier = made.frontier
        self.frontier.rules.statement = Statement("s", Pace(delay_ms, cap, 1), {}, by_address=True)
        self.where: Mapping[str, Sequence[str]] = {}
        self.asked: dict[str, list[int]] = defaultdict(list)
        self.looked_up = self.stated = 0

    async def lease(self, limit: int = 100) -> list[Lease]:
        batch = await self.frontier.lease(["s"], limit, worker="w")
        if batch.sought:
            self.looked_up += len(batch.sought)
            await self.frontier.addresses.tell({host: self.where.get(host, ()) for host in batch.sought}, HOUR_MS)
            return batch.leases + await self.lease(limit)
        return batch.leases

    async def send(self, leases: Sequence[Lease]) -> None:
        for lease in leases:
            self.asked[next(iter(self.where.get(lease.host, ())), lease.host)].append(self.made.now)
        await sent(self.frontier, handles(leases))

    async def end(self, leases: Sequence[Lease], status: int = 200, **fields: Any) -> None:
        reports = [answer(handle, status, **fields) for handle in handles(leases)]
        await self.frontier.settle(reports=reports, acks=handles(leases))

    async def fetch(self) -> list[str]:
        leases = await self.lease()
        await self.send(leases)
        await self.end(leases)
        return sorted(lease.host for lease in leases)

    async def pass_ms(self, ms: int) -> None:
        await self.made.pass_ms(ms)
        if self.made.now - self.stated >= 4_000:
            self.stated = self.made.now
            await self.frontier.rules.state()

    def shortest_gap(self) -> int:
        return min(later - one for asked in self.asked.values() for one, later in pairwise(asked))


@pytest.fixture
async def platform(redis_client: Any) -> Platform:
    return Platform(await timed(redis_client))


@pytest.mark.one_server
async def test_a_thousand_hosts_on_three_addresses_while_one_moves(platform: Platform) -> None:
    rng = random.Random(7)
    names = [f"h{number}.example" for number in range(1_000)]
    platform.where = {name: ((A, B, C)[number % 3],) for number, name in enumerate(names)}
    await platform.frontier.push([message(number, name) for number, name in enumerate(names)])
    mover = names[0]
    await platform.frontier.push([message(2_000 + number, mover, priority=1_000) for number in range(20)])
    on_the_wire: list[Lease] = []
    fetched, moves = 0, 0
    while fetched < 1_020:
        leases = await platform.lease()
        if moves < 6 and fetched >= 6 * moves and (moves % 2 or any(lease.host == mover for lease in on_the_wire)):
            moves += 1  # now and then while a request is under way
            platform.where = {**platform.where, mover: ((A, B, C)[moves % 3],)}
            await platform.frontier.addresses.tell({mover: platform.where[mover]}, HOUR_MS)
            await platform.frontier.give_back(handles([lease for lease in leases if lease.host == mover]))
            leases = [lease for lease in leases if lease.host != mover]
        late = [lease for lease in leases if rng.random() < 0.1]
        await platform.send([lease for lease in leases if lease not in late])
        on_the_wire += [lease for lease in leases if lease not in late]
        if late:
            await platform.pass_ms(300)
            await platform.send(late[:1])
            on_the_wire += late[:1]
            await platform.frontier.give_back(handles(late[1:]))
        done = [lease for lease in on_the_wire if rng.random() < 0.7]
        on_the_wire = [lease for lease in on_the_wire if lease not in done]
        await platform.end(done)
        fetched += len(done)
        await platform.pass_ms(rng.choice((300, 1_000, 1_000, 1_000, 1_000)))
    assert moves == 6
    assert platform.shortest_gap() >= DELAY_MS
    assert sum(len(asked) for asked in platform.asked.values()) == 1_020
    assert platform.looked_up == 1_000
    assert platform.made.now - min(map(min, platform.asked.values())) < 3 * 340 * DELAY_MS


async def test_nothing_is_sent_before_somebody_has_looked(platform: Platform) -> None:
    await platform.frontier.push([message(number, f"h{number}.example") for number in range(3)])
    batch = await platform.frontier.lease(["s"], 10, worker="w")
    assert batch.leases == []
    assert sorted(batch.sought) == ["h0.example", "h1.example", "h2.example"]
    assert batch.next_due_ms is not None
    again = await platform.frontier.lease(["s"], 10, worker="w")
    assert again.sought == []  # somebody is asked already
    await platform.pass_ms(5_000)
    assert len((await platform.frontier.lease(["s"], 10, worker="w")).sought) == 3  # who died


async def test_hosts_of_shards_that_are_there_are_told(redis_client: Any) -> None:
    frontier = (await timed(redis_client, shards=3)).frontier
    found = {f"{number}.example": [A] for number in range(30)}
    frontier.shards.away.add(1)
    told = await frontier.addresses.tell(found, HOUR_MS)
    assert set(told) == {host for host in found if frontier.shards.of_host(host) != 1}


async def test_hosts_without_an_address_stand_alone(platform: Platform) -> None:
    platform.where = {"a.example": (A,), "b.example": (A,)}
    names = ["a.example", "b.example", "c.example", "d.example"]
    await platform.frontier.push([message(number, name) for number, name in enumerate(names)])
    first = await platform.fetch()
    assert set(first) > {"c.example", "d.example"}
    assert len(first) == 3
    await platform.pass_ms(DELAY_MS)
    assert len(await platform.fetch()) == 1


async def test_a_complaint_slows_the_whole_address(platform: Platform) -> None:
    platform.where = dict.fromkeys(["a.example", "b.example"], (A,)) | {"c.example": (B,)}
    await platform.frontier.push(
        [message(10 * at + number, name) for at, name in enumerate(platform.where) for number in range(5)]
    )
    leases = await platform.lease()
    await platform.send(leases)
    await platform.end(leases, 429, retry_after_ms=60_000)
    for _ in range(50):
        await platform.pass_ms(1_000)
        assert await platform.fetch() == []
    await platform.pass_ms(20_000)
    assert await platform.fetch() != []


async def test_a_broken_host_stops_no_other_on_its_address(redis_client: Any) -> None:
    platform = Platform(await timed(redis_client, breaker_faults=2))
    platform.where = dict.fromkeys(["a.example", "b.example"], (A,))
    await platform.frontier.push([message(number, "a.example") for number in range(9)])
    for _ in range(3):
        leases = await platform.lease()
        await platform.send(leases)
        await reported(platform.frontier, [answer(handle, 0, fault=True) for handle in handles(leases)])
        await acked(platform.frontier, handles(leases))
        await platform.pass_ms(DELAY_MS)
    await platform.frontier.push([message(20 + number, "b.example") for number in range(3)])
    fetched = []
    for _ in range(4):
        fetched += await platform.fetch()
        await platform.pass_ms(DELAY_MS)
    assert fetched.count("b.example") == 3


async def test_a_slot_beside_the_queue_is_one_of_the_address(platform: Platform) -> None:
    platform.where = dict.fromkeys(["a.example", "b.example"], (A,))
    await platform.frontier.push([message(number, name) for number, name in enumerate(platform.where)])
    [lease] = await platform.lease()
    await platform.send([lease])
    await platform.end([lease])
    other = "b.example" if lease.host == "a.example" else "a.example"
    slot = await platform.frontier.reserve_slot(other, delay_ms=DELAY_MS)
    assert 0 < slot.wait_ms <= DELAY_MS
    await platform.pass_ms(DELAY_MS)
    assert await platform.lease() == []  # it is kept for the one who waits
    slot = await platform.frontier.reserve_slot(other, delay_ms=DELAY_MS)
    assert slot.token is not None
    await reported(platform.frontier, [answer(slot.token)])
    assert await platform.lease() == []
    await platform.pass_ms(DELAY_MS)
    assert await platform.fetch() == [other]


async def test_an_urgent_host_goes_before_the_others_in_line(platform: Platform) -> None:
    names = [f"h{number}.example" for number in range(50)]
    platform.where = dict.fromkeys([*names, "urgent.example"], (A,))
    await platform.frontier.push([message(number, name) for number, name in enumerate(names)])
    await platform.frontier.push([message(98, names[-1])])
    for _ in range(3):
        await platform.fetch()
        await platform.pass_ms(DELAY_MS)
    await platform.frontier.push([message(99, names[-2], priority=1_000)])
    await platform.frontier.push([message(100, "urgent.example", priority=1_000)])
    fetched = []
    for _ in range(3):
        fetched += await platform.fetch()
        await platform.pass_ms(DELAY_MS)
    assert {"urgent.example", names[-2]} <= {*fetched}


async def test_what_was_looked_up_is_looked_up_again_and_goes_on_meanwhile(platform: Platform) -> None:
    platform.where = {"a.example": (A,)}
    await platform.frontier.push([message(number, "a.example") for number in range(4)])
    assert await platform.fetch() == ["a.example"]
    await platform.pass_ms(HOUR_MS + 1)
    batch = await platform.frontier.lease(["s"], 10, worker="w")
    assert batch.sought == ["a.example"]
    assert [lease.host for lease in batch.leases] == ["a.example"]
    assert batch.addresses == {"a.example": f"ip:{A}"}


async def test_an_address_is_kept_while_it_is_among_several(platform: Platform) -> None:
    tell = platform.frontier.addresses.tell
    assert await tell({"a.example": [A, B]}, HOUR_MS) == {"a.example": f"ip:{A}"}
    assert await tell({"a.example": [B, A]}, HOUR_MS) == {"a.example": f"ip:{A}"}
    assert await tell({"a.example": [B, C]}, HOUR_MS) == {"a.example": f"ip:{B}"}
    assert await platform.frontier.addresses.of("a.example") == f"ip:{B}"
    assert await tell({"a.example": []}, HOUR_MS) == {"a.example": ""}
    assert await platform.frontier.addresses.of("a.example") == ""


async def test_nothing_is_left_of_hosts_that_are_forgotten(platform: Platform) -> None:
    platform.where = dict.fromkeys(["a.example", "b.example"], (A,))
    await platform.frontier.push([message(number, name) for number, name in enumerate(platform.where)])
    for _ in range(3):
        await platform.fetch()
        await platform.pass_ms(DELAY_MS)
    await platform.pass_ms(30 * 24 * HOUR_MS)
    for _ in range(5):
        await platform.frontier.generations.sweep()
    left = [key async for key in platform.made.client.scan_iter("*")] if not platform.frontier.shards.on_cluster else []
    assert not [key for key in left if b":address" in key or b":line:" in key or key.endswith(b":hosts")]


async def test_a_host_that_moved_waits_for_its_last_request(platform: Platform) -> None:
    platform.where = {"a.example": (A,), "b.example": (B,)}
    await platform.frontier.push([message(number, "a.example") for number in range(2)])
    assert await platform.fetch() == ["a.example"]  # it may have been answered at the new address already
    await platform.frontier.addresses.tell({"a.example": [B]}, HOUR_MS)
    await platform.frontier.push([message(9, "b.example")])
    assert await platform.fetch() == []
    await platform.pass_ms(DELAY_MS - 1)
    assert await platform.fetch() == []
    await platform.pass_ms(1)
    assert len(await platform.fetch()) == 1


async def test_slots_move_with_their_host(redis_client: Any) -> None:
    platform = Platform(await timed(redis_client), cap=2, delay_ms=0)
    platform.where = dict.fromkeys(["a.example", "b.example", "c.example"], (A,))
    for at, name in enumerate(platform.where):
        await platform.frontier.push([message(10 * at + number, name, cap=8) for number in range(4)])
    leases = await platform.lease()
    assert len(leases) == 2
    mover = leases[0].host
    moved = [lease for lease in leases if lease.host == mover]
    await platform.frontier.addresses.tell({mover: [B]}, HOUR_MS)
    assert len(await platform.lease()) == 2  # of A as many as have left it, of B what is left of its two
    await platform.end(moved)
    assert len(await platform.lease()) == len(moved)


async def test_operators_reach_hosts_in_line(platform: Platform) -> None:
    names = [f"h{number}.example" for number in range(10)]
    platform.where = dict.fromkeys(names, (A,))
    await platform.frontier.push([message(number, name) for number, name in enumerate(names)])
    await platform.fetch()
    assert len({one.host for one in await platform.frontier.inspection.hosts("s")}) == 9
    assert await platform.frontier.control.sift(Target("s"), "drop", "purged") == 9
    for _ in range(3):
        await platform.pass_ms(DELAY_MS)
        assert await platform.fetch() == []
    assert (await platform.frontier.inspection.stats()).waiting_hosts == 0


async def test_another_mode_works_off_the_lines(platform: Platform) -> None:
    names = [f"h{number}.example" for number in range(5)]
    platform.where = dict.fromkeys(names, (A,))
    await platform.frontier.push([message(number, name) for number, name in enumerate(names)])
    fetched = await platform.fetch()
    platform.frontier.rules.statement = Statement("s", Pace(DELAY_MS, 1, 1), {})
    for _ in range(20):
        await platform.pass_ms(DELAY_MS)
        fetched += await platform.fetch()
    assert sorted(fetched) == names


async def test_damage_costs_only_itself(platform: Platform) -> None:
    names = [f"h{number}.example" for number in range(5)]
    platform.where = dict.fromkeys(names, (A,))
    await platform.frontier.push([message(number, name) for number, name in enumerate(names)])
    fetched = await platform.fetch()
    key, client = platform.frontier.shards.key, platform.made.client
    await client.hset(key(0, "address"), names[1], b"?")
    await client.hset(key(0, "hosts"), f"ip:{A}", b"?")
    for _ in range(10):
        await platform.pass_ms(DELAY_MS)
        fetched += await platform.fetch()
    await client.set(key(0, "address"), b"?")
    await platform.frontier.push([message(9, "z.example")])
    for _ in range(20):
        await platform.pass_ms(DELAY_MS)
        fetched += await platform.fetch()
    assert sorted(fetched) == [*names, "z.example"]


async def test_who_stands_in_line_is_not_taken_for_lost(platform: Platform, redis_client: Any) -> None:
    """sweep compares the counters with the queues of all hosts, and files those that are in no set or line."""
    names = [f"h{number}.example" for number in range(6)]
    platform.where = dict.fromkeys(names, (A,))
    await platform.frontier.push([message(number, name) for number, name in enumerate(names)])
    assert len(await platform.fetch()) == 1
    key = platform.frontier.shards.key(0, "line:s::ip:" + A)
    assert await redis_client.zcard(key) == 5
    await platform.frontier.generations.tidy()
    total = (await platform.frontier.inspection.stats()).total
    assert (total.queued, total.dropped) == (5, 0)
    assert not await redis_client.exists(platform.frontier.shards.key(0, "damaged"))
    await redis_client.delete(key)
    await platform.frontier.generations.tidy()
    for _ in range(6):
        await platform.pass_ms(DELAY_MS)
        await platform.fetch()
    assert (await platform.frontier.inspection.stats()).total.done == 6


@pytest.mark.one_server
async def test_a_host_is_said_to_wait_for_its_address(platform: Platform) -> None:
    platform.where = {"a.example": (A,), "b.example": (A,)}
    await platform.frontier.push([message(1, "a.example"), message(2, "b.example")])
    [first] = await platform.fetch()
    [other] = {"a.example", "b.example"} - {first}
    told = await platform.frontier.inspection.host(other)
    assert (told.address, told.waits_ms) == (f"ip:{A}", DELAY_MS)
