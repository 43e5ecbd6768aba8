"""Rules in force: each request goes out under the strictest that a live worker states for its host now."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import HostState
from crawler.frontier.state.statement import MOST_NOTED, Statement
from crawler.policy.pace import Pace
from tests.integration.frontier.harness import CLOCK, all_keys
from tests.integration.frontier.making import Timed, acked, answer, asks_for, handles, message, reported, sent, timed

HOST = "a.example"
DIES_WITHIN_MS = 15_000


class Crew:
    """Two workers of one frontier, which state rules of their own."""

    def __init__(self, world: Timed) -> None:
        self.world = world
        self.others = [world.frontier]

    def states(
        self, delay_ms: int = 0, cap: int = 1, burst: int = 1, spider: str = "s", **exceptions: Pace
    ) -> Frontier:
        """Another worker with these rules, who has not said so yet."""
        config = FrontierConfig(shards=self.world.frontier.shards.count)
        worker = Frontier(self.world.client, config, rng=lambda: 0.0, replaced={"lib/clock": CLOCK})
        named = {name.replace("_", "."): pace for name, pace in exceptions.items()}
        worker.rules.statement = Statement(spider, Pace(delay_ms, cap, burst), named)
        return worker

    async def state(self) -> HostState:
        [state] = await self.world.frontier.inspection.hosts()
        return state

    async def live(self, ms: int, *workers: Frontier) -> None:
        """Time passes, in which these workers go on stating."""
        for _ in range(ms // 1_000):
            await self.world.pass_ms(1_000)
            for worker in workers:
                await worker.rules.state()


async def visit(worker: Frontier, stream: str = "s", status: int = 200) -> int:
    """How many requests a worker may send at this moment; all are answered at once."""
    leases = (await worker.lease([stream], 100, worker="w")).leases
    await sent(worker, handles(leases))
    await reported(worker, [answer(handle, status) for handle in handles(leases)])
    await acked(worker, handles(leases))
    return len(leases)


@pytest.fixture
async def crew(redis_client: Any) -> Crew:
    world = await timed(redis_client)
    await world.frontier.push([message(number, delay_ms=100) for number in range(200)])
    return Crew(world)


async def gap(crew: Crew, worker: Frontier) -> int:
    """ms from one request to the next, to 10 ms."""
    for passed in range(0, 20_000, 10):
        if await visit(worker):
            return passed
        await crew.world.pass_ms(10)
    raise AssertionError("no request in 20 s")


async def test_a_raised_delay_holds_for_the_next_request(crew: Crew) -> None:
    assert await visit(crew.states(100)) == 1
    strict = crew.states(1_000)
    assert await gap(crew, strict) == 1_000
    assert await gap(crew, strict) == 1_000


async def test_a_lowered_delay_holds_once_nobody_states_the_old_one(crew: Crew) -> None:
    old, new = crew.states(1_000), crew.states(100)
    assert await visit(old) == 1
    assert await gap(crew, new) == 1_000, "the strictest wins while the two disagree"
    await crew.live(DIES_WITHIN_MS, new)
    assert await visit(new) == 1
    assert await gap(crew, new) == 100


async def test_a_lowered_delay_is_not_remembered_as_what_the_host_allows(crew: Crew) -> None:
    """A host that had refused a request before kept it for a minute and more, as if it had refused faster ones."""
    strict, lax = crew.states(900), crew.states(100)
    for status in (200, 429):
        assert await visit(lax, status=status) == 1
        await crew.world.pass_ms(120)
    learned = (await crew.state()).delay_ms
    assert 110 < learned < 120
    for _ in range(3):
        await gap(crew, strict)
    assert (await crew.state()).delay_ms == 900
    await crew.live(DIES_WITHIN_MS, lax)
    assert await visit(lax) == 1
    assert (await crew.state()).delay_ms <= learned


async def test_a_long_delay_is_lowered_before_it_is_over(crew: Crew) -> None:
    old, new = crew.states(3_600_000), crew.states(100)
    assert await visit(old) == 1
    assert await visit(new) == 0
    for second in range(DIES_WITHIN_MS // 1_000):
        await crew.live(1_000, new)
        if await visit(new):
            assert second >= 8, "not while the other may be alive"
            return
    raise AssertionError("the delay of a worker that is gone is in force for ever")


async def test_a_worker_that_goes_on_stating_is_obeyed_for_as_long(crew: Crew) -> None:
    strict, lax = crew.states(5_000), crew.states(100)
    assert await visit(strict) == 1
    for _ in range(8):
        await crew.live(4_000, strict, lax)
        assert await visit(lax) == 0
        await crew.live(1_000, strict, lax)
        assert await visit(lax) == 1


async def test_a_lowered_cap_holds_for_the_next_request(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, cap=8) for number in range(40)])
    crew = Crew(world)
    first = (await crew.states(cap=8).lease(["s"], 100, worker="w")).leases
    assert len(first) == 8
    strict = crew.states(cap=1)
    for left in range(7, -1, -1):
        assert (await strict.lease(["s"], 100, worker="w")).leases == []
        await reported(strict, [answer(handles(first)[left])])
    assert len((await strict.lease(["s"], 100, worker="w")).leases) == 1


@pytest.mark.parametrize("wish", [{"delay_ms": 0, "cap": 100}, {"delay_ms": 60_000, "cap": 1}])
async def test_what_a_push_wishes_does_not_change_what_workers_state(crew: Crew, wish: dict[str, Any]) -> None:
    worker = crew.states(1_000)
    assert await visit(worker) == 1
    await crew.world.frontier.push([message(1_000, **wish)])
    state = await crew.state()
    assert (state.delay_ms, state.cap) == (1_000, 1)
    assert await gap(crew, worker) == 1_000


async def test_a_spider_binds_the_hosts_that_it_has_work_on_and_no_other(crew: Crew) -> None:
    await crew.world.frontier.push([message(1, "b.example", "t")])
    strict, lax = crew.states(5_000, spider="t"), crew.states(100)
    assert await visit(strict, "t") == 1
    assert await visit(lax) == 1
    assert await gap(crew, lax) == 100
    await crew.world.frontier.push([message(2, HOST, "t")])
    assert await gap(crew, lax) == 5_000


async def test_exceptions_are_stated_by_host_and_by_domain(redis_client: Any) -> None:
    world = await timed(redis_client)
    hosts = ("shop.example", "www.shop.example", "old.shop.example", "shop.example.org")
    await world.frontier.push([message(at, host) for at, host in enumerate(hosts)])
    crew = Crew(world)
    paces = {"shop.example": Pace(2_000, 1, 1), "=old.shop.example": Pace(4_000, 2, 1)}
    worker = crew.states(100)
    worker.rules.statement = Statement("s", Pace(100, 1, 1), paces)
    assert await visit(worker) == 4
    await world.frontier.push([message(10 + at, host) for at, host in enumerate(hosts)])
    assert {state.host: (state.delay_ms, state.cap) for state in await world.frontier.inspection.hosts()} == {
        "shop.example": (2_000, 1),
        "www.shop.example": (2_000, 1),
        "old.shop.example": (4_000, 2),
        "shop.example.org": (100, 1),
    }


async def test_a_rule_that_only_a_request_knows_is_stated_before_it_is_stored(crew: Crew) -> None:
    worker = crew.states(100)
    await worker.push([message(at, "slot", delay_ms=3_000, dedupe=False) for at in (1, 2)])
    assert await visit(worker) == 2
    await crew.world.pass_ms(2_990)
    assert await visit(worker) == 1, "not of the slot"
    assert len(await redis_names(crew)) == 1
    statement = worker.rules.statement
    assert statement is not None
    noted = [statement.note(f"slot {number}", Pace(60_000, 1, 1)) for number in range(MOST_NOTED + 10)]
    assert sum(noted) == MOST_NOTED - 1, "they are bounded"


async def redis_names(crew: Crew) -> list[bytes]:
    [key] = await all_keys(crew.world.client, "*:rules:*")
    names: list[bytes] = await crew.world.client.hkeys(key)
    return names


async def test_thousands_of_exceptions_are_stated_once_for_all_workers(redis_client: Any) -> None:
    world = await timed(redis_client)
    many = {f"={number}.example": Pace(number, 1, 1) for number in range(3_000)}
    for _ in range(2):
        world.frontier.rules.statement = stated = Statement("s", Pace(0, 1, 1), many)
        await world.frontier.rules.state()
    assert await redis_client.zcard(world.frontier.shards.key(0, "rules")) == 1
    assert await redis_client.hlen(world.frontier.shards.key(0, f"rules:{stated.digest}")) == 3_000


async def test_what_is_stated_outlives_a_loss_of_the_data(crew: Crew) -> None:
    worker = crew.states(1_000, a_example=Pace(2_000, 1, 1))
    assert await visit(worker) == 1
    for key in await all_keys(crew.world.client, "*:rules*"):
        await crew.world.client.delete(key)
    assert await gap(crew, worker) == 2_000


async def test_statements_do_not_pile_up(crew: Crew) -> None:
    for delay_ms in range(100, 1_000, 100):
        await crew.states(delay_ms).rules.state()
        await crew.world.pass_ms(6_000)
    assert await crew.world.client.zcard(crew.world.frontier.shards.key(0, "rules")) <= 3


async def test_a_crawl_delay_is_in_force_while_anybody_obeys_robots_txt(crew: Crew) -> None:
    obeys, lax = crew.states(100), crew.states(100)
    lax.rules.statement = Statement("s", Pace(100, 1, 1), {}, obeys_robots=False)
    assert await visit(obeys) == 1
    await asks_for(obeys, HOST, f"http://{HOST}", 2_000)
    assert await gap(crew, obeys) == 2_000
    assert await gap(crew, lax) == 2_000
    await crew.live(DIES_WITHIN_MS, lax)
    assert await visit(lax) == 1
    assert await gap(crew, lax) == 100
    assert await gap(crew, obeys) == 2_000


async def test_what_bypasses_the_queue_keeps_the_rules_too(crew: Crew) -> None:
    strict, lax = crew.states(1_000), crew.states(100)
    assert await visit(strict) == 1
    take = await lax.reserve_slot(HOST, delay_ms=100, worker="w")
    assert take.wait_ms == 1_000


async def test_a_turn_that_was_asked_for_under_a_longer_delay_holds_no_host(redis_client: Any) -> None:
    """A robots.txt, say, was to be fetched in an hour: the pages waited for that when the delay was a second."""
    world = await timed(redis_client)
    frontier = world.frontier
    frontier.rules.statement = Statement("s", Pace(3_600_000, 1, 1), {})
    await frontier.rules.state()
    await frontier.push([message(1, delay_ms=3_600_000)])
    first = await frontier.reserve_slot("a.example", worker="w")
    assert first.token is not None
    await reported(frontier, [answer(first.token)])
    assert (await frontier.reserve_slot("a.example", worker="w")).wait_ms == 3_600_000
    frontier.rules.statement = Statement("s", Pace(1_000, 1, 1), {})
    await frontier.rules.state()
    for _ in range(8):
        await world.pass_ms(4_000)
        await frontier.rules.state()
        await world.bodies()
    assert (await frontier.inspection.stats()).total.leased == 1
