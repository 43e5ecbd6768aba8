"""Urgent work beside a backlog: it starts at once and ends first, and the backlog goes on meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.frontier.messages import Lease
from tests.integration.frontier.making import acked, answer, handles, message, reported, timed

HOSTS, BACKLOG, URGENT, DELAY_MS = 50, 40, 4, 1_000
RUN = {"backlog": "20261122000001", "urgent": "20261122000002"}


@pytest.mark.one_server("the order of one queue")
@pytest.mark.parametrize("new_hosts", [0, 20])
async def test_urgent_urls_start_at_once_and_end_first_while_the_backlog_goes_on(
    redis_client: Any, new_hosts: int
) -> None:
    made = await timed(redis_client)
    names = [f"{n}.example" for n in range(HOSTS)]
    await made.frontier.push(
        [message(n, names[n % HOSTS], delay_ms=DELAY_MS, generation=RUN["backlog"]) for n in range(HOSTS * BACKLOG)]
    )
    done: list[tuple[int, str]] = []

    async def work(seconds: int) -> None:
        for _ in range(seconds):
            leases: list[Lease] = await made.lease(500)
            done.extend((made.now, lease.generation) for lease in leases)
            await reported(made.frontier, [answer(handle) for handle in handles(leases)])
            await acked(made.frontier, handles(leases))
            await made.pass_ms(DELAY_MS)

    await work(5)
    began = made.now
    places = [*names[: HOSTS // 2], *(f"new-{n}.example" for n in range(new_hosts))]
    await made.frontier.push(
        [
            message(10_000 + n, places[n % len(places)], delay_ms=DELAY_MS, priority=10, generation=RUN["urgent"])
            for n in range(len(places) * URGENT)
        ]
    )
    await work(URGENT + 2)
    urgent = [at for at, generation in done if generation == RUN["urgent"]]
    assert len(urgent) == len(places) * URGENT
    assert min(urgent) - began <= 1_000
    assert max(urgent) - began <= (URGENT + 1) * DELAY_MS, "hosts' delays permitting"
    meanwhile = [at for at, generation in done if generation == RUN["backlog"] and began <= at <= max(urgent)]
    assert len(meanwhile) >= (HOSTS - HOSTS // 2) * URGENT, "hosts without urgent work go on with theirs"


@pytest.mark.one_server("the order of one queue")
async def test_what_has_waited_for_longer_than_urgency_is_worth_goes_first(redis_client: Any) -> None:
    """Ten steps of priority outweigh ten minutes: no stream of urgent work holds the backlog up for ever."""
    made = await timed(redis_client)
    await made.frontier.push([message(n, cap=100, generation=RUN["backlog"]) for n in range(5)])
    await made.pass_ms(9 * 60_000)
    await made.frontier.push([message(10, cap=100, priority=10, generation=RUN["urgent"])])
    await made.pass_ms(2 * 60_000)
    await made.frontier.push([message(11, cap=100, priority=10, generation=RUN["urgent"])])
    assert await made.bodies() == [10, 0, 1, 2, 3, 4, 11]
