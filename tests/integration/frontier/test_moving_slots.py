"""A shard that is moved to another node of a Cluster key by key, while its workers go on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.crc import key_slot
from scrapy.settings import BaseSettings

from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.frontier import Frontier
from crawler.frontier.server import blocking, connection
from crawler.frontier.server.blocking import BlockingScripts
from tests.clusters import Cluster
from tests.integration.frontier.making import acked, handles, message


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path, primaries=2)
    yield made
    made.kill()


class Move:
    """Of the slot of *key* from the node that has it to the other one."""

    def __init__(self, nodes: Cluster, key: str) -> None:
        self._slot = key_slot(key.encode())
        clients: list[Any] = [redis.Redis(port=node.port) for node in nodes.nodes]
        self.old, self.new = clients if self._slot < 8192 else reversed(clients)
        self._old, self._new = (client.execute_command("CLUSTER", "MYID") for client in (self.old, self.new))

    def begin(self) -> None:
        self.new.execute_command("CLUSTER", "SETSLOT", self._slot, "IMPORTING", self._old)
        self.old.execute_command("CLUSTER", "SETSLOT", self._slot, "MIGRATING", self._new)

    def keys(self, most: int) -> None:
        """Move so many of them."""
        if keys := self.old.execute_command("CLUSTER", "GETKEYSINSLOT", self._slot, most):
            port = self.new.get_connection_kwargs()["port"]
            self.old.execute_command("MIGRATE", "127.0.0.1", port, "", 0, 5000, "KEYS", *keys)

    def end(self) -> None:
        for client in (self.new, self.old):
            client.execute_command("CLUSTER", "SETSLOT", self._slot, "NODE", self._new)
            client.close()


async def test_whoever_asks_waits_until_all_keys_are_moved(nodes: Cluster) -> None:
    settings = BaseSettings(nodes.settings)
    client: Any = connection.connect(settings)
    frontier = Frontier(client, FrontierConfig())
    await frontier.open()
    await frontier.push([message(number, f"{number}.example") for number in range(20)])
    held = handles((await frontier.lease(["s"], 5, worker="w")).leases)
    scripts = BlockingScripts(frontier.shards, partial(blocking.connect, settings))
    move = Move(nodes, frontier.shards.tag(0))
    move.begin()
    for moved in (0, 3, 1000):
        move.keys(moved)
        before = move.old.dbsize(), move.new.dbsize()
        with pytest.raises(FrontierUnavailableError, match="being moved between its nodes: wait"):
            await frontier.push([message(99)])
        with pytest.raises(FrontierUnavailableError, match="being moved between its nodes: wait"):
            await asyncio.to_thread(scripts.on_handles, "renew", held, "0")
        assert (move.old.dbsize(), move.new.dbsize()) == before
    move.end()
    assert all((await asyncio.to_thread(scripts.on_handles, "renew", held, "0")).values())
    assert all(await acked(frontier, held))
    found = (await frontier.inspection.stats("s")).total
    assert (found.queued, found.leased, found.done) == (15, 0, 5)
    scripts.close()
    await client.aclose()
