"""Clients of the configured Redis; scrapy-redis' settings work as there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.cluster import LoadBalancingStrategy
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import MaxConnectionsError, RedisClusterException, RedisError
from scrapy.settings import BaseSettings

from crawler import config, embedded
from crawler.errors import ConfigError
from crawler.frontier.server import cluster, sentinel
from crawler.frontier.server.drops import Drops, send
from crawler.frontier.server.lost_connections import naming_lost
from crawler.frontier.server.scripts import Client

_DEFAULTS: Final[dict[str, Any]] = {
    "socket_timeout": 30,
    "socket_connect_timeout": 10,
    "health_check_interval": 30,
}
_OURS: Final = ("decode_responses", "encoding", "encoding_errors", "redis_cls", "retry_on_timeout")


class ReconnectingRedis(Redis):
    """A client of one server that tries twice; see `_twice`."""

    drops: Drops

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """As redis-py's, with a second try."""
        call = partial(send, self, self.drops) if self.drops.is_for_one else super().execute_command
        return await _twice(call, self.drops, *args, **options)


class ReconnectingCluster(cluster.StaysOffMovingSlots, RedisCluster):  # type: ignore[misc]  # its own bases differ
    """A client of a Cluster; before its second try it reloads the slot map."""

    drops: Drops

    def __init__(self, *args: Any, **options: Any) -> None:
        any_strategy = {"load_balancing_strategy": LoadBalancingStrategy.ROUND_ROBIN}  # with one it calls on_connect
        super().__init__(*args, **options | any_strategy)
        self.load_balancing_strategy = None  # replicas may be behind
        self.commands_parser = cluster.CommandsOnce()
        self._in_call: ContextVar[bool] = ContextVar("in_call", default=False)

    async def on_connect(self, connection: Any) -> None:
        """redis-py calls this for each new connection to a node."""
        await self.drops.greet(connection)

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """As redis-py's, with a second try."""
        token = self._in_call.set(True)
        try:
            return await _twice(super().execute_command, self.drops, *args, **options)
        finally:
            self._in_call.reset(token)

    async def aclose(self) -> None:
        """As redis-py's. It calls this itself to have the slot map loaded again, when a node is down or slots have
        moved; then the connections to other nodes are left alone, as others are using them."""
        if self._in_call.get():
            self._initialize = True
        else:
            await super().aclose()

    async def initialize(self, *args: Any, **options: Any) -> Any:
        """As redis-py's, but raises the nodes' errors: its own RedisClusterException is no RedisError."""
        try:
            with self.drops.any_server():  # any node tells which servers there are
                await super().initialize(*args, **options)
        except RedisClusterException as error:
            reason = _reason(error)
        else:
            self.drops.check()  # the call goes on by the connections that were made here
            return self
        raise reason


async def _twice(call: Callable[..., Awaitable[Any]], drops: Drops, *args: Any, **options: Any) -> Any:
    """Send a command again if the connection had dropped, and leave outages to the caller.

    redis-py's own retries nest (command, connection, handshake): with any of them, a server that accepts connections
    and never answers delayed a start for minutes.
    """
    drops.check()
    try:
        return await _once(call, *args, **options)
    except RedisConnectionError as error:
        if _lost_one(error):
            drops.on_drop()
        drops.check()
        return await _once(call, *args, **options)


def _lost_one(error: RedisConnectionError) -> bool:
    """Whether a connection was lost. None was where REDIS_PARAMS allow no further one, or nobody listens: a node that
    is away would have a worker forget what it knows several times a second."""
    return not isinstance(error, MaxConnectionsError) and not isinstance(error.__context__, ConnectionRefusedError)


async def _once(call: Callable[..., Awaitable[Any]], *args: Any, **options: Any) -> Any:
    with naming_lost():
        return await call(*args, **options)


def connect(settings: BaseSettings) -> Client:
    """A client of REDIS_URL (a server, the Sentinels that watch it, or nodes of a Cluster), else of REDIS_HOST,
    REDIS_PORT and REDIS_DB, else of the bundled server.

    REDIS_PARAMS go to the client, except those that would change results (decode_responses, encoding, redis_cls).
    REDIS_CLUSTER=True gives a Cluster client. Starts or joins the bundled server if nothing is set, so it may block for
    a moment. Sends nothing yet. Raises ConfigError, ServiceError.
    """
    url, params = arguments(settings)
    params["retry"] = Retry(NoBackoff(), 0)  # see _twice
    is_cluster = config.boolean(settings, "REDIS_CLUSTER")
    if is_cluster and sentinel.is_sentinel(url):
        raise ConfigError("REDIS_CLUSTER", True, "False with a REDIS_URL that names Sentinels: they watch no Cluster")
    if not is_cluster and not sentinel.is_sentinel(url) and cluster.names_several(url):
        raise ConfigError("REDIS_CLUSTER", False, "True with a REDIS_URL that names several hosts: nodes of a Cluster")
    try:
        return _client(url, params, _guard(url, settings), is_cluster=is_cluster)
    except (ValueError, TypeError, RedisError, RedisClusterException) as error:
        raise _refused(url, error) from None


def arguments(settings: BaseSettings) -> tuple[str | None, dict[str, Any]]:
    """The URL, if one is set, and a client's other arguments; starts the server like `connect`."""
    url, params = _given(settings)
    if not (url or _is_named(params)):
        url = embedded.ensure(config.text(settings, "EMBEDDED_DATA_DIR"), mongodb=False).redis_url
    return url, params


def place(settings: BaseSettings) -> str:
    """The server that *settings* name, to be shown; "" for the bundled one."""
    url, params = _given(settings)
    if url:
        return config.shown_uri(str(url))
    named = f"{params['host']}:{params.get('port', 6379)}" if "host" in params else ""
    return str(params.get("unix_socket_path") or named)


def joined_url(settings: BaseSettings) -> str:
    """Where the bundled server listens, if *settings* name no other one and this process is its user already, else
    ""."""
    url, params = _given(settings)
    return "" if url or _is_named(params) else embedded.joined_redis(config.text(settings, "EMBEDDED_DATA_DIR"))


def _given(settings: BaseSettings) -> tuple[str | None, dict[str, Any]]:
    given = config.mapping(settings, "REDIS_PARAMS")
    params = _DEFAULTS | {name: value for name, value in given.items() if name not in _OURS}
    url = params.pop("url", None) or config.text(settings, "REDIS_URL")
    if url and not str(url).startswith("unix:"):
        config.check_escaped("REDIS_URL", str(url), "/?#")
    return url, params if url else _address(settings) | params


def _is_named(params: Mapping[str, Any]) -> bool:
    return "host" in params or "unix_socket_path" in params


def _guard(url: str | None, settings: BaseSettings) -> Callable[[], bool] | None:
    """Tells whether the bundled server has its port, if that is what *url* leads to."""
    data_dir = config.text(settings, "EMBEDDED_DATA_DIR")
    if not url or url != embedded.joined_redis(data_dir):
        return None
    return partial(embedded.is_redis_ours, data_dir, urlsplit(url).port or 0)


def _client(url: str | None, params: dict[str, Any], is_ours: Callable[[], bool] | None, *, is_cluster: bool) -> Client:
    drops = Drops(is_ours, by_address=is_cluster)
    cls: Any = ReconnectingCluster if is_cluster else ReconnectingRedis
    if not is_cluster:
        params["redis_connect_func"] = drops.greet
    if url and sentinel.is_sentinel(url):
        client = sentinel.client(url, params, Sentinel, cls, connection_pool_class=sentinel.PrimaryPool)
    elif is_cluster:
        client = cluster.client(url, params, cls, ClusterNode)
    else:
        client = cls.from_url(url, **params) if url else cls(**params)
    client.drops = drops
    return client  # type: ignore[no-any-return]


def listen(client: Client, on_drop: Callable[[], None], on_other_server: Callable[[], None]) -> None:
    """Call *on_drop* whenever *client* loses a connection, *on_other_server* when a server answers that has been
    started since, or has taken over: it may have lost data."""
    if isinstance(client, ReconnectingRedis | ReconnectingCluster):
        client.drops.on_drop, client.drops.on_other_server = on_drop, on_other_server


def _reason(error: BaseException) -> Exception:
    """The node's error behind *error*, else a lost connection with the same message."""
    behind: BaseException | None = error
    while behind is not None:
        if isinstance(behind, RedisError | OSError):
            return behind
        behind = behind.__cause__ or behind.__context__
    return RedisConnectionError(str(error))


def _address(settings: BaseSettings) -> dict[str, Any]:
    found = {name: settings.get(f"REDIS_{name.upper()}") for name in ("host", "port", "db")}
    if found["port"] and not found["host"]:
        found["host"] = "localhost"
    if found["host"] and found["port"]:
        found["port"] = config.integer(settings, "REDIS_PORT", 1, 65_535)
    return {name: value for name, value in found.items() if found["host"] and value not in {None, ""}}


def _refused(url: str | None, error: Exception) -> ConfigError:
    """The reason without the password, nor what of the URL is around it."""
    if not url:
        return ConfigError("REDIS_PARAMS", "...", f"keyword arguments of redis.asyncio.Redis ({error})")
    form = (
        "redis://[[user]:password@]host[:port][/db], rediss://..., unix://path, "
        f"{cluster.FORM}, or {sentinel.FORM}, user and password percent-encoded"
    )
    scheme = str(url).partition("://")[0]
    reason = str(error).partition(" as '")[0]  # as a port: it is the password where the host was left out
    allowed = f"{form} ({config.without_password(reason, url)})"
    return ConfigError("REDIS_URL", f"{scheme}://..." if "://" in url and scheme.isalpha() else "...", allowed)
