"""A host that does not work is left alone by the whole fleet, then tried with one request."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request, Spider

from crawler.frontier.messages import HostState, Message
from crawler.routing import codec
from tests.integration.frontier.making import Timed, acked, answer, handles, message, reported, sent, timed

OPEN = 30_000


async def broken(client: Any, faults: int = 5, **config: Any) -> Timed:
    """A host with cap 8 and 60 requests, of which *faults* failed in a row."""
    world = await timed(client, **config)
    await world.frontier.push([message(number, cap=8) for number in range(60)])
    for _ in range(faults):
        await exchange(world)
    return world


async def exchange(world: Timed, status: int = 0, *, fault: bool = True, **fields: Any) -> int:
    """Send one request and report; what the frontier made of it."""
    [lease] = await world.lease(1)
    await sent(world.frontier, handles([lease]))
    [result] = await reported(
        world.frontier, [answer(handles([lease])[0], status, fault=fault and not status, **fields)]
    )
    await acked(world.frontier, handles([lease]))
    return result


async def state_of(world: Timed) -> HostState:
    [state] = await world.frontier.inspection.hosts()
    return state


async def test_faults_in_a_row_open_it_for_all_workers(redis_client: Any) -> None:
    world = await broken(redis_client, faults=4)
    assert (await state_of(world)).faults == 4
    assert (await state_of(world)).breaker == "closed"
    assert await exchange(world) == OPEN
    state = await state_of(world)
    assert (state.breaker, state.blocked_ms, state.openings, state.queued) == ("open", OPEN, 1, 55)
    assert await world.lease(8) == []
    await world.pass_ms(OPEN - 1)
    assert await world.lease(8) == []


@pytest.mark.parametrize("status", [500, 502, 503, 504, 599])
async def test_errors_of_the_server_are_faults(redis_client: Any, status: int) -> None:
    assert await exchange(await broken(redis_client, faults=4), status) == OPEN


@pytest.mark.parametrize(
    "fields",
    [{"status": 200}, {"status": 404}, {"status": 429}, {"status": 503, "retry_after_ms": 1_000}],
    ids=lambda fields: "-".join(map(str, fields.values())),
)
async def test_any_other_answer_says_that_it_works(redis_client: Any, fields: dict[str, Any]) -> None:
    world = await broken(redis_client, faults=4)
    assert await exchange(world, **fields) == 1
    assert (await state_of(world)).faults == 0


@pytest.mark.parametrize("fields", [{"fault": False}, {"excused": True}], ids=["unusable", "proxy"])
async def test_what_says_nothing_of_the_host_neither_opens_nor_ends_a_row(
    redis_client: Any, fields: dict[str, Any]
) -> None:
    world = await broken(redis_client, faults=4)
    assert await exchange(world, **fields) == 1
    assert (await state_of(world)).faults == 4


async def test_what_is_beside_the_queue_does_not_probe_a_dead_host_again_and_again(redis_client: Any) -> None:
    """Such a fault opens nothing; but it was none of an open breaker, either, which let one after the other through."""
    world = await timed(redis_client)
    await world.frontier.push([message(number, cap=8) for number in range(60)])
    assert await exchange(world, 200, origin="http:80") == 1
    for _ in range(5):
        await exchange(world, origin="http:80")
    await world.pass_ms(OPEN)
    assert await exchange(world, origin="http:80", led="beside") >= OPEN
    assert ((await state_of(world)).breaker, (await state_of(world)).openings) == ("open", 2)
    assert await world.lease(1) == []


async def test_one_request_probes_it_and_a_success_lets_all_through(redis_client: Any) -> None:
    world = await broken(redis_client)
    await world.pass_ms(OPEN)
    assert (await state_of(world)).breaker == "probing"
    [probe] = await world.lease(8)
    take = await world.frontier.reserve_slot("a.example", cap=8)
    assert take.token is None, "what bypasses the queue waits, too"
    assert await world.lease(8) == []
    assert await reported(world.frontier, [answer(handles([probe])[0], 200)]) == [-1]
    assert (await state_of(world)).breaker == "closed"
    await world.pass_ms(1_000)
    assert len(await world.lease(8)) == 8


async def test_a_probe_that_was_never_sent_is_followed_by_another(redis_client: Any) -> None:
    world = await broken(redis_client)
    await world.pass_ms(OPEN)
    await world.frontier.give_back(handles(await world.lease(8)))
    assert len(await world.lease(8)) == 1


async def test_each_failed_probe_waits_twice_as_long_up_to_a_limit(redis_client: Any) -> None:
    world = await broken(redis_client, breaker_max_ms=100_000)
    for expected in (60_000, 100_000, 100_000):
        await world.pass_ms((await state_of(world)).blocked_ms)
        assert await exchange(world) == expected
    await world.pass_ms(100_000)
    assert await exchange(world, 200) == -1
    assert (await state_of(world)).openings == 0
    for _ in range(4):
        assert await exchange(world) == 1
    assert await exchange(world) == OPEN, "it begins anew"


async def test_what_was_in_the_air_when_it_opened_says_nothing_new(redis_client: Any) -> None:
    world = await broken(redis_client, faults=4)
    first, second, third, *_ = handles(await world.lease(8))
    await world.pass_ms(1_000)
    assert await reported(world.frontier, [answer(first, 0, elapsed_ms=900, fault=True)]) == [OPEN]
    assert await reported(world.frontier, [answer(second, 0, elapsed_ms=900, fault=True)]) == [1]
    assert await reported(world.frontier, [answer(third, 200, elapsed_ms=900)]) == [1]
    assert (await state_of(world)).openings == 1


async def test_it_can_be_switched_off(redis_client: Any) -> None:
    world = await broken(redis_client, faults=20, breaker_faults=0)
    assert (await state_of(world)).breaker == "closed"


HOME, BESIDE = "https:443", "http:81"


@pytest.mark.parametrize(
    ("answered", "fault", "led", "opens"),
    [
        ([], HOME, "", True),  # a host that never worked
        ([HOME], HOME, "", True),
        ([HOME], BESIDE, "", False),  # a port that never answered, beside one that did
        ([HOME, BESIDE], BESIDE, "", True),
        ([], HOME, "link", False),  # first contact, by another site's doing
        ([HOME], HOME, "link", True),
        ([HOME], HOME, "redirect", False),
        ([], BESIDE, "redirect", False),
        ([HOME], HOME, "beside", False),
    ],
)
async def test_faults_count_where_they_are_the_hosts_own(
    redis_client: Any, answered: list[str], fault: str, led: str, opens: bool
) -> None:
    world = await broken(redis_client, faults=0)
    for origin in answered:
        await exchange(world, 200, origin=origin)
    results = [await exchange(world, origin=fault, led=led) for _ in range(5)]
    assert results == [1, 1, 1, 1, OPEN if opens else 1]


async def test_a_probe_is_a_request_of_the_hosts_own(redis_client: Any) -> None:
    world = await broken(redis_client, faults=0)
    await exchange(world, 200, origin=HOME)
    for _ in range(5):
        await exchange(world, origin=HOME)
    await world.pass_ms(OPEN)
    assert await exchange(world, origin=BESIDE, led="redirect") == 1, "says nothing: the next one probes"
    assert await exchange(world, 200, origin=HOME) == -1


def paged(number: int, url: str, **fields: Any) -> Message:
    meta = {"led_here": fields.pop("led_here")} if "led_here" in fields else {}
    body = codec.encode(Request(url, meta=meta), Spider)
    return message(number, body=body, cap=8, **fields)


DOWN, UP = "http://a.example:81/", "http://a.example/"


async def down(client: Any, *pages: Message) -> Timed:
    """One port of a host is down; these *pages* wait behind the others."""
    world = await timed(client)
    await world.frontier.push([*(paged(number, f"{DOWN}{number}") for number in range(9)), *pages])
    for _ in range(5):
        await fault(world)
    return world


async def fault(world: Timed, origin: str = "http:81") -> None:
    result = await exchange(world, origin=origin)
    if result > 1:
        await world.frontier.breakers.probe_other("a.example", origin)


async def leased(world: Timed) -> list[int]:
    return [int(lease.fingerprint) for lease in await world.lease(8)]


async def test_another_port_is_tried_at_once(redis_client: Any) -> None:
    world = await down(redis_client, paged(20, UP), paged(21, UP + "other"))
    assert (await state_of(world)).breaker == "probing"
    assert await exchange(world, 200, origin="http:80") == -1
    assert (await state_of(world)).breaker == "closed"


@pytest.mark.parametrize("pushed_later", [False, True])
async def test_another_port_is_tried_once_at_once_and_then_in_turn(redis_client: Any, *, pushed_later: bool) -> None:
    """Both are down: the host is left alone as before."""
    pages = [paged(20 + number, UP + str(number)) for number in range(3)]
    world = await down(redis_client, *([] if pushed_later else pages))
    if pushed_later:
        assert await world.lease(8) == []
        await world.frontier.push(pages)
    await fault(world, "http:80")
    assert (await state_of(world)).openings == 2
    await world.frontier.push([paged(30, DOWN + "new"), paged(31, UP + "new")])
    assert await world.lease(8) == []
    await world.pass_ms(2 * OPEN - 1)
    assert await world.lease(8) == []
    await world.pass_ms(1)
    assert await leased(world) == [5], "the other one's turn"


async def test_what_another_site_led_here_is_no_probe(redis_client: Any) -> None:
    world = await down(redis_client, paged(20, UP, led_here="link"))
    await world.frontier.push([paged(21, UP + "2", led_here="redirect"), paged(22, DOWN + "22")])
    assert await world.lease(8) == []
    await world.frontier.push([paged(23, UP + "3")])
    assert await leased(world) == [23]
