"""What a thread with a connection of its own does to leases, on one server and on a Cluster."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from scrapy.settings import BaseSettings

from crawler.frontier.server import blocking
from crawler.frontier.server.blocking import BlockingScripts
from tests.integration.frontier.making import handles, message, timed


async def test_leases_of_all_shards_are_renewed_and_given_back(redis_client: Any, redis_settings: BaseSettings) -> None:
    world = await timed(redis_client, shards=3, lease_ms=60_000)
    await world.frontier.push([message(number, f"host-{number}.example") for number in range(60)])
    held = handles(await world.lease())
    scripts = BlockingScripts(world.frontier.shards, partial(blocking.connect, redis_settings))
    await redis_client.script_flush()
    for _ in range(3):
        await world.pass_ms(40_000)
        answers = await asyncio.to_thread(scripts.on_handles, "renew", held, "0")
        assert answers == dict.fromkeys(held, True)
    assert (await world.frontier.census.stats()).total.reaped == 0
    stale = (held[0][0], held[0][1] - 1)
    answers = await asyncio.to_thread(scripts.on_handles, "give_back", [*held, stale])
    assert answers == dict.fromkeys(held, True) | {stale: False}
    scripts.close()
    left = (await world.frontier.census.stats()).total
    assert (left.queued, left.leased) == (60, 0)
    assert len(await world.lease()) == 60
