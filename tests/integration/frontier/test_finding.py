"""Where a URL is, at each step of its life."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from crawler.frontier.inspection import finding
from crawler.frontier.inspection.finding import UrlPlace
from crawler.frontier.messages import Message
from tests.integration.frontier.making import Timed, acked, answer, handles, message, reported, timed


async def places(world: Timed, number: int, **fields: Any) -> list[UrlPlace]:
    return await world.frontier.finding.find(message(number, **fields))


async def test_a_url_is_found_at_each_step_of_its_life(redis_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "SLICE", 2)
    world = await timed(redis_client)
    assert await places(world, 5) == []
    await world.frontier.push([message(number, cap=10) for number in range(6)])
    assert await places(world, 5) == [UrlPlace("queued", "s", "0", ahead=5)]
    assert await places(world, 5, stream="t") == []
    [lease] = await world.lease(1)
    assert await places(world, 0) == [UrlPlace("leased", "s", "0", why="w")]
    assert await places(world, 5) == [UrlPlace("queued", "s", "0", ahead=4)]
    await world.frontier.nack(lease.id, lease.token, delay_ms=7_000, reason="http_503")
    assert await places(world, 0) == [UrlPlace("delayed", "s", "0", until_ms=7_000, why="http_503")]
    await world.pass_ms(7_001)
    await world.frontier.shards.run_all("reap")
    [waiting] = await places(world, 0)
    assert (waiting.state, waiting.nacked) == ("queued", "http_503")
    leased = await world.lease(6)
    assert await places(world, 0) == [UrlPlace("leased", "s", "0", why="w", nacked="http_503")]
    await acked(world.frontier, handles(leased))
    assert await places(world, 0) == [UrlPlace("done", "s", "0")]


async def test_letters_are_found_with_their_reason(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, cap=9), message(2, cap=9)])
    first, second = await world.lease(2)
    await world.frontier.nack(first.id, first.token, delay_ms=0, reason="timeout")
    [first] = await world.lease(1)
    await world.frontier.bury(first.id, first.token, reason="spider_error", detail={"error": "KeyError: 'x'"})
    await world.frontier.end_gone(second.id, second.token, reason="http_404", detail={})
    died = UrlPlace("dead", "s", "0", why="spider_error", id=first.id, nacked="timeout", error="KeyError: 'x'")
    assert await places(world, 1) == [died]
    assert await places(world, 2) == [UrlPlace("gone", "s", "0", why="http_404", id=second.id)]


async def test_all_places_are_found_and_none_of_another_spider(redis_client: Any) -> None:
    """A page that another spider has delayed as well was taken for done."""
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s", fresh=True)
    for stream in ("t", "s"):
        await world.frontier.push([message(1, stream=stream)])
        [lease] = await world.lease(streams=[stream])
        await reported(world.frontier, [answer((lease.id, lease.token), 500)])
        await world.frontier.nack(lease.id, lease.token, delay_ms=7_000, reason="http_500")
    delayed = UrlPlace("delayed", "s", "0", until_ms=7_000, why="http_500")
    assert await places(world, 1) == [delayed]
    await world.frontier.push([message(1, generation=run.generation), message(1, dedupe=False)])
    queued = [UrlPlace("queued", "s", of, ahead=ahead) for ahead, of in enumerate((run.generation, "0"))]
    assert await places(world, 1) == [*queued, delayed]


@pytest.mark.parametrize("dedupe", ["exact", "window", "bloom"])
async def test_what_is_done_is_known_in_every_mode(redis_client: Any, dedupe: str) -> None:
    world = await timed(redis_client, dedupe=dedupe)
    given: dict[str, Any] = {"digest": struct.pack(">Q", 1) * 2} if dedupe == "exact" else {}
    await world.frontier.push([message(1, **given)])
    await world.fetch()
    assert await places(world, 1, **given) == [UrlPlace("done", "s", "0")]
    assert await places(world, 2) == []


async def test_what_stands_ahead_of_the_end_of_a_queue_is_found_with_its_place(redis_client: Any) -> None:
    """An urgent request is queued before those that wait, and a less urgent one sends what follows it there."""
    world = await timed(redis_client)
    await world.frontier.push([message(number) for number in range(3)])
    await world.frontier.push([message(10, priority=5), message(11, priority=-5), message(12)])
    places_of = {number: (await places(world, number))[0].ahead for number in (0, 1, 2, 10, 11, 12)}
    order = sorted(places_of, key=lambda number: places_of[number])
    leased = []
    while found := await world.lease(1):
        leased += [int(lease.body) for lease in found]
        await reported(world.frontier, [answer(handle) for handle in handles(found)])
        await acked(world.frontier, handles(found))
        await world.pass_ms(1)
    assert order == leased
    assert sorted(places_of.values()) == list(range(6))


async def test_other_tiers_suspects_and_hosts_with_a_port_are_looked_at(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, stream="s:browser"), message(2, host="api:443")])
    assert await places(world, 1) == [UrlPlace("queued", "s:browser", "0")]
    assert await places(world, 2, host="api:443") == [UrlPlace("queued", "s", "0")]


@pytest.mark.one_server
async def test_a_long_queue_is_looked_through_in_short_calls(redis_client: Any) -> None:
    world = await timed(redis_client)
    rows = [Message(host="a.example", stream="s", spider="s", body=b"x" * 100, fingerprint=n) for n in range(20_000)]
    for at in range(0, len(rows), 2_000):
        await world.frontier.push(rows[at : at + 2_000])
    await redis_client.config_resetstat()
    before = await cpu_seconds(redis_client)
    assert await places(world, 19_999) == [UrlPlace("queued", "s", "0", ahead=19_999)]
    spent = await cpu_seconds(redis_client) - before
    calls = (await redis_client.info("commandstats"))["cmdstat_evalsha"]["calls"]
    assert 10 <= calls <= 40
    assert spent / calls < 0.005


async def cpu_seconds(client: Any) -> float:
    """What the server has used of the CPU: on a busy machine the time that it counts for a command is longer."""
    used = await client.info("cpu")
    return float(used["used_cpu_user_main_thread"] + used["used_cpu_sys_main_thread"])
