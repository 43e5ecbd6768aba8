"""Whoever uses the frontier meets its own errors: those that pass, and those that need a person."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.sentinel import MasterNotFoundError
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ExecAbortError,
    MasterDownError,
    MovedError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier.errors import (
    FrontierError,
    FrontierFullError,
    FrontierRefusedError,
    FrontierUnavailableError,
)
from crawler.frontier.server import refusals
from crawler.frontier.server.failures import Commands

ERRORS = [
    (ReadOnlyError("READONLY"), FrontierUnavailableError),
    (OutOfMemoryError("OOM"), FrontierFullError),
    (MasterDownError("x"), FrontierUnavailableError),
    (ExecAbortError("discarded"), FrontierUnavailableError),
    (ResponseError("UNKILLABLE"), FrontierUnavailableError),
    (ResponseError("MISCONF disk is full"), FrontierUnavailableError),
    (ResponseError("LOADING"), FrontierUnavailableError),
    (ResponseError("max number of clients + cluster connections reached"), FrontierUnavailableError),
    (ResponseError("Script attempted to access a non local key in a cluster node"), FrontierUnavailableError),
    (RedisConnectionError("refused"), FrontierUnavailableError),
    (RedisClusterException("no node"), FrontierUnavailableError),
    (ConnectionResetError("gone"), FrontierUnavailableError),
    (TimeoutError(), FrontierUnavailableError),
    (ResponseError("WRONGTYPE Operation against a key"), FrontierRefusedError),
    (NoPermissionError("NOPERM"), FrontierRefusedError),
    (ResponseError("ERR no"), FrontierRefusedError),
]


@pytest.mark.parametrize(("error", "expected"), ERRORS)
async def test_what_the_driver_raises_is_the_frontiers(error: Exception, expected: type[FrontierError]) -> None:
    async def get(key: str) -> None:
        raise error

    client: Any = SimpleNamespace(get=get)
    with pytest.raises(FrontierError) as raised:
        await Commands(client).get("key")
    assert type(raised.value) is expected
    assert raised.value.__cause__ is error
    assert str(error) in str(raised.value)
    assert str(raised.value)


CURED = [
    (NoPermissionError("User w has no permissions to run the 'hget' command", status_code="NOPERM"), "SETUSER w +hget"),
    (NoPermissionError("No permissions to access a key", status_code="NOPERM"), "ACL SETUSER USER ~{shoal:*"),
    (ResponseError("FOO"), "that this release does not know"),
    (ResponseError("user_script:12: attempt to index a nil value", status_code="ERR"), "report this line"),
    (
        ResponseError(
            "The user executing the script can't run this command or subcommand script: 1f, on @user_script:8"
        ),
        "does not permit this user a command",
    ),
    (ResponseError("Unknown command called from script script: on @user_script:4.", status_code="ERR"), "rename none"),
    (MovedError("3999 10.0.0.1:6381", status_code="MOVED"), "MOVED 3999 10.0.0.1:6381: it is a node of a Cluster"),
    (MasterNotFoundError("No master found for 'shoal' : <Redis(...)> - ConnectionError"), "'shoal': it has no primary"),
    (MasterDownError("x", status_code="MASTERDOWN"), "MASTERDOWN x: it is a replica"),
    (AuthenticationError("Authentication required.", status_code="NOAUTH"), "check REDIS_URL"),
    (BusyLoadingError("x", status_code="LOADING"), "LOADING x: it is still loading its data"),
    (RedisConnectionError("max number of clients reached", status_code="ERR"), "raise its maxclients"),
    (ResponseError("max number of clients + cluster connections reached"), "raise its maxclients"),
    (ResponseError("access a non local key in a cluster node script: on @user_script:8"), "is moving data"),
]


@pytest.mark.parametrize(("error", "words"), CURED)
async def test_a_refusal_is_told_with_its_code_its_call_and_what_to_do(error: Exception, words: str) -> None:
    async def hget(key: str, field: str) -> None:
        raise error

    client: Any = SimpleNamespace(hget=hget)
    with pytest.raises(FrontierError) as raised:
        await Commands(client).hget("{shoal:0}:hosts", "a.example")
    assert words in str(raised.value)
    is_final = isinstance(raised.value, FrontierRefusedError)
    assert ("refuses HGET on {shoal:0}:hosts" in str(raised.value)) == is_final


def test_the_rule_for_start_urls_covers_their_leases() -> None:
    error = NoPermissionError("No permissions to access a key", status_code="NOPERM")
    assert "(ACL SETUSER USER ~other:start_urls ~{other:start_urls}:*)" in refusals.cure(error, "other:start_urls")


async def test_answers_and_what_is_no_command_pass_through() -> None:
    async def get(key: str) -> str:
        return key

    client: Any = SimpleNamespace(get=get, name="here", pipeline=lambda transaction: transaction)
    commands = Commands(client)
    assert await commands.get("key") == "key"
    assert (commands.name, commands.pipeline(transaction=False)) == ("here", False)


async def test_a_bug_of_ours_stays_what_it_is() -> None:
    async def get() -> None:
        raise KeyError("ours")

    client: Any = SimpleNamespace(get=get)
    with pytest.raises(KeyError):
        await Commands(client).get()


async def test_a_node_of_a_cluster_that_refuses_for_a_while_is_named() -> None:
    async def get(key: str) -> None:
        error = ResponseError("BUSY Redis is busy running a script.", status_code="BUSY")
        error.connection = ClusterNode("10.0.0.1", 7001)  # type: ignore[attr-defined]  # as a Cluster client does
        raise error

    client: Any = SimpleNamespace(get=get)
    with pytest.raises(FrontierUnavailableError, match=r"running a script at 10\.0\.0\.1:7001: it is busy"):
        await Commands(client).get("key")
