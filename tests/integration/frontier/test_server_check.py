"""Before the first request: what is checked, set, advised and refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import TimeoutError as RedisTimeoutError
from scrapy.settings import BaseSettings

from crawler.errors import ConfigError, ServiceError
from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.server import connection, server_check
from crawler.frontier.server.drops import Drops
from tests.clusters import Cluster
from tests.integration.frontier.harness import everywhere

NEVER = {"REDIS_URL": "", "REDIS_CLUSTER": False}


def settings(**values: Any) -> BaseSettings:
    return BaseSettings(NEVER | values)


async def advice(client: Any) -> tuple[str, ...]:
    frontier = Frontier(client, FrontierConfig())
    await frontier.open()
    return frontier.advice


async def test_the_server_is_tuned_where_that_is_allowed(redis_client: Any) -> None:
    nodes, name = everywhere(redis_client), "zset-max-listpack-value"
    await redis_client.config_set(name, 64, **nodes)
    told = await advice(redis_client)
    ours = {"target_nodes": redis_client.get_node_from_key("{shoal:0}")} if nodes else {}
    assert await redis_client.config_get(name, **ours) == {name: "512"}
    assert told == ()


async def test_a_cluster_of_one_node_is_checked_as_well(tmp_path: Path) -> None:
    nodes = Cluster(tmp_path, primaries=1)
    client: Any = connection.connect(BaseSettings(nodes.settings))
    frontier = Frontier(client, FrontierConfig())
    try:
        await frontier.open()
        assert await frontier.gauge.used() == 0
    finally:
        await client.aclose()
        nodes.kill()


@pytest.fixture
async def guest(redis_client: Any, redis_settings: BaseSettings) -> Any:
    """A user who may use its own keys, and nothing else; the password is "sesame"."""
    nodes = everywhere(redis_client)
    rights = ["on", ">sesame", "~{shoal:*", "+@all", "-@admin", "-config", "+cluster|slots"]
    await redis_client.execute_command("ACL SETUSER", "guest", *rights, **nodes)
    async with connect_as_guest(redis_settings, "sesame") as client:
        yield client
    await redis_client.execute_command("ACL DELUSER", "guest", **nodes)


def connect_as_guest(redis_settings: BaseSettings, password: str) -> Any:
    params = {"username": "guest", "password": password}
    return connection.connect(BaseSettings(dict(redis_settings) | {"REDIS_PARAMS": params}))


async def test_what_a_forbidden_config_set_costs_is_told(redis_client: Any, guest: Any) -> None:
    (told,) = await advice(guest)
    assert "CONFIG SET is not allowed" in told
    assert "zset-max-listpack-value 512" in told


async def test_a_server_that_evicts_is_advised_against(redis_client: Any) -> None:
    nodes = everywhere(redis_client)
    await redis_client.config_set("maxmemory", "1gb", "maxmemory-policy", "allkeys-lru", **nodes)
    try:
        (told,) = await advice(redis_client)
    finally:
        await redis_client.config_set("maxmemory", 0, "maxmemory-policy", "noeviction", **nodes)
    assert "noeviction" in told


@pytest.mark.parametrize("is_cluster", [False, True])
async def test_nobody_listening_is_said_with_the_address_and_what_to_do(is_cluster: bool) -> None:
    url, params = "redis://:s3cret@127.0.0.1:1/0", {"socket_timeout": 1}
    client = connection.connect(settings(REDIS_URL=url, REDIS_CLUSTER=is_cluster, REDIS_PARAMS=params))
    with pytest.raises(ServiceError, match=r"Redis at 127\.0\.0\.1:1 does not answer .*REDIS_URL") as caught:
        await advice(client)
    assert "s3cret" not in str(caught.value)
    await client.aclose()


async def test_a_wrong_password_is_said_without_it(redis_settings: BaseSettings, guest: Any) -> None:
    client = connect_as_guest(redis_settings, "s3cret")
    with pytest.raises(ServiceError, match="rejects the user or password") as caught:
        await advice(client)
    await client.aclose()
    assert "s3cret" not in str(caught.value)


async def test_a_server_that_cannot_run_the_scripts_is_named(redis_client: Any, guest: Any) -> None:
    client = Frontier(guest, FrontierConfig(key="forbidden"))
    with pytest.raises(ServiceError, match="does not permit this user"):
        await client.open()


@pytest.mark.one_server("REDIS_CLUSTER is wrong here")
async def test_a_server_that_is_no_cluster_is_called_so(redis_url: str) -> None:
    client = connection.connect(settings(REDIS_URL=redis_url, REDIS_CLUSTER=True))
    with pytest.raises(ServiceError, match="is no Cluster: set REDIS_CLUSTER to False"):
        await advice(client)
    await client.aclose()


async def test_a_node_of_a_cluster_is_called_so(cluster: Cluster) -> None:
    client = connection.connect(settings(REDIS_URL=cluster.nodes[0].url))
    with pytest.raises(ServiceError, match="is a node of a Cluster: set REDIS_CLUSTER to True"):
        await advice(client)
    await client.aclose()


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
            await asyncio.wait_for(advice(client), timeout=60)
        await client.aclose()


async def test_whoever_waits_for_a_server_that_hangs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told, said, late = list[str](), asyncio.Event(), asyncio.Event()

    def warn(words: str, *values: object) -> None:
        told.append(words % values)
        said.set()

    monkeypatch.setattr(server_check.logger, "warning", warn)
    monkeypatch.setattr(server_check, "SILENT_SECONDS", 0.01)
    client = connection.connect(settings(REDIS_URL="redis://127.0.0.1:1"))
    monkeypatch.setattr(client, "ping", late.wait)
    waiting = asyncio.create_task(server_check._ping(client))
    await said.wait()
    assert told == ["Redis at 127.0.0.1:1 has not answered for 0 s, waiting: it hangs, or is busy with one long call"]
    late.set()
    await waiting
    await server_check._ping(client)
    assert len(told) == 1, "nothing is said of an answer in time"
    await client.aclose()


def test_of_the_bundled_server_nobody_is_sent_to_a_setting() -> None:
    error = RedisTimeoutError("")
    pool = SimpleNamespace(connection_kwargs={})
    others, ours = (
        server_check.explained(SimpleNamespace(drops=drops, connection_pool=pool), error)
        for drops in (Drops(), Drops(lambda: True))
    )
    assert "correct REDIS_URL" in others
    assert "REDIS_URL" not in ours
    assert "`scrapy services status`" in ours


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://:s3cret@host", "must specify one of the following schemes"),
        ("localhost:6379", "must specify one of the following schemes"),
        ("redis://:s3cret@host:notaport", "Port could not be cast"),
        ("redis://u:s3cret", "Port could not be cast"),
        ("redis://:s3cret@host/?s3cret=1&socket_timeout=x", "'socket_timeout'"),
    ],
)
def test_a_broken_url_is_refused_with_the_reason_and_without_secrets(url: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=f"REDIS_URL.*{reason}") as caught:
        connection.connect(settings(REDIS_URL=url))
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("password", ["s3cr/et", "12/s3cret", "12?s3cret", "12#s3cret", "s3@cr/et"])
def test_a_password_that_has_to_be_percent_encoded_is_called_so(password: str) -> None:
    for is_cluster in (False, True):
        with pytest.raises(ConfigError, match=r"'redis://\*\*\*@host:1/0' .* percent-encoded .*\(/ is %2F") as caught:
            connection.connect(settings(REDIS_URL=f"redis://u:{password}@host:1/0", REDIS_CLUSTER=is_cluster))
        assert "s3" not in str(caught.value)
        assert "12" not in str(caught.value)


@pytest.mark.parametrize("option", ["ssl_ca_certs", "ssl_certfile"])
async def test_a_file_that_an_option_names_and_is_not_there_is_one_line(option: str) -> None:
    client = connection.connect(settings(REDIS_URL=f"rediss://u:s3cret@127.0.0.1:1/0?{option}=/none.pem"))
    with pytest.raises(ServiceError, match=r"Redis at 127\.0\.0\.1:1") as caught:
        await advice(client)
    assert "s3cret" not in str(caught.value)
    await client.aclose()


async def test_host_port_and_db_are_honoured_as_in_scrapy_redis() -> None:
    client = connection.connect(settings(REDIS_HOST="10.0.0.1", REDIS_PORT="6390", REDIS_DB=3))
    known = client.connection_pool.connection_kwargs  # type: ignore[union-attr]
    assert (known["host"], known["port"], known["db"]) == ("10.0.0.1", 6390, 3)
    assert server_check.address(client) == "10.0.0.1:6390"
    await client.aclose()


async def test_redis_params_reach_the_client_but_cannot_change_what_it_answers(redis_url: str) -> None:
    params = {"socket_timeout": 7, "decode_responses": True, "url": redis_url, "redis_cls": "redis.Redis"}
    client = connection.connect(settings(REDIS_PARAMS=params))
    assert client.connection_pool.connection_kwargs["socket_timeout"] == 7  # type: ignore[union-attr]
    await client.set("key", b"\xff")
    assert await client.get("key") == b"\xff"
    await client.aclose()


async def test_a_connection_that_dropped_while_idle_is_replaced(
    redis_client: Any, redis_settings: BaseSettings
) -> None:
    client: Any = connection.connect(redis_settings)
    await client.set("key", "value")
    await redis_client.client_kill_filter(_type="normal", skipme=True, **everywhere(redis_client))
    await asyncio.sleep(0.05)
    assert await client.get("key") == b"value"
    await client.aclose()


async def test_a_connection_that_closes_in_its_handshake_is_lost_like_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """uvloop raises a RuntimeError for it."""
    calls = iter((RuntimeError("unable to perform operation on <TCPTransport>; the handler is closed"), None))

    async def execute_command(*_: Any, **__: Any) -> bool:
        if error := next(calls):
            raise error
        return True

    monkeypatch.setattr(Redis, "execute_command", execute_command)
    client = connection.connect(settings(REDIS_HOST="localhost"))
    assert await client.ping()
    calls = iter((RuntimeError("another fault"),))
    with pytest.raises(RuntimeError, match="another fault"):
        await client.ping()


async def test_a_connection_that_another_task_closes_before_the_command_is_written_is_lost_like_others(
    redis_settings: BaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Cluster client closes all of its connections when one node fails it."""
    client: Any = connection.connect(redis_settings)
    await client.set("key", "value")
    send = AbstractConnection._send_packed_command
    closed: list[AbstractConnection] = []

    async def closed_meanwhile(self: AbstractConnection, command: Any) -> None:
        if not closed:
            closed.append(self)
            await self.disconnect()
        await send(self, command)

    monkeypatch.setattr(AbstractConnection, "_send_packed_command", closed_meanwhile)
    assert await client.get("key") == b"value"
    assert closed
    monkeypatch.setattr(AbstractConnection, "_send_packed_command", lambda *_: "".no_such_thing)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="no_such_thing"):
        await client.get("key")
    await client.aclose()


def test_unknown_params_and_ports_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="REDIS_PARAMS"):
        connection.connect(settings(REDIS_HOST="host", REDIS_PARAMS={"no_such_thing": 1}))
    with pytest.raises(ConfigError, match="REDIS_PORT"):
        connection.connect(settings(REDIS_HOST="host", REDIS_PORT=70_000))
