"""A server that still loads its data is waited for."""

from __future__ import annotations

import logging
from socket import gaierror
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.sentinel import Sentinel
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    InvalidResponse,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier.server import server_check


class Server:
    """Answers after *refusals* refusals."""

    def __init__(self, *refusals: Exception) -> None:
        self.refusals = list(refusals)
        self.connection_pool = self
        self.connection_kwargs = {"host": "redis.example", "port": 6379}

    async def ping(self) -> None:
        if self.refusals:
            raise self.refusals.pop()


async def test_it_is_waited_for_and_that_is_said_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_check, "LOADING_POLL_SECONDS", 0)
    server = Server(BusyLoadingError(), BusyLoadingError(), BusyLoadingError())

    with caplog.at_level(logging.WARNING):
        await server_check._loaded(server)

    assert not server.refusals
    assert caplog.messages == ["Redis at redis.example:6379 is still loading its data, waiting"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ResponseError("MISCONF Valkey is configured to save RDB snapshots, but ..."), "cannot save to its disk"),
        (ReadOnlyError("You can't write against a read only replica."), "is a replica"),
        (ResponseError("NOREPLICAS Not enough good replicas to write."), "min-replicas-to-write"),
        (OutOfMemoryError("command not allowed when used memory > 'maxmemory'."), "raise its maxmemory"),
        (ResponseError("BUSY Valkey is busy running a script."), "SCRIPT KILL"),
        (ResponseError("unknown command 'EVALSHA'"), "use Redis 7 or Valkey 7.2 or later, and rename none"),
        (
            ResponseError("ACL failure in script: User ro has no permissions to run the 'set' command"),
            "SETUSER ro +set",
        ),
        (NoPermissionError("No permissions to access a key", status_code="NOPERM"), "ACL SETUSER USER ~"),
        (ClusterDownError("Hash slot not served", status_code="CLUSTERDOWN"), "(CLUSTERDOWN Hash slot not served)"),
        (AskError("3999 10.0.0.1:6381", status_code="ASK"), "set REDIS_CLUSTER to True (ASK 3999 10.0.0.1:6381)"),
        (RedisConnectionError("max number of clients reached", status_code="ERR"), "raise its maxclients"),
        (AuthenticationError("Authentication required.", status_code="NOAUTH"), "check REDIS_URL"),
        (ResponseError("FOO nobody knows"), "does not know: see its log"),
        (RedisConnectionError("refused"), "does not answer (ConnectionError): start it"),
        (InvalidResponse("Protocol Error: b'HTTP/1.1 400'"), "does not answer (another program listens there): start"),
        (ResponseError("DB index is out of range"), "has no database of that number: see its `databases`"),
    ],
)
def test_the_advice_is_for_what_the_server_said(error: Exception, words: str) -> None:
    said = server_check.explained(Server(), error)
    assert said.startswith("Redis at redis.example:6379 ")
    assert words in said
    assert ("Redis 7 or Valkey" in said) == ("EVALSHA" in str(error))


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 1)"), "(Connection refused)"),
        (gaierror(-2, "Name or service not known"), "(Name or service not known)"),
        (TimeoutError(), "(ConnectionError)"),
    ],
)
def test_why_there_is_no_connection_is_said_in_words_of_the_system(reason: OSError, words: str) -> None:
    error = RedisConnectionError("with a secret")
    error.__context__ = reason
    said = server_check.explained(Server(), error)
    assert f"does not answer {words}: start it" in said


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (
            "Error 111 connecting to 10.0.0.2:7001. Connect call failed ('10.0.0.2', 7001)",
            "10.0.0.2:7001, of the Cluster",
        ),
        ("Timeout reading from socket", "10.0.0.1:7000, 10.0.0.2:7001 does"),
    ],
)
def test_of_a_cluster_the_node_that_is_away_is_named(words: str, where: str) -> None:
    cluster: Any = RedisCluster(startup_nodes=[ClusterNode("10.0.0.1", 7000), ClusterNode("10.0.0.2", 7001)])
    said = server_check.explained(cluster, RedisConnectionError(words))
    assert said.startswith(f"Redis at {where}")
    assert "does not answer (ConnectionError)" in said


def test_of_a_cluster_the_node_that_refuses_is_named() -> None:
    error = ResponseError("max number of clients + cluster connections reached")
    error.connection = node = ClusterNode("10.0.0.2", 7001)  # type: ignore[attr-defined]  # as a Cluster client does
    said = server_check.explained(RedisCluster(startup_nodes=[ClusterNode("10.0.0.1", 7000), node]), error)
    assert said.startswith("Redis at 10.0.0.2:7001, of the Cluster of 10.0.0.1:7000, 10.0.0.2:7001, takes no more")


async def test_one_that_is_not_there_is_not(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(RedisConnectionError):
        await server_check._loaded(Server(RedisConnectionError()))
    assert not caplog.messages


def test_redis_cli_is_called_with_what_reaches_the_server_and_without_its_password() -> None:
    """Bundled servers and most others do not listen where redis-cli looks by itself."""
    for url, called in (
        ("redis://user:secret@127.0.0.1:37141/0", "redis-cli -h 127.0.0.1 -p 37141"),
        ("redis://127.0.0.1:6379/3", "redis-cli -h 127.0.0.1 -p 6379 -n 3"),
        ("rediss://redis.example:6380", "redis-cli -h redis.example -p 6380 --tls"),
        ("unix:///run/redis.sock", "redis-cli -s /run/redis.sock"),
        ("unix:///run/redis.sock?db=2", "redis-cli -s /run/redis.sock -n 2"),
    ):
        assert server_check.redis_cli(Redis.from_url(url)) == called
    nodes = [ClusterNode("10.0.0.1", 7000), ClusterNode("10.0.0.2", 7000)]
    assert server_check.redis_cli(RedisCluster(startup_nodes=nodes)) == "redis-cli -c -h 10.0.0.1 -p 7000"
    assert server_check.redis_cli(RedisCluster(startup_nodes=nodes, ssl=True)).endswith("-p 7000 --tls")
    watched = Sentinel([("10.0.0.9", 26379)]).master_for("shop")  # type: ignore[no-untyped-call]
    assert server_check.redis_cli(watched) == "redis-cli (on the primary of shop of Sentinels 10.0.0.9:26379)"


@pytest.mark.parametrize(
    ("told", "evicts"),
    [
        ({"maxmemory": 1, "maxmemory_policy": "allkeys-lru"}, True),
        ({"maxmemory": 1, "maxmemory_policy": "noeviction"}, False),
        ({"maxmemory": 0, "maxmemory_policy": "volatile-lru"}, False),
        ({"maxmemory": 1}, False),
        ({}, False),
    ],
)
def test_only_a_server_that_says_so_throws_keys_away(told: dict[str, Any], evicts: bool) -> None:
    """Managed ones may tell neither a limit nor a policy."""
    assert server_check.evicts([{"maxmemory": 1, "maxmemory_policy": "noeviction"}, told]) is evicts
