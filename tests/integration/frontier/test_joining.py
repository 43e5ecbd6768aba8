"""Which crawl a worker joins, and with which arguments."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.settings import Settings

from crawler.errors import ConfigError
from crawler.frontier.joining import Joined, digests, join, project_of
from crawler.frontier.state.workers import SILENT_MS
from tests.integration.frontier.making import Timed, message, timed


async def start(
    world: Timed, worker: str, *, endless: bool = False, spider: str = "s", project: str = "", **arguments: str
) -> Joined:
    """As a worker does: a sign of life, then it joins."""
    frontier = world.frontier
    if worker:
        await frontier.workers.heartbeat(worker, {"spider": spider})
    return await join(
        frontier.shards,
        frontier.inspection,
        spider=spider,
        worker=worker,
        endless=endless,
        arguments=digests(arguments),
        project=project,
    )


async def test_the_first_opens_and_the_others_join(redis_client: Any) -> None:
    world = await timed(redis_client)
    assert await start(world, "one") == Joined("1", opened=True)
    assert await start(world, "two") == Joined("1", opened=False)
    assert await start(world, "three", spider="other") == Joined("1", opened=True)


@pytest.mark.parametrize("left", ["left", "silent"])
async def test_a_crawl_is_over_when_nothing_is_left_of_it(redis_client: Any, left: str) -> None:
    world = await timed(redis_client)
    await start(world, "one", tag="a")
    if left == "left":
        await world.frontier.workers.leave("one")
    else:
        await world.be_silent(SILENT_MS)
        assert await start(world, "two", tag="a") == Joined("1", opened=False)
        await world.frontier.workers.leave("two")
        await world.be_silent(1)
    assert await start(world, "three", tag="b") == Joined("2", opened=True)


async def test_what_is_queued_keeps_it_going_and_its_arguments_in_force(redis_client: Any) -> None:
    world = await timed(redis_client)
    await start(world, "one", tag="a", secret="x")
    await world.frontier.push([message(1, "a.example", "s", generation="1")])
    await world.frontier.workers.leave("one")
    with pytest.raises(ConfigError, match="-a of spider s = 'secret, tag' is invalid"):
        await start(world, "two", tag="b")
    assert await start(world, "", tag="a", secret="x") == Joined("1", opened=False)
    assert await start(world, "three", tag="a", secret="x") == Joined("1", opened=False)


@pytest.mark.parametrize("endless", [False, True])
async def test_a_spider_of_the_same_name_in_another_project_is_kept_out_while_it_is_crawled(
    redis_client: Any, endless: bool
) -> None:
    """It took the other's pages into its callbacks, and gave it its own: both lost items in silence."""
    world = await timed(redis_client)
    begun = await start(world, "one", endless=endless, project="news")
    for worker in ("", "two"):
        with pytest.raises(ConfigError, match="BOT_NAME = 'shop' is invalid: expected 'news', whose spider s is"):
            await start(world, worker, endless=endless, project="shop")
    for project in ("news", ""):  # the second: an earlier release, or a script
        assert await start(world, "three", endless=endless, project=project) == Joined(begun.generation, opened=False)
    await world.frontier.workers.leave("one")
    await world.frontier.workers.leave("two")
    await world.frontier.workers.leave("three")
    assert (await start(world, "four", endless=endless, project="shop")).opened is not endless
    with pytest.raises(ConfigError, match="'shop'"):
        await start(world, "", endless=endless, project="news")


def test_projects_without_a_name_of_their_own_are_one() -> None:
    assert [project_of(Settings(one)) for one in ({}, {"BOT_NAME": None}, {"BOT_NAME": "news"})] == ["", "", "news"]


async def test_who_only_looks_joins_nothing(redis_client: Any) -> None:
    world = await timed(redis_client)
    assert await start(world, "", tag="a") == Joined("0", opened=False)
    assert await start(world, "one", tag="b") == Joined("1", opened=True)
    with pytest.raises(ConfigError, match="tag"):
        await start(world, "", tag="a")


async def test_an_endless_crawl_opens_nothing_and_may_change_its_arguments_when_nobody_works_on_it(
    redis_client: Any,
) -> None:
    world = await timed(redis_client)
    assert await start(world, "one", endless=True, tag="a") == Joined("0", opened=False)
    await world.frontier.push([message(1, "a.example", "s", generation="0")])
    with pytest.raises(ConfigError, match="tag"):
        await start(world, "two", endless=True, tag="b")
    await world.frontier.workers.leave("one")
    assert await start(world, "two", endless=True, tag="b") == Joined("0", opened=False)


async def test_of_two_that_saw_the_end_at_once_one_opens(redis_client: Any) -> None:
    """The second has seen generation 0 over when the first has opened 1, and closed again."""
    world = await timed(redis_client)
    await start(world, "one")
    await world.frontier.workers.leave("one")
    late = await world.frontier.shards.run("join", 0, "s", "two", SILENT_MS, "over", "0", b"\x80", "")
    assert late[:2] == [b"1", 0]
