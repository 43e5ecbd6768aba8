"""Fixtures of the frontier's tests, which run on one server and again on a Cluster of three nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from scrapy.settings import BaseSettings

from crawler.frontier.server import connection
from tests.integration.frontier.harness import everywhere

COMMANDS: dict[str, Any] = {}  # what a Cluster's first client has read; to read it took a third of a test's time


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test on both, but for those that are marked `one_server`."""
    if "redis_settings" in metafunc.fixturenames and not metafunc.definition.get_closest_marker("one_server"):
        metafunc.parametrize("redis_settings", ["server", "cluster"], indirect=True)


@pytest.fixture
def redis_settings(request: pytest.FixtureRequest) -> BaseSettings:
    """Where Redis is."""
    if getattr(request, "param", "server") == "cluster":
        return BaseSettings(request.getfixturevalue("cluster").settings)
    return BaseSettings({"REDIS_URL": request.getfixturevalue("redis_url"), "REDIS_CLUSTER": False})


@pytest.fixture
async def redis_client(redis_settings: BaseSettings) -> AsyncIterator[Any]:
    """A client of the empty server, or of the empty Cluster."""
    client: Any = connection.connect(redis_settings)
    if of_cluster := redis_settings.getbool("REDIS_CLUSTER"):
        client.commands_parser.commands = COMMANDS
    await client.flushall(**everywhere(client))
    if of_cluster:
        COMMANDS.update(client.commands_parser.commands)
    yield client
    await client.aclose()
