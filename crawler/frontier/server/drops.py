"""Which server a client's connections lead to: connections that were lost, and another server than before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Final
from weakref import WeakSet

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from crawler.frontier.server.known_servers import SECTIONS, KnownServers, read_info

_OTHER: Final = "has restarted or failed over, and may have lost what it confirmed last"


class OtherServerError(RedisConnectionError):
    """The call is for a server that answers no more; what is said of that is its message."""


class Drops:
    """Reports that a connection was lost, and that another server answers: after a restart or a failover. redis-py
    silently reconnects an idle connection when it is next used.

    *is_ours*, called in a thread: whether the bundled server still has its port; None for any other server.
    *by_address*: each address is a server of its own, as in a Cluster.
    """

    def __init__(self, is_ours: Callable[[], bool] | None = None, *, by_address: bool = False) -> None:
        self.on_drop: Callable[[], None] = lambda: None
        self.on_other_server: Callable[[], None] = lambda: None
        self.is_bundled = is_ours is not None
        self.changes = 0  # so often another server has answered than before
        self._is_ours = is_ours
        self._by_address = by_address
        self._known: WeakSet[Any] = WeakSet()
        self._servers = KnownServers()
        # Of this client alone: another one in the same task has counts of its own.
        self._expected: ContextVar[int | None] = ContextVar("expected", default=None)

    def seen(self, infos: Mapping[str, Mapping[str, Any]], primaries: Collection[str]) -> None:
        """The answers to INFO (SECTIONS), by addresses, of some of the *primaries* there are. Connections that were not
        lost may lead to other servers than before: behind a proxy, or after a resharding."""
        if self._servers.are(infos, primaries):
            self._other()

    async def greet(self, connection: Any) -> None:
        """redis-py calls this for each new connection, in place of its own handshake. Nothing is sent to a stranger
        that took the port of the bundled server while that is down (its data would be another project's), nor to
        another server than the current call is for."""
        try:
            await self._check_port()
            await connection.on_connect()
            self._met(connection, await _info(connection))
            self.check()
        except BaseException:  # redis-py would use it as it is: without parser, password or database
            await connection.disconnect(nowait=True)
            raise

    def _met(self, connection: Any, info: Mapping[str, Any]) -> None:
        if connection in self._known:
            self.on_drop()
        self._known.add(connection)
        if self._servers.met(f"{connection.host}:{connection.port}" if self._by_address else "", info):
            self._other()

    def check(self) -> None:
        """Raise a lost connection if the current call is for a server that answers no more."""
        if self._expected.get() not in {None, self.changes}:
            raise OtherServerError(_OTHER)

    @property
    def is_for_one(self) -> bool:
        """Whether the current call is for one server only."""
        return self._expected.get() is not None

    def _other(self) -> None:
        self.changes += 1
        self.on_other_server()

    @contextmanager
    def any_server(self) -> Iterator[None]:
        """Calls inside reach any server, whichever one the call around them is for."""
        token = self._expected.set(None)
        try:
            yield
        finally:
            self._expected.reset(token)

    @contextmanager
    def same_server(self) -> Iterator[None]:
        """Calls inside, and in tasks that begin there, reach the server that answers now, or raise a lost connection.
        Inside of another one, it is that one's server."""
        if self.is_for_one:
            yield
            return
        token = self._expected.set(self.changes)
        try:
            yield
        finally:
            self._expected.reset(token)

    async def _check_port(self) -> None:
        try:
            is_ours = self._is_ours is None or await asyncio.to_thread(self._is_ours)
        except (OSError, RuntimeError) as error:  # no file or thread is left: that passes, as an outage does
            raise RedisConnectionError(f"whose server has the port of the bundled one is not known: {error}") from error
        if not is_ours:
            raise RedisConnectionError("the bundled server is down, or another one has its port")


def same_server(client: Any) -> AbstractContextManager[None]:
    """`Drops.same_server` of *client*, if it keeps account of its servers."""
    drops = getattr(client, "drops", None)
    return nullcontext() if drops is None else drops.same_server()


def seen(client: Any, infos: Mapping[str, Mapping[str, Any]], primaries: Collection[str]) -> None:
    """`Drops.seen` of *client*, if it keeps account of its servers."""
    if (drops := getattr(client, "drops", None)) is not None:
        drops.seen(infos, primaries)


async def send(client: Any, drops: Drops, *args: Any, **options: Any) -> Any:
    """Send a command, but to no other server than the call is for."""
    pool = client.connection_pool
    connection = await pool.get_connection()
    try:
        drops.check()
        await connection.send_command(*args)
        return await client.parse_response(connection, args[0], **options)
    finally:
        await pool.release(connection)


async def _info(connection: Any) -> dict[str, str]:
    """Which start of which server this is; empty where it may not be asked, which other checks of it report."""
    await connection.send_command("INFO", *SECTIONS)
    try:
        return read_info(await connection.read_response())
    except ResponseError:
        return {}
