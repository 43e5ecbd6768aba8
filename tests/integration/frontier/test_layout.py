"""What the data was written with, and what its keys are called."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crawler.errors import ConfigError
from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import PushOutcome
from tests.integration.frontier.making import Timed, message, timed


def of_shards(client: Any, count: int) -> Frontier:
    return Frontier(client, FrontierConfig(shards=count))


@pytest.mark.parametrize(("before", "after"), [(1, 4), (4, 1), (4, 3), (3, 4)])
@pytest.mark.parametrize("is_recorded", [True, False])
async def test_another_number_of_shards_over_existing_data_is_refused_by_name(
    redis_client: Any, before: int, after: int, is_recorded: bool
) -> None:
    frontier = of_shards(redis_client, before)
    await frontier.open()
    await frontier.push([message(number, f"{number}.example") for number in range(40)])
    if not is_recorded:  # as an older release leaves it
        await redis_client.delete(frontier.shards.key(0, "shards"))
    with pytest.raises(ConfigError, match=rf"FRONTIER_SHARDS = {after} .*another FRONTIER_KEY"):
        await of_shards(redis_client, after).open()
    await of_shards(redis_client, before).open()


@pytest.mark.parametrize("noise", [b"9" * 18, b"9" * 5_000, b"1025", b"0", b"many", b"\xb2"])
async def test_a_number_that_cannot_be_one_of_ours_is_none(redis_client: Any, noise: bytes) -> None:
    frontier = of_shards(redis_client, 4)
    await frontier.push([message(number, f"{number}.example") for number in range(40)])
    await redis_client.set(frontier.shards.key(0, "shards"), noise)
    async with asyncio.timeout(60):
        with pytest.raises(ConfigError, match="FRONTIER_SHARDS = 3 "):
            await of_shards(redis_client, 3).open()
        await frontier.open()
    assert await redis_client.get(frontier.shards.key(0, "shards")) == b"4"


async def test_the_number_may_change_while_there_is_no_data(redis_client: Any) -> None:
    for count in (1, 4, 2):
        await of_shards(redis_client, count).open()
    assert await redis_client.get("{shoal:0}:shards") == b"2"


@pytest.mark.parametrize("lane", ["api", "browser"])
async def test_a_host_whose_name_looks_like_a_tier_has_a_queue_of_its_own(redis_client: Any, lane: str) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, f"{lane}:x"), message(2, "x", f"s:{lane}")])
    assert sorted([(state.host, state.queued) for state in await world.frontier.inspection.hosts()]) == [
        (f"{lane}:x", 1),
        ("x", 1),
    ]
    assert await world.bodies() == [1]
    assert await world.bodies(streams=[f"s:{lane}"]) == [2]


@pytest.mark.parametrize("host", ["2001:db8::1", "a:b"])
async def test_what_an_older_release_queued_for_a_host_with_a_colon_is_found(redis_client: Any, host: str) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, host, priority=-5), message(2, host)])
    for kind in ("q", "early"):
        of = world.frontier.shards.key(0, kind)
        await redis_client.rename(f"{of}:s::{host}", f"{of}:s:{host}")
    await world.frontier.push([message(3, host)])
    assert await world.fetch() + await world.fetch() + await world.fetch() == [2, 3, 1]


async def test_the_state_of_an_older_release_is_read(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    key = world.frontier.shards.key(0, "state")
    await redis_client.set(key, (await redis_client.get(key))[:104])
    await world.frontier.push([message(2)])
    assert await world.fetch() + await world.fetch() == [1, 2]


@pytest.mark.parametrize("later", ["bloom", "compact", "exact"])
async def test_a_window_ends_also_once_the_setting_has_changed(redis_client: Any, later: str) -> None:
    """A generation keeps the mode that it was opened with."""
    before = await timed(redis_client, dedupe="window", window_s=60)
    await before.frontier.push([message(1), message(2, "b.example")])
    after = Timed(redis_client, dedupe=later, window_s=60)
    await after.frontier.open()
    assert await after.frontier.push([message(1)]) == [PushOutcome.DUPLICATE]
    assert sorted(await after.fetch()) == [1, 2]
    assert await after.frontier.push([message(1)]) == [PushOutcome.DUPLICATE]
    await after.pass_ms(61_000)
    await after.frontier.generations.tidy()
    assert await after.frontier.push([message(1)]) == [PushOutcome.ACCEPTED]
