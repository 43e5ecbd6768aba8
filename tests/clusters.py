"""A Valkey Cluster, of three nodes for the tests that run on one server as well."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import redis

from crawler.embedded.service import VALKEY
from demo.state import any_port
from tests.servers import Server

NODES = 3
ATTEMPTS = 3
SLOTS = 16_384
FORM_SECONDS = 60.0


class Cluster:
    """Empty at first; `kill` ends every node, `start` brings them back on their ports with their data. With *replicas*
    each of its *primaries* has one, which takes over `timeout_ms` after its end. *options* are of each node."""

    def __init__(
        self, data: Path, *, primaries: int = NODES, replicas: bool = False, timeout_ms: int = 15_000, options: str = ""
    ) -> None:
        self._primaries = primaries
        self._options = options.split()
        self._count = 2 * primaries if replicas else primaries
        self._timeout_ms = timeout_ms
        for attempt in range(ATTEMPTS):
            try:
                self._begin(data / str(attempt))
                break
            except AssertionError:  # one of its ports was taken meanwhile
                self.kill()
                if attempt == ATTEMPTS - 1:
                    raise

    def _begin(self, data: Path) -> None:
        data.mkdir()
        self._buses = [any_port() for _ in range(self._count)]
        self.nodes: list[Server] = []
        for at, bus in enumerate(self._buses):
            self.nodes.append(_node(bus, data / str(at), self._timeout_ms, self._options))
        self._form()

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of its workers."""
        return {"REDIS_URL": self.nodes[0].url, "REDIS_CLUSTER": True}

    def start(self) -> None:
        """Return when all nodes serve all slots again."""
        for node in self.nodes:
            node.start()
        self._wait()

    def kill(self) -> None:
        for node in self.nodes:
            node.kill()

    def flush(self) -> None:
        """Empty all nodes."""
        for node in self.nodes:
            with redis.from_url(node.url) as client:
                client.flushall()

    def _form(self) -> None:
        """Share the slots out and introduce the nodes to the first one."""
        bounds = [SLOTS * at // self._primaries for at in range(self._primaries + 1)]
        for at, node in enumerate(self.nodes):
            with redis.from_url(node.url) as client:
                if at < self._primaries:
                    client.execute_command("CLUSTER", "ADDSLOTSRANGE", bounds[at], bounds[at + 1] - 1)
                client.execute_command("CLUSTER", "MEET", "127.0.0.1", self.nodes[0].port, self._buses[0])
        self._wait()
        for replica, primary in zip(self.nodes[self._primaries :], self.nodes, strict=False):
            self._follow(replica, primary)

    def _follow(self, replica: Server, primary: Server) -> None:
        with redis.from_url(primary.url) as client:
            name = client.execute_command("CLUSTER", "MYID").decode()
        deadline = time.monotonic() + FORM_SECONDS
        with redis.from_url(replica.url) as client:
            while name not in str(client.execute_command("CLUSTER", "NODES")):
                assert time.monotonic() < deadline, name
                time.sleep(0.02)
            client.execute_command("CLUSTER", "REPLICATE", name)
            while client.info("replication").get("master_link_status") != "up":
                assert time.monotonic() < deadline, name
                time.sleep(0.02)

    def _wait(self) -> None:
        deadline = time.monotonic() + FORM_SECONDS
        for node in self.nodes:
            with redis.from_url(node.url) as client:
                while "cluster_state:ok" not in (info := str(client.execute_command("CLUSTER", "INFO"))):
                    assert time.monotonic() < deadline, info
                    time.sleep(0.02)


def _node(bus: int, data: Path, timeout_ms: int, options: Sequence[str]) -> Server:
    """The bundled Valkey in cluster mode, on the data directory *data*; its cluster bus is on port *bus*."""

    timeout = ("--cluster-node-timeout", str(timeout_ms), "--repl-diskless-sync-delay", "0", *options)

    def arguments(data: Path, port: int) -> list[str]:
        return [*VALKEY.arguments(data, port), "--cluster-enabled", "yes", "--cluster-port", str(bus), *timeout]

    data.mkdir()
    return Server(replace(VALKEY, arguments=arguments), data)
