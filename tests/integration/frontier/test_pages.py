"""Page limits of a host and of a run: exact, and for the most valuable pages."""

from __future__ import annotations

import random
from typing import Any

import pytest

from crawler.frontier.messages import PushOutcome
from tests.integration.frontier.harness import all_keys
from tests.integration.frontier.making import Timed, acked, handles, message, open_generation
from tests.integration.frontier.making import timed as opened

MANY: dict[str, Any] = {"cap": 100}
HOSTS = ("a.example", "b.example", "c.example")


async def cut(timed: Timed, generation: str = "0") -> dict[str, int]:
    return dict((await timed.frontier.inspection.stats("s")).cut.get(("s", generation), {}))


async def drain(timed: Timed, most: int = 100) -> list[int]:
    """All that is handed out, acknowledged page by page."""
    done: list[int] = []
    while (leases := await timed.lease(most)) or (await timed.frontier.inspection.stats("s")).total.queued:
        done += [int(lease.body) for lease in leases]
        await acked(timed.frontier, handles(leases))
    return done


async def test_a_host_gets_its_pages_and_the_rest_is_dropped_and_counted(redis_client: Any) -> None:
    timed = await opened(redis_client, queue_limit=1_000)
    for at, host in ((0, "a.example"), (400, "b.example")):
        await timed.frontier.push([message(at + n, host, pages_per_host=3, **MANY) for n in range(400)])
    assert len(await drain(timed)) == 6
    stats = await timed.frontier.inspection.stats("s")
    total = stats.total
    assert (total.queued, total.leased, total.done) == (0, 0, 6)
    assert total.accepted == total.done + total.dropped
    assert await cut(timed) == {"pages_per_host": total.dropped}
    assert await timed.frontier.push([message(999, "a.example", pages_per_host=3)]) == [PushOutcome.ACCEPTED]
    assert (await timed.frontier.inspection.stats("s")).total.queued == 0


async def test_what_is_kept_is_most_urgent_then_nearest_then_oldest(redis_client: Any) -> None:
    timed = await opened(redis_client)
    wanted = [(priority, depth) for priority in (5, 1, 0, -2) for depth in (0, 1, 7)]
    order = list(range(len(wanted)))
    random.Random(1).shuffle(order)
    for number in order:  # hours between them: who comes first is not who is kept
        priority, depth = wanted[number]
        await timed.frontier.push([message(number, priority=priority, depth=depth, pages_per_host=8, **MANY)])
        await timed.pass_ms(3 * 3_600_000)
    assert await drain(timed, 1) == list(range(8))
    assert await cut(timed) == {"pages_per_host": 4}


@pytest.mark.one_server("the share of each of several shards is another test's")
async def test_a_run_gets_its_pages_whatever_hosts_they_are_of(redis_client: Any) -> None:
    timed = await opened(redis_client)
    await timed.frontier.push([message(n, f"{n % 50}.example", pages=20, **MANY) for n in range(500)])
    assert len(await drain(timed, 7)) == 20
    stats = (await timed.frontier.inspection.stats("s")).total
    assert (stats.queued, stats.dropped) == (0, 480)
    assert await cut(timed) == {"pages": 480}


async def test_generations_have_limits_of_their_own(redis_client: Any) -> None:
    timed = await opened(redis_client)
    for n in range(10):
        await timed.frontier.push([message(n, pages_per_host=2, generation="1", **MANY)])
        await timed.frontier.push([message(n, generation="2", **MANY)])
    assert len(await drain(timed)) == 12
    assert (await cut(timed, "1"), await cut(timed, "2")) == ({"pages_per_host": 8}, {})


async def test_what_goes_back_into_the_queue_is_counted_back(redis_client: Any) -> None:
    timed = await opened(redis_client, lease_ms=10_000, start_within_ms=5_000)
    await timed.frontier.push([message(n, pages_per_host=2, **MANY) for n in range(4)])
    for _ in range(3):
        leases = await timed.lease(1)
        await timed.frontier.give_back(handles(leases))
        [lease] = await timed.lease(1)
        await timed.frontier.nack(lease.id, lease.token, delay_ms=0)
        [lease] = await timed.lease(1)
        await timed.frontier.nack(lease.id, lease.token, delay_ms=10)
        await timed.pass_ms(20)
        await timed.lease(1)
        await timed.frontier.shards.run_all("reap")
        for _ in range(5):
            await timed.pass_ms(4_000)
        await timed.frontier.shards.run_all("reap")
    done = await drain(timed, 1)
    assert len(done) == 2
    assert await cut(timed) == {"pages_per_host": 2}


async def test_a_delay_or_a_breaker_holds_up_no_drop_for_long(redis_client: Any) -> None:
    """A host with thousands over its limit is emptied a slice at a time, in no more calls than that takes."""
    timed = await opened(redis_client)
    for at in range(0, 2_000, 500):
        await timed.frontier.push([message(n, pages_per_host=1, delay_ms=1_000) for n in range(at, at + 500)])
    [lease] = await timed.lease(10)
    await acked(timed.frontier, handles([lease]))
    calls = 0
    while (await timed.frontier.inspection.stats("s")).total.queued:
        await timed.pass_ms(30_000)
        assert await timed.lease(10) == []
        calls += 1
    assert calls <= 9
    assert await cut(timed) == {"pages_per_host": 1_999}


async def test_the_latest_push_says_how_many_and_a_retired_run_leaves_nothing(redis_client: Any) -> None:
    timed = await opened(redis_client, retention_ms=60_000)
    await timed.frontier.push([message(n, pages_per_host=1, **MANY) for n in range(2)])
    await timed.frontier.push([message(9, pages_per_host=5, **MANY)])
    assert len(await drain(timed)) == 3
    await timed.frontier.push([message(n, **MANY) for n in range(20, 40)])
    assert len(await drain(timed)) == 20
    await open_generation(timed.frontier, "s")
    await timed.pass_ms(70_000)
    await timed.frontier.generations.tidy()
    keys = await all_keys(redis_client, "*:pages:*")
    assert keys == []


async def test_dead_letters_take_a_page_until_they_are_retried(redis_client: Any) -> None:
    timed = await opened(redis_client)
    await timed.frontier.push([message(n, pages_per_host=1, **MANY) for n in range(2)])
    [lease] = await timed.lease(1)
    await timed.frontier.bury(lease.id, lease.token, reason="x")
    assert await timed.lease(1) == []
    [letter] = await timed.frontier.dead.find("s")
    await timed.frontier.dead.retry([letter.id])
    assert len(await drain(timed)) == 1


@pytest.mark.one_server("the same script")
async def test_a_window_forgets_what_was_dropped(redis_client: Any) -> None:
    timed = await opened(redis_client, dedupe="window", window_s=60)
    await timed.frontier.push([message(n, pages_per_host=1, **MANY) for n in range(3)])
    assert len(await drain(timed)) == 1
    again = await timed.frontier.push([message(2, pages_per_host=2, **MANY)])
    assert again == [PushOutcome.ACCEPTED]
    assert len(await drain(timed)) == 1


class Chaos:
    """Does anything to a frontier with limits, and knows what was fetched."""

    def __init__(self, made: Timed, seed: int) -> None:
        self.timed, self.rng = made, random.Random(seed)
        self.of_host, self.of_run = self.rng.choice([3, 5]), self.rng.choice([0, 7, 9])
        self.host_of: dict[int, str] = {}
        self.held: dict[int, Any] = {}
        self.done: list[int] = []

    async def step(self) -> None:
        kinds = ("push", "lease", "lease", "ack", "ack", "give_back", "nack", "reap", "rest")
        await getattr(self, self.rng.choice(kinds))()

    async def push(self) -> None:
        for _ in range(self.rng.randrange(1, 6)):
            number = len(self.host_of)
            host = self.host_of[number] = self.rng.choice(HOSTS)
            limits: dict[str, Any] = {"pages_per_host": self.of_host, "pages": self.of_run, **MANY}
            await self.timed.frontier.push([message(number, host, depth=self.rng.randrange(3), **limits)])

    async def lease(self) -> None:
        self.held.update({int(lease.body): lease for lease in await self.timed.lease(self.rng.randrange(1, 5))})

    async def rest(self) -> None:
        await self.timed.pass_ms(self.rng.randrange(1_000))

    async def reap(self) -> None:
        for _ in range(6):
            await self.timed.pass_ms(4_000)
        await self.timed.frontier.shards.run_all("reap")
        self.held.clear()

    def one(self) -> tuple[int, list[Any]]:
        number = self.rng.choice(list(self.held))
        return number, handles([self.held.pop(number)])

    async def ack(self) -> None:
        if self.held:
            number, handle = self.one()
            assert await acked(self.timed.frontier, handle) == [True]
            self.done.append(number)

    async def give_back(self) -> None:
        if self.held:
            await self.timed.frontier.give_back(self.one()[1])

    async def nack(self) -> None:
        if self.held:
            await self.timed.frontier.nack(*self.one()[1][0], delay_ms=self.rng.choice([0, 50]))

    async def check(self) -> None:
        total = (await self.timed.frontier.inspection.stats("s")).total
        assert total.accepted == total.queued + total.leased + total.delayed + total.done + total.dropped
        under_way = [self.host_of[number] for number in (*self.held, *self.done)]
        assert max(map(under_way.count, HOSTS)) <= self.of_host
        assert not self.of_run or len(under_way) <= self.of_run


@pytest.mark.one_server("the share of each of several shards is another test's")
@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_no_page_goes_beyond_a_limit_and_none_is_left_out_below_it(
    redis_client: Any, seed: int
) -> None:
    chaos = Chaos(await opened(redis_client, lease_ms=20_000, start_within_ms=5_000), seed)
    for _ in range(60):
        await chaos.step()
        await chaos.check()
    await chaos.timed.frontier.give_back(handles(list(chaos.held.values())))
    chaos.held.clear()
    await chaos.timed.pass_ms(100)
    chaos.done += await drain(chaos.timed)
    await chaos.check()
    there = sum(min(chaos.of_host, list(chaos.host_of.values()).count(host)) for host in HOSTS)
    assert len(chaos.done) == min(chaos.of_run or there, there)
