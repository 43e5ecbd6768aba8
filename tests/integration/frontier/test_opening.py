"""Before the first request: what is checked, set, advised and refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio
from scrapy.settings import BaseSettings

from crawler.errors import ConfigError, ServiceError
from crawler.frontier import connection, opening
from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier

NEVER = {"REDIS_URL": "", "REDIS_CLUSTER": False}


def settings(**values: Any) -> BaseSettings:
    return BaseSettings(NEVER | values)


async def opened(client: Any) -> opening.ServerReport:
    return await Frontier(client, FrontierConfig()).open()


async def test_the_server_is_tuned_where_that_is_allowed(redis_client: Any) -> None:
    await redis_client.config_set("zset-max-listpack-value", 64)
    report = await opened(redis_client)
    assert await redis_client.config_get("zset-max-listpack-value") == {"zset-max-listpack-value": "512"}
    assert report.advice == ()


@pytest.fixture
async def guest(redis_client: Any, redis_url: str) -> Any:
    """A user who may use its own keys, and nothing else."""
    await redis_client.acl_setuser(
        "guest",
        enabled=True,
        passwords=["+sesame"],
        keys=["{shoal:*"],
        categories=["+@all", "-@admin"],
        commands=["-config"],
    )
    async with redis.asyncio.from_url(redis_url, username="guest", password="sesame") as client:
        yield client
    await redis_client.acl_deluser("guest")


async def test_what_a_forbidden_config_set_costs_is_told(redis_client: Any, guest: Any) -> None:
    report = await opened(guest)
    assert "CONFIG SET is not allowed" in report.advice[0]
    assert "zset-max-listpack-value 512" in report.advice[0]


async def test_a_server_that_evicts_is_advised_against(redis_client: Any) -> None:
    await redis_client.config_set("maxmemory", "1gb")
    await redis_client.config_set("maxmemory-policy", "allkeys-lru")
    try:
        report = await opened(redis_client)
    finally:
        await redis_client.config_set("maxmemory-policy", "noeviction")
        await redis_client.config_set("maxmemory", 0)
    assert "noeviction" in report.advice[0]
    assert report.maxmemory == 2**30


async def test_nobody_listening_is_said_with_the_address_and_what_to_do() -> None:
    client = connection.connect(settings(REDIS_URL="redis://:s3cret@127.0.0.1:1/0", REDIS_PARAMS={"socket_timeout": 1}))
    with pytest.raises(ServiceError, match=r"Redis at 127\.0\.0\.1:1 does not answer .*REDIS_URL") as caught:
        await opened(client)
    assert "s3cret" not in str(caught.value)
    await client.aclose()


async def test_a_wrong_password_is_said_without_it(redis_client: Any, redis_url: str) -> None:
    await redis_client.acl_setuser("guest", enabled=True, passwords=["+sesame"], categories=["+@all"])
    client = redis.asyncio.from_url(redis_url, username="guest", password="s3cret")
    try:
        with pytest.raises(ServiceError, match="asks for another user or password") as caught:
            await opened(client)
    finally:
        await client.aclose()
        await redis_client.acl_deluser("guest")
    assert "s3cret" not in str(caught.value)


async def test_a_server_that_cannot_run_the_scripts_is_named(redis_client: Any, guest: Any) -> None:
    client = Frontier(guest, FrontierConfig(key="forbidden"))
    with pytest.raises(ServiceError, match="does not allow this user"):
        await client.open()


async def test_a_deaf_server_does_not_hold_up_the_start_for_ever(tmp_path: Path) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_unix_server(silent, tmp_path / "deaf")
    client = connection.connect(
        settings(
            REDIS_URL=f"unix://{tmp_path}/deaf", REDIS_PARAMS={"socket_timeout": 0.05, "socket_connect_timeout": 0.05}
        )
    )
    async with server:
        with pytest.raises(ServiceError, match="deaf does not answer"):
            await asyncio.wait_for(opened(client), timeout=5)
        await client.aclose()


@pytest.mark.parametrize("url", ["http://:s3cret@host", "localhost:6379", "redis://:s3cret@host:notaport"])
def test_a_broken_url_is_refused_without_showing_secrets(url: str) -> None:
    with pytest.raises(ConfigError, match="REDIS_URL") as caught:
        connection.connect(settings(REDIS_URL=url))
    assert "s3cret" not in str(caught.value)


async def test_host_port_and_db_are_honoured_as_in_scrapy_redis() -> None:
    client = connection.connect(settings(REDIS_HOST="10.0.0.1", REDIS_PORT="6390", REDIS_DB=3))
    known = client.connection_pool.connection_kwargs  # type: ignore[union-attr]
    assert (known["host"], known["port"], known["db"]) == ("10.0.0.1", 6390, 3)
    assert opening.address(client) == "10.0.0.1:6390"
    await client.aclose()


async def test_redis_params_reach_the_client_but_cannot_change_what_it_answers(redis_url: str) -> None:
    params = {"socket_timeout": 7, "decode_responses": True, "url": redis_url, "redis_cls": "redis.Redis"}
    client = connection.connect(settings(REDIS_PARAMS=params))
    assert client.connection_pool.connection_kwargs["socket_timeout"] == 7  # type: ignore[union-attr]
    await client.set("key", b"\xff")
    assert await client.get("key") == b"\xff"
    await client.aclose()


async def test_a_connection_that_dropped_while_idle_is_replaced(redis_client: Any, redis_url: str) -> None:
    client = connection.connect(settings(REDIS_URL=redis_url))
    await client.ping()
    assert await redis_client.client_kill_filter(_type="normal", skipme=True) >= 1
    await asyncio.sleep(0.05)
    assert await client.ping()
    await client.aclose()


def test_unknown_params_and_ports_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="REDIS_PARAMS"):
        connection.connect(settings(REDIS_HOST="host", REDIS_PARAMS={"no_such_thing": 1}))
    with pytest.raises(ConfigError, match="REDIS_PORT"):
        connection.connect(settings(REDIS_HOST="host", REDIS_PORT=70_000))
