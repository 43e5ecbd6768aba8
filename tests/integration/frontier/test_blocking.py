"""What a thread with a connection of its own does to leases, on one server and on a Cluster."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest
from scrapy.settings import BaseSettings

from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.server import blocking, connection
from crawler.frontier.server.blocking import BlockingScripts
from crawler.frontier.server.shards import Shards
from crawler.frontier.state.statement import Statement
from crawler.policy.pace import Pace
from tests.integration.frontier.making import handles, message, timed


@pytest.mark.parametrize("is_cluster", [False, True])
def test_a_server_that_is_away_is_an_error_that_is_waited_for(is_cluster: bool) -> None:
    settings = BaseSettings({"REDIS_URL": "redis://127.0.0.1:1", "REDIS_CLUSTER": is_cluster})
    shards = Shards(connection.connect(settings), FrontierConfig())
    with pytest.raises(FrontierUnavailableError):
        BlockingScripts(shards, partial(blocking.connect, settings)).on_handles("renew", [("0:1", 1)], "0")


async def test_rules_are_stated_on_all_shards(redis_client: Any, redis_settings: BaseSettings) -> None:
    world = await timed(redis_client, shards=3)
    statement = Statement("s", Pace(700, 2, 1), {})
    scripts = BlockingScripts(world.frontier.shards, partial(blocking.connect, redis_settings))
    world.frontier.shards.away.add(1)
    await asyncio.to_thread(scripts.everywhere, "rules", *statement.row)
    assert not await redis_client.exists(world.frontier.shards.key(1, "rules"))
    world.frontier.shards.away.clear()
    await asyncio.to_thread(scripts.everywhere, "rules", *statement.row)
    scripts.close()
    for shard in range(3):
        assert await redis_client.zrange(world.frontier.shards.key(shard, "rules"), 0, -1) == [statement.text.encode()]


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
    assert (await world.frontier.inspection.stats()).total.reaped == 0
    stale = (held[0][0], held[0][1] - 1)
    answers = await asyncio.to_thread(scripts.on_handles, "give_back", [*held, stale])
    assert answers == dict.fromkeys(held, True) | {stale: False}
    world.frontier.shards.away.add(2)
    elsewhere = [one for one in held if not one[0].startswith("2:")]
    answers = await asyncio.to_thread(scripts.on_handles, "give_back", held)
    assert answers == dict.fromkeys(held, True) | dict.fromkeys(elsewhere, False)
    world.frontier.shards.away.clear()
    scripts.close()
    left = (await world.frontier.inspection.stats()).total
    assert (left.queued, left.leased) == (60, 0)
    assert len(await world.lease()) == 60
