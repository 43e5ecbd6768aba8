"""The frontier's operations on a real server, one by one."""

from __future__ import annotations

import redis.asyncio

from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Lease, Message, PushOutcome, Report


def message(number: int, host: str = "a.example", **wishes: int | bool | str) -> Message:
    fields = {"delay_ms": 0, "cap": 1} | wishes
    return Message(host=host, stream="s", spider="s", body=b"%d" % number, fingerprint=number, **fields)  # type: ignore[arg-type]


def handles(leases: list[Lease]) -> list[tuple[str, int]]:
    return [(lease.id, lease.token) for lease in leases]


async def test_a_request_goes_from_push_to_ack(redis_client: redis.asyncio.Redis) -> None:
    frontier = Frontier(redis_client, FrontierConfig())
    await frontier.open()
    assert await frontier.push([message(1), message(1)]) == [PushOutcome.ACCEPTED, PushOutcome.DUPLICATE]
    batch = await frontier.lease(["s"], 10, worker="w")
    assert [lease.body for lease in batch.leases] == [b"1"]
    assert await frontier.start(handles(batch.leases)) == [True]
    report = Report(*handles(batch.leases)[0], elapsed_ms=5, latency_ms=5, status=200)
    assert await frontier.report([report, report]) == [True, False]
    assert await frontier.ack(handles(batch.leases)) == [True]
    assert await frontier.ack(handles(batch.leases)) == [False]
    total = (await frontier.census.stats("s")).total
    assert (total.accepted, total.duplicates, total.done, total.leased) == (1, 1, 1, 0)
    assert await frontier.census.empty("s")
