"""A client whose connection is lost: what is sent again, and who is told."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import MaxConnectionsError, ResponseError

from crawler.frontier.server.connection import _twice
from crawler.frontier.server.drops import Drops, same_server, seen


class Losing:
    """A call whose connection is lost the first time."""

    def __init__(self, kind: type[RedisConnectionError] = RedisConnectionError) -> None:
        self.calls = 0
        self._kind = kind

    async def __call__(self) -> str:
        self.calls += 1
        if self.calls == 1:
            raise self._kind
        return "answer"


def told() -> tuple[Drops, list[str]]:
    drops, heard = Drops(), []
    drops.on_drop = lambda: heard.append("drop")
    drops.on_other_server = lambda: heard.append("other server")
    return drops, heard


async def test_a_call_is_sent_again() -> None:
    drops, heard = told()
    assert await _twice(Losing(), drops) == "answer"
    assert heard == ["drop"]


async def test_a_pool_that_is_used_up_has_lost_no_connection() -> None:
    """Or with REDIS_PARAMS = {"max_connections": ...} a worker would forget what it knows again and again."""
    drops, heard = told()
    assert await _twice(Losing(MaxConnectionsError), drops) == "answer"
    assert not heard


async def test_a_server_that_nobody_listens_at_has_lost_no_connection() -> None:
    """A node of a Cluster that is away, and is looked for several times a second."""
    drops, heard = told()
    calls = 0

    async def refused() -> str:
        nonlocal calls
        calls += 1
        if calls == 2:
            return "answer"
        try:
            raise ConnectionRefusedError(111, "Connect call failed")
        except OSError as error:
            raise RedisConnectionError(str(error))  # noqa: B904 - as redis-py does

    assert await _twice(refused, drops) == "answer"
    assert not heard


async def test_one_for_the_same_server_is_sent_again_to_that() -> None:
    drops, heard = told()
    with drops.same_server():
        assert await _twice(Losing(), drops) == "answer"
    assert heard == ["drop"]


async def test_one_for_a_server_that_another_call_found_gone_is_not_sent() -> None:
    drops, _ = told()
    call = Losing()
    with drops.same_server():
        drops._other()
        with pytest.raises(RedisConnectionError, match="lost what it confirmed last"):
            await _twice(call, drops)
    assert not call.calls


async def test_calls_for_one_server_that_are_part_of_others_are_for_that_of_the_others() -> None:
    drops, _ = told()
    with drops.same_server():
        drops._other()
        with drops.same_server(), pytest.raises(RedisConnectionError, match="lost what it confirmed last"):
            drops.check()
    with drops.same_server():
        drops.check()
    assert not drops.is_for_one


async def test_each_client_has_a_server_of_its_own() -> None:
    (drops, _), (other, _) = told(), told()
    drops._other()
    with drops.same_server():
        assert not other.is_for_one
        other.check()
        with other.same_server():
            drops._other()
            other.check()
            with pytest.raises(RedisConnectionError, match="lost what it confirmed last"):
                drops.check()


def test_a_client_that_keeps_no_account_expects_nothing() -> None:
    with same_server(object()):
        seen(object(), {"": {"run_id": "aa"}}, [""])


class Connection:
    """As redis-py's, to a server whose INFO is *answer*."""

    def __init__(self, answer: bytes | str | Exception, port: int = 1) -> None:
        self.answer = answer
        self.host, self.port = "a.example", port
        self.sent: list[tuple[str, ...]] = []

    async def on_connect(self) -> None:
        self.sent.append(("HELLO",))

    async def send_command(self, *args: str) -> None:
        self.sent.append(args)

    async def read_response(self) -> bytes | str:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def disconnect(self, *, nowait: bool) -> None:
        self.sent.append(("closed",))


@pytest.mark.parametrize(
    ("answers", "changes"),
    [
        ([b"# Server\r\nrun_id:aa\r\n"] * 3, 0),
        ([b"run_id:aa\r\n", b"run_id:bb\r\n", b"run_id:bb\r\n"], 1),
        (["run_id:aa\r\n", b"run_id:aa\r\n"], 0),
        ([ResponseError("NOPERM"), b"run_id:aa\r\n", ResponseError("NOPERM"), b"run_id:aa\r\n"], 0),
        ([b"run_id:aa\r\n", b"redis_version:9\r\n", b"run_id:bb\r\n"], 1),
    ],
    ids=["the same", "started again", "decoded", "not told", "told only sometimes"],
)
async def test_another_server_is_known_by_its_run_id(answers: list[bytes | str | Exception], changes: int) -> None:
    drops, heard = told()
    for answer in answers:
        connection = Connection(answer)
        await drops.greet(connection)
        assert connection.sent == [("HELLO",), ("INFO", "server", "replication")]
    assert drops.changes == heard.count("other server") == changes


@pytest.mark.parametrize("by_address", [True, False], ids=["Cluster", "one server"])
async def test_only_each_node_of_a_cluster_is_a_server_of_its_own(by_address: bool) -> None:
    drops = Drops(by_address=by_address)
    for port in (1, 2):
        await drops.greet(Connection(f"run_id:{port}\r\n", port))
    assert drops.changes == (0 if by_address else 1)


async def test_a_connection_to_another_server_than_a_call_is_for_is_not_used() -> None:
    drops, _ = told()
    await drops.greet(Connection("run_id:aa\r\n"))
    other = Connection("run_id:bb\r\n")
    with drops.same_server():
        with pytest.raises(RedisConnectionError, match="lost what it confirmed last"):
            await drops.greet(other)
        with drops.any_server():
            await drops.greet(Connection("run_id:bb\r\n"))
    assert other.sent[-1] == ("closed",)


async def test_another_server_behind_a_connection_that_stays_is_told() -> None:
    """As behind a proxy that keeps its own connections."""
    drops, heard = told()
    await drops.greet(Connection("run_id:aa\r\n"))
    client = SimpleNamespace(drops=drops)
    for run_id in ("aa", "bb", "bb"):
        seen(client, {"": {"run_id": run_id}}, [""])
    assert heard == ["other server"]
