"""Which server a client's connections lead to: connections that were lost, and another server than before."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Final
from weakref import WeakSet

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

_RUN_ID: Final = re.compile(rb"^run_id:(\w+)", re.MULTILINE)  # in INFO: another one after each start
_OTHER: Final = "has restarted or failed over, and may have lost what it confirmed last"
_MAYBE: Final = "has closed a connection: it may have restarted, or failed over, and lost what it confirmed last"


class OtherServerError(RedisConnectionError):
    """The call is for a server that answers no more; what is said of that is its message."""


class Drops:
    """Reports that a connection was lost, and that another server answers: after a restart or a failover. redis-py
    silently reconnects an idle connection when it is next used.

    *is_ours*, called in a thread: whether the bundled server still has its port; None for any other server. A client
    that does not greet its nodes (a Cluster's) takes each lost connection for another server.
    """

    def __init__(self, is_ours: Callable[[], bool] | None = None, *, greets: bool = True) -> None:
        self.on_drop: Callable[[], None] = lambda: None
        self.on_other_server: Callable[[], None] = lambda: None
        self.changes = 0  # so often another server has answered than before
        self._is_ours = is_ours
        self._greets = greets
        self._known: WeakSet[Any] = WeakSet()
        self._run_id = b""
        # Of this client alone: another one in the same task has counts of its own.
        self._expected: ContextVar[int | None] = ContextVar("expected", default=None)

    def dropped(self) -> None:
        """A connection was lost in the middle of a call."""
        self.on_drop()
        if not self._greets:
            self._other()

    async def greet(self, connection: Any) -> None:
        """redis-py calls this for each new connection, in place of its own handshake. Nothing is sent to a stranger
        that took the port of the bundled server while that is down: its data would be another project's."""
        try:
            await self._check_port()
            await connection.on_connect()
            run_id = await _run_id(connection)
        except BaseException:  # redis-py would use it as it is: without parser, password or database
            await connection.disconnect(nowait=True)
            raise
        if connection in self._known:
            self.on_drop()
        self._known.add(connection)
        if self._run_id and run_id and run_id != self._run_id:
            self._other()
        self._run_id = run_id or self._run_id

    def check(self) -> None:
        """Raise a lost connection if the current call is for a server that answers no more."""
        if self._expected.get() not in {None, self.changes}:
            raise OtherServerError(_OTHER if self._greets else _MAYBE)

    @property
    def is_for_one(self) -> bool:
        """Whether the current call is for one server only."""
        return self._expected.get() is not None

    def _other(self) -> None:
        self.changes += 1
        self.on_other_server()

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


async def _run_id(connection: Any) -> bytes:
    """Which start of which server this is; empty where it may not be asked, which other checks of it report."""
    await connection.send_command("INFO", "server")
    try:
        answer = await connection.read_response()
    except ResponseError:
        return b""
    found = _RUN_ID.search(answer.encode() if isinstance(answer, str) else answer)
    return found[1] if found else b""
