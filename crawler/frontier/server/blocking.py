"""Scripts that a thread runs on its own connection while the event loop is blocked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from redis import Redis
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import NoScriptError
from redis.retry import Retry
from redis.sentinel import Sentinel
from scrapy.settings import BaseSettings

from crawler import config
from crawler.frontier.messages import Handle
from crawler.frontier.server import cluster, connection, keys, sentinel
from crawler.frontier.server.failures import translating
from crawler.frontier.server.shards import FEW, Shards, groups
from crawler.frontier.server.wire_format import handle_row

TIMEOUT_SECONDS: Final = 5.0  # per call: the next one comes soon, and a lease outlives several


class WaitingCluster(cluster.StaysOffMovingSlots, RedisCluster):
    """A blocking client of a Cluster."""


def connect(settings: BaseSettings) -> Any:
    """A blocking client of the same server as `connection.connect`; for a Cluster it connects to a node at once."""
    url, params = connection.arguments(settings)
    params |= {
        name: min(params.get(name) or TIMEOUT_SECONDS, TIMEOUT_SECONDS)
        for name in ("socket_timeout", "socket_connect_timeout")
    }
    params["retry"] = Retry(NoBackoff(), 0)
    if url and sentinel.is_sentinel(url):
        return sentinel.client(url, params, Sentinel, Redis)
    if config.boolean(settings, "REDIS_CLUSTER"):
        return cluster.client(url, params, WaitingCluster, ClusterNode)
    return Redis.from_url(url, **params) if url else Redis(**params)


class BlockingScripts:
    """Runs scripts for one thread. Connects on the first call; raises FrontierError."""

    def __init__(self, shards: Shards, connect: Callable[[], Any]) -> None:
        self._shards = shards
        self._connect = connect
        self._client: Any = None

    def on_handles(self, name: str, handles: Sequence[Handle], *arguments: str) -> dict[Handle, bool]:
        """Run a script that takes handles, each on its own shard; returns the answer for each, True for those of shards
        that are away."""
        answers = dict.fromkeys(handles, True)
        for shard, mine in self._by_shard([*filter(self._shards.has, handles)]).items():
            for group in groups(mine, FEW):
                found = self._run(name, shard, *arguments, *map(handle_row, group))
                answers |= {handle: bool(answer) for handle, answer in zip(group, found, strict=True)}
        return answers

    def everywhere(self, name: str, *arguments: str | int) -> None:
        """Run a script on each shard that is there."""
        for shard in self._shards.there:
            self._run(name, shard, *arguments)

    def close(self) -> None:
        """Drop the connection."""
        if self._client is not None:
            self._client.close()

    def _run(self, name: str, shard: int, *arguments: bytes | str | int) -> Any:
        key = self._shards.tag(shard)
        with translating(f"the script {name}", key):
            if self._client is None:
                self._client = self._connect()
            try:
                return self._client.evalsha(self._shards.scripts.digest(name), 1, key, *arguments)
            except NoScriptError:
                return self._client.eval(self._shards.scripts.text(name), 1, key, *arguments)

    def _by_shard(self, handles: Sequence[Handle]) -> dict[int, list[Handle]]:
        found: dict[int, list[Handle]] = {}
        for handle in handles:
            found.setdefault(keys.shard_of_id(handle[0]), []).append(handle)
        return found
