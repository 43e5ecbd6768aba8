"""Start URLs leased from scrapy-redis' keys."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest
from scrapy.settings import BaseSettings

from crawler.errors import ConfigError
from crawler.frontier.state.seeds import Kind, Seeds

KEY = "products:start_urls"
ENTRIES = [b"http://a.example/1", b'{"url": "http://a.example/ 2\\n"}', b"\xff\x00 three"]
FILL = {
    "list": lambda client: client.rpush(KEY, *ENTRIES),
    "set": lambda client: client.sadd(KEY, *ENTRIES),
    "zset": lambda client: client.zadd(KEY, {entry: 3 - at for at, entry in enumerate(ENTRIES)}),
}
KINDS: tuple[Kind, ...] = ("list", "set", "zset")


async def seeds_of(client: Any, kind: Kind, lease_ms: int = 60_000) -> Seeds:
    await FILL[kind](client)
    claims = count()
    return Seeds(client, KEY, kind, lease_ms, claim=lambda: f"claim{next(claims)}")


@pytest.mark.parametrize("kind", KINDS)
async def test_leased_seeds_stay_until_they_are_acknowledged(redis_client: Any, kind: Kind) -> None:
    seeds = await seeds_of(redis_client, kind)
    leased = await seeds.lease(2) + await seeds.lease(10)
    assert sorted(seed.raw for seed in leased) == sorted(ENTRIES)
    assert (await seeds.lease(1), await seeds.pending()) == ([], 3)
    assert (await seeds.ack(leased), await seeds.ack(leased), await seeds.ack([])) == (3, 0, 0)
    assert await seeds.pending() == 0


async def test_a_list_is_read_from_the_left_and_a_zset_from_the_highest_score(redis_client: Any) -> None:
    for kind in ("list", "zset"):
        seeds = await seeds_of(redis_client, kind)
        assert [seed.raw for seed in await seeds.lease(3)] == ENTRIES
        await redis_client.flushall()


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_given_back_is_as_it_was(redis_client: Any, kind: Kind) -> None:
    seeds = await seeds_of(redis_client, kind)
    before = await redis_client.dump(KEY) if kind != "set" else await redis_client.smembers(KEY)
    leased = await seeds.lease(2)
    assert (await seeds.give_back(leased), await seeds.give_back(leased)) == (2, 0)
    assert before == (await redis_client.dump(KEY) if kind != "set" else await redis_client.smembers(KEY))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_killed_workers_seeds_come_back(redis_client: Any, kind: Kind) -> None:
    seeds = await seeds_of(redis_client, kind, lease_ms=30)
    assert len(await seeds.lease(3)) == 3
    await asyncio.sleep(0.05)
    again = await seeds.lease(10)
    assert sorted(seed.raw for seed in again) == sorted(ENTRIES)
    assert await seeds.ack(again) == 3


async def test_equal_entries_of_a_list_are_leased_each(redis_client: Any) -> None:
    await redis_client.rpush(KEY, *[b"same"] * 3)
    leased = await Seeds(redis_client, KEY).lease(3)
    assert len({seed.handle for seed in leased}) == 3


@pytest.mark.parametrize(
    ("flags", "kind"), [({}, "list"), ({"SET": True, "ZSET": True}, "set"), ({"ZSET": True}, "zset")]
)
async def test_the_settings_name_the_kind_as_in_scrapy_redis(
    redis_client: Any, flags: dict[str, bool], kind: str
) -> None:
    values = {"REDIS_START_URLS_AS_SET": False, "REDIS_START_URLS_AS_ZSET": False, "FRONTIER_LEASE_SECONDS": 60}
    settings = BaseSettings(values | {f"REDIS_START_URLS_AS_{name}": value for name, value in flags.items()})
    await FILL[kind](redis_client)
    seeds = Seeds.from_settings(redis_client, KEY, settings)
    assert len(await seeds.lease(9)) == 3


async def test_another_type_of_key_is_explained(redis_client: Any) -> None:
    await FILL["zset"](redis_client)
    with pytest.raises(ConfigError, match="products:start_urls, a zset: REDIS_START_URLS_AS_ZSET = True"):
        await Seeds(redis_client, KEY).lease(1)
    with pytest.raises(ConfigError, match="a zset"):
        await Seeds(redis_client, KEY, "set").pending()
