"""What the fleet knows of robots.txt: fetched by one worker at a time, remembered for all, and not for ever."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from crawler.frontier.server.shards import pack
from crawler.frontier.state.robots import CachedRobots, FetchTask
from crawler.policy.robots.responses import RobotsVerdict
from tests.integration.frontier.making import START_MS, Timed, asks_for, message, timed

HOST, ORIGIN = "a.example", "https://a.example"
RULES = CachedRobots(
    RobotsVerdict.RULES, 200, 60_000, "Disallow: /x\n", ("https://a.example/1.xml", "https://a.example/2.xml")
)
LATER = CachedRobots(RobotsVerdict.LATER, 503, 60_000)


async def claim(world: Timed, worker: str = "w") -> CachedRobots | FetchTask | None:
    return await world.frontier.robots.claim(HOST, ORIGIN, worker)


async def keep(world: Timed, known: CachedRobots, worker: str = "w") -> bool:
    return await world.frontier.robots.keep(HOST, ORIGIN, worker, known, keep_ms=3_600_000) is not None


async def test_one_worker_fetches_and_all_know(redis_client: Any) -> None:
    world = await timed(redis_client)
    assert await claim(world, "first") == FetchTask(0)
    assert await claim(world, "second") is None
    assert await claim(world, "first") == FetchTask(0), "asking again prolongs it"
    assert await keep(world, RULES, "first")
    await world.pass_ms(59_999)
    assert await claim(world, "second") == CachedRobots(RobotsVerdict.RULES, 200, 1, RULES.rules)
    await world.pass_ms(1)
    assert await claim(world, "second") == FetchTask(0)


async def test_a_task_whose_worker_is_silent_goes_to_another(
    redis_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.frontier.state.robots.LOCK_MS", 50)
    world = await timed(redis_client)
    assert await claim(world, "killed") == FetchTask(0)
    await asyncio.sleep(0.1)
    monkeypatch.undo()  # the other one has its time
    assert await claim(world, "other") == FetchTask(0)
    assert not await keep(world, LATER, "killed"), "what it brings after all is not believed"
    assert await keep(world, RULES, "other")
    assert not await keep(world, LATER, "killed")


async def test_a_slow_worker_that_nobody_relieved_is_believed(
    redis_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.frontier.state.robots.LOCK_MS", 50)
    world = await timed(redis_client)
    assert await claim(world) == FetchTask(0)
    await asyncio.sleep(0.1)
    assert await keep(world, RULES)


async def test_since_when_a_file_cannot_be_reached_is_remembered_until_it_can(redis_client: Any) -> None:
    world = await timed(redis_client)
    await claim(world)
    assert await keep(world, LATER)
    assert await claim(world) == LATER
    await world.pass_ms(60_000)
    assert await claim(world) == FetchTask(60_000)
    assert await keep(world, LATER)
    await world.pass_ms(60_000)
    assert await claim(world) == FetchTask(120_000)
    assert await keep(world, RULES)
    await world.pass_ms(60_000)
    assert await claim(world) == FetchTask(0)


async def test_everything_expires(redis_client: Any) -> None:
    world = await timed(redis_client)
    await claim(world)
    await asks_for(world.frontier, HOST, ORIGIN, 5_000)
    await claim(world)
    keys = [world.frontier.shards.key(0, name) for name in (f"robots:{ORIGIN}:lock", f"origins:{HOST}")]
    assert all([0 < await redis_client.pttl(key) <= 86_400_000 for key in keys])
    await keep(world, RULES)
    assert await redis_client.exists(keys[0]) == 0
    assert 0 < await redis_client.pttl(world.frontier.shards.key(0, f"robots:{ORIGIN}")) <= 3_600_000


async def test_the_longest_crawl_delay_of_a_hosts_origins_counts(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, HOST, delay_ms=1_000)])
    for origin, asked, delay in (
        ("http", 3_000, 3_000),
        ("https", 2_000, 3_000),
        ("http", 0, 2_000),
        ("https", 0, 1_000),
    ):
        assert await asks_for(world.frontier, HOST, f"{origin}://a.example", asked) == delay


async def test_a_first_delay_counts_from_the_file_not_from_a_turn_long_before(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, HOST, cap=4) for number in (1, 2)])
    assert await world.bodies(1) == [1]
    await world.pass_ms(350)  # a busy worker asks for the file only now, in that page's turn
    await asks_for(world.frontier, HOST, ORIGIN, 400)
    await world.pass_ms(399)
    assert await world.bodies() == []
    await world.pass_ms(1)
    assert await world.bodies() == [2]


async def test_a_host_that_asked_for_a_delay_is_remembered_as_long_as_its_file(redis_client: Any) -> None:
    world = await timed(redis_client, quiet_ms=50_000, robots_ms=200_000)
    hosts = world.frontier.shards.key(0, "hosts")
    await world.frontier.push([message(1, HOST), message(2, "b.example")])
    await world.fetch()
    await asks_for(world.frontier, HOST, ORIGIN, 1_000)
    await world.pass_ms(199_999)
    await world.frontier.generations.sweep()
    assert await redis_client.hkeys(hosts) == [HOST.encode()]
    await world.pass_ms(2_000)
    await world.frontier.generations.sweep()
    assert await redis_client.hkeys(hosts) == []


async def test_sitemaps_are_shown_with_their_host(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, HOST)])
    await claim(world)
    await keep(world, RULES)
    [state] = await world.frontier.inspection.hosts()
    assert state.sitemaps == {ORIGIN: list(RULES.sitemaps)}


async def test_the_hosts_whose_pages_wait_for_it_are_told(redis_client: Any) -> None:
    world = await timed(redis_client)
    pages = [
        replace(message(number, HOST, "s"), body=pack({"u": f"{ORIGIN}/{number}"}), not_before_ms=START_MS + 60_000)
        for number in range(3)
    ]
    await world.frontier.push([*pages, replace(message(9, "b.example", "s"), not_before_ms=START_MS + 5_000)])
    await world.frontier.robots.claim(HOST, ORIGIN, "w")
    assert await keep(world, LATER)
    await world.pass_ms(1_000)
    first, second = await world.frontier.inspection.waiting("s")
    assert (first.host, first.pages, first.until_ms) == (HOST, 3, 59_000)
    assert first.why == f"{ORIGIN}/robots.txt has been unreachable for 1 s"
    assert first.given_up_ms == 86_400_000 - 1_000
    assert (second.host, second.pages, second.why) == ("b.example", 1, "delayed")
    assert await world.frontier.inspection.waiting("other") == []


async def test_workers_pages_of_a_moment_ask_together(redis_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await timed(redis_client)
    robots, calls, run = world.frontier.robots, list[str](), world.frontier.shards.run

    async def counted(name: str, *given: Any) -> Any:
        calls.append(name)
        return await run(name, *given)

    monkeypatch.setattr(world.frontier.shards, "run", counted)
    hosts = [f"h{number}.example" for number in range(10)]
    claimed = await asyncio.gather(*(robots.claim(host, f"https://{host}", "w") for host in hosts))
    assert claimed == [FetchTask(0)] * 10
    kept = [robots.keep(host, f"https://{host}", "w", RULES, keep_ms=1, delay_ms=at) for at, host in enumerate(hosts)]
    assert await asyncio.gather(*kept) == list(range(10)), "each its own"
    assert calls == ["robots_claim", "robots_keep"]


async def test_files_kept_beside_a_damaged_key_have_their_delays_in_force(redis_client: Any) -> None:
    """The call fails where it meets the key, which is set aside, and is done again from the start."""
    world = await timed(redis_client)
    shards, robots = world.frontier.shards, world.frontier.robots
    hosts = ["a.example", "b.example"]
    await asyncio.gather(*(robots.claim(host, f"https://{host}", "w") for host in hosts))
    await redis_client.set(shards.key(0, "origins:b.example"), "no hash")
    kept = [robots.keep(host, f"https://{host}", "w", RULES, keep_ms=60_000, delay_ms=2_000) for host in hosts]
    assert await asyncio.gather(*kept) == [2_000, 2_000]
    slots = [await world.frontier.reserve_slot(host, delay_ms=0, cap=8, worker="w") for host in hosts]
    assert [slot.wait_ms for slot in slots] == [2_000, 2_000], "the delay, since the file was asked for"
