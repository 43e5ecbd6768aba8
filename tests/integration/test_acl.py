"""The Redis user of docs/operations.md may do all that the frontier needs, and no more."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError
from scrapy.settings import Settings

from crawler.frontier.messages import Message, PushOutcome
from crawler.frontier.seeds import Seeds
from crawler.frontier.session import session

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def documented_rules() -> list[str]:
    found = re.search(r"ACL SETUSER shoal (.+?)\n\n", MANUAL.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1].replace(">PASSWORD", ">secret").split()


async def send(client: Any, *words: str) -> Any:
    """redis-py leaves `execute_command` untyped."""
    return await client.execute_command(*words)


async def test_the_documented_user_can_run_the_frontier_and_nothing_else(redis_client: Redis, redis_url: str) -> None:
    await send(redis_client, "ACL", "SETUSER", "shoal", "reset", *documented_rules())
    at = urlsplit(redis_url)
    settings = Settings()
    settings.setmodule("settings.base", priority="project")
    settings.set("REDIS_URL", f"redis://shoal:secret@{at.hostname}:{at.port}{at.path}", priority="cmdline")
    try:
        async with session(settings) as frontier:
            message = Message(host="shop.example", stream="products", spider="products", body=b"x", fingerprint=7)
            assert await frontier.push([message]) == [PushOutcome.ACCEPTED]
            batch = await frontier.lease(["products"], 1, worker="w")
            handle = (batch.leases[0].id, batch.leases[0].token)
            assert await frontier.start([handle]) == [True]
            assert await frontier.ack([handle]) == [True]
            assert (await frontier.census.stats()).total.done == 1
            assert await frontier.census.hosts() == []
            assert (await frontier.pressure()).paused == ""
            assert await frontier.generations.sweep() == 0
            await redis_client.lpush("products:start_urls", "https://shop.example/")
            seeds = Seeds.from_settings(frontier.client, "products:start_urls", settings)
            assert await seeds.ack(await seeds.lease(5)) == 1
            for refused in (["GET", "other"], ["FLUSHALL"], ["CONFIG", "SET", "maxmemory", "1"], ["KEYS", "*"]):
                with pytest.raises(NoPermissionError):
                    await send(frontier.client, *refused)
    finally:
        await send(redis_client, "ACL", "DELUSER", "shoal")
