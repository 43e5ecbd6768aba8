"""The primary that Redis Sentinels name: looked up for each connection and now and then, so that failovers are
followed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final
from urllib.parse import unquote

from redis.asyncio.sentinel import SentinelConnectionPool
from redis.exceptions import RedisError

from crawler.errors import ConfigError
from crawler.frontier.server.host_port import host_and_port
from crawler.frontier.server.lost_connections import naming_lost
from crawler.utils import tasks

SCHEMES: Final = {"redis+sentinel": False, "rediss+sentinel": True}  # whether to use TLS
PORT: Final = 26_379
FOLLOW_SECONDS: Final = 1.0
TIMEOUT_SECONDS: Final = 2.0  # of one Sentinel: it answers at once or never, and then the next one is asked
_TIMEOUTS: Final = ("socket_timeout", "socket_connect_timeout")
FORM: Final = "redis+sentinel://[[user]:password@]host[:port],host[:port],.../service[/db]"


@dataclass(frozen=True, slots=True)
class SentinelService:
    """A service monitored by *sentinels*, and the arguments of a client of its primary."""

    sentinels: tuple[tuple[str, int], ...]
    service: str
    params: Mapping[str, Any]


def is_sentinel(url: str | None) -> bool:
    """Whether *url* names Sentinels instead of a server."""
    return str(url).partition("://")[0] in SCHEMES


def parse(url: str) -> SentinelService:
    """Read a URL of the FORM above; user and password are those of the primary. Raises ConfigError without them."""
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    credentials, _, hosts = authority.rpartition("@")
    service, _, database = path.partition("/")
    params: dict[str, Any] = {"ssl": True} if SCHEMES[scheme] else {}
    user, _, password = credentials.partition(":")
    params |= {name: unquote(value) for name, value in (("username", user), ("password", password)) if value}
    if not service or not hosts or not (database or "0").isdecimal() or set(path) & set("?#"):
        raise _refused(scheme)
    if database:
        params["db"] = int(database)
    try:
        sentinels = tuple(host_and_port(host, PORT) for host in hosts.split(","))
    except ValueError:
        raise _refused(scheme) from None
    return SentinelService(sentinels, unquote(service), params)


class PrimaryPool(SentinelConnectionPool):
    """While it is in use it asks the Sentinels once a second: they tell a primary that they have replaced some ten
    seconds later, and what that is told until then is lost. None of its connections is used again then; redis-py
    closes only those that are idle at that moment, and a worker would go on with two primaries by turns."""

    _asked = float("-inf")
    _asking: asyncio.Task[None] | None = None

    async def get_master_address(self) -> Any:
        """Asked for each new connection; raises RedisError. Not redis-py's, which waits until idle ones are closed."""
        self._asked = monotonic()
        with naming_lost():
            self.master_address = await self.sentinel_manager.discover_master(self.service_name)
        return self.master_address

    async def ensure_connection(self, connection: Any) -> None:
        """Called before each use."""
        is_due = self.master_address is not None and monotonic() - self._asked >= FOLLOW_SECONDS
        if is_due and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self.follow())  # a Sentinel that is silent holds up no call
        if self.master_address not in {None, (connection.host, connection.port)}:
            await connection.disconnect(nowait=True)  # one that is frozen takes no leave, which TLS would wait for
        await super().ensure_connection(connection)

    async def follow(self) -> None:
        """Leave a primary that the Sentinels have replaced."""
        with suppress(RedisError):  # they have replaced nothing; whoever connects meets their error
            await self.get_master_address()

    async def disconnect(self, inuse_connections: bool = True) -> None:
        """As redis-py's, which the client calls when it is closed."""
        if self._asking is not None:
            await tasks.end(self._asking)
        await super().disconnect(inuse_connections)


def is_watched(client: Any) -> bool:
    """Whether *client* is one of a primary that Sentinels name."""
    return isinstance(getattr(client, "connection_pool", None), PrimaryPool)


def client(url: str, params: Mapping[str, Any], manager: Any, client_class: Any, **pool: Any) -> Any:
    """A *client_class* of the primary, by redis-py's *manager* (Sentinel, of redis or of redis.asyncio). *pool* may
    have a `connection_pool_class`.

    `sentinel_kwargs` in *params* (REDIS_PARAMS) is for connections to the Sentinels: their password and TLS.
    """
    watched = parse(url)
    options = dict(params)
    asked = options.pop("sentinel_kwargs", {}) or {}
    timeouts = {name: min(options.get(name) or TIMEOUT_SECONDS, TIMEOUT_SECONDS) for name in _TIMEOUTS}
    again = {"retry": options["retry"]} if "retry" in options else {}  # not redis-py's: fifteen tries of a frozen one
    sentinels = manager(watched.sentinels, sentinel_kwargs=timeouts | again | asked)
    return sentinels.master_for(watched.service, redis_class=client_class, **pool, **{**options, **watched.params})


def _refused(scheme: str) -> ConfigError:
    """An error without the URL, which may contain a password."""
    return ConfigError("REDIS_URL", f"{scheme}://...", f"{FORM}, user and password percent-encoded")
