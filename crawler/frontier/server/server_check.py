"""Checks before the first request that the server is reachable, usable and configured for our data."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from socket import gaierror
from typing import Any, Final

from redis.asyncio.cluster import RedisCluster
from redis.asyncio.connection import SSLConnection
from redis.asyncio.sentinel import SentinelConnectionPool
from redis.exceptions import (
    BusyLoadingError,
    InvalidResponse,
    NoPermissionError,
    RedisError,
    ResponseError,
)

from crawler.errors import ServiceError
from crawler.frontier.errors import FrontierError
from crawler.frontier.server import layout
from crawler.frontier.server.drops import OtherServerError
from crawler.frontier.server.refusals import cure, is_answer, node_of, said_by
from crawler.frontier.server.shards import Shards
from crawler.utils import tasks

# Keeps requests that are queued ahead of less urgent ones compact, and large buckets of fingerprints too.
TUNING: Final = {"zset-max-listpack-value": 512, "set-max-intset-entries": 2048}
EVICTS: Final = "maxmemory-policy is not noeviction: a full server would silently throw queued requests away"
LOADING_POLL_SECONDS: Final = 0.5
SILENT_SECONDS: Final = 5.0  # until somebody who waits for a server that hangs is told
_NODE: Final = re.compile(r"connecting to (\S+:[0-9]+)\.")  # in redis-py's words
logger = logging.getLogger(__name__)


async def prepare(client: Any, shards: Shards) -> tuple[str, ...]:
    """Check and tune the server; returns advice for the operator, or raises ServiceError."""
    try:
        await _loaded(client)
        await layout.adopt_modes(shards)
        await layout.check(shards)
        return await _advice(client, [shards.tag(shard) for shard in range(shards.count)])
    except (FrontierError, RedisError, OSError) as error:
        raise ServiceError(explained(client, error)) from None


async def _loaded(client: Any) -> None:
    """Wait while the server loads its data from disk: millions of queued requests take a minute."""
    said = False
    while True:
        try:
            await _ping(client)
        except BusyLoadingError:
            if not said:
                logger.warning("Redis at %s is still loading its data, waiting", address(client))
            said = True
            await asyncio.sleep(LOADING_POLL_SECONDS)
        else:
            return


async def _ping(client: Any) -> None:
    answer = asyncio.ensure_future(client.ping())
    try:
        if not (await asyncio.wait({answer}, timeout=SILENT_SECONDS))[0]:
            words = "Redis at %s has not answered for %.0f s, waiting: it hangs, or is busy with one long call"
            logger.warning(words, address(client), SILENT_SECONDS)
        await answer
    finally:
        await tasks.end(answer)


async def _advice(client: Any, keys: Sequence[str]) -> tuple[str, ...]:
    advice = [line for line in [await _tuned(client, keys)] if line]
    servers = (await infos(client, "memory", "stats", keys=keys)).values()
    if evicts(servers):
        evicted = sum(int(info.get("evicted_keys") or 0) for info in servers)
        so_far = f"; {evicted} keys have been" if evicted else ""
        advice.append(f"{EVICTS}{so_far}")
    return tuple(advice)


def evicts(servers: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of the *servers*, as INFO tells of them, makes room by throwing keys away; some tell no policy."""
    policies = (info.get("maxmemory_policy") for info in servers if info.get("maxmemory"))
    return any(policy not in {None, "noeviction"} for policy in policies)


async def infos(client: Any, *sections: str, keys: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """INFO of the server, or of each primary of a Cluster by its address; with *keys* of those that have any of
    them."""
    return await _of_each(client, partial(client.info, *sections), keys)


def places(client: Any, keys: Iterable[str]) -> list[str]:
    """The address of the node of a Cluster that has each of *keys*, as it was last told; "" for one server."""
    nodes = [client.get_node_from_key(key) if isinstance(client, RedisCluster) else None for key in keys]
    return [node.name if node is not None else "" for node in nodes]


def primaries(client: Any) -> list[str]:
    """The addresses of all primaries of a Cluster, as it was last told; "" for one server."""
    return [node.name for node in client.get_primaries()] if isinstance(client, RedisCluster) else [""]


async def _of_each(client: Any, call: Callable[..., Awaitable[Any]], keys: Sequence[str] = ()) -> dict[str, Any]:
    """The answer of the server, or of each primary of a Cluster by its address. Not by redis-py's PRIMARIES: where
    there is only one, its answer would come without its address."""
    if not isinstance(client, RedisCluster):
        return {"": await call()}
    await client.initialize()
    wanted = set(places(client, keys))
    nodes = [node for node in client.get_primaries() if node.name in wanted or not keys]
    answers = await asyncio.gather(*(call(target_nodes=node) for node in nodes))
    return {node.name: answer for node, answer in zip(nodes, answers, strict=True)}


async def _tuned(client: Any, keys: Sequence[str]) -> str:
    try:
        for name, value in TUNING.items():
            found = await _of_each(client, partial(client.config_get, name), keys)
            if any(int(config.get(name, value)) < value for config in found.values()):
                await _of_each(client, partial(client.config_set, name, value), keys)
    except (ResponseError, NoPermissionError):
        wanted = ", ".join(f"{name} {value}" for name, value in TUNING.items())
        return f"CONFIG SET is not allowed: without {wanted} mixed priorities take up to twice the memory"
    return ""


def explained(client: Any, error: BaseException) -> str:
    """Where it failed and what to do, without secrets that a URL or a driver message may contain."""
    key = ""
    if isinstance(error, FrontierError) and error.__cause__ is not None:
        key, error = error.key, error.__cause__
    is_bundled = getattr(getattr(client, "drops", None), "is_bundled", False)
    return f"Redis at {_place(client, error)} {_said(error, key, is_bundled=is_bundled)}"


def _place(client: Any, error: BaseException) -> str:
    """Its address; of a Cluster that of the node, where the error names it, and the Cluster's."""
    where = address(client)
    if not isinstance(client, RedisCluster):
        return where
    named = _NODE.search(str(error))
    node = named[1] if named else node_of(error)
    return f"{node}, of the Cluster of {where}," if node not in {"", where} else where


def _said(error: BaseException, key: str, *, is_bundled: bool) -> str:
    if (untrusted := _behind(error, ssl.SSLCertVerificationError)) is not None:
        reason = getattr(untrusted, "verify_message", "") or "it cannot be verified"
        trust = "name its authority, as in rediss://...?ssl_ca_certs=/path/ca.pem, or correct the host in REDIS_URL"
        return f"shows a certificate that is not trusted ({reason}): {trust}"
    if is_answer(error):
        return f"{cure(error, key)} ({said_by(error)})"
    if isinstance(error, OtherServerError):
        return f"{error}: do the same again"
    cures = "start it, correct REDIS_URL, or leave REDIS_URL empty to use the bundled server"
    if is_bundled:
        cures = "it is the bundled server, `scrapy services status` shows it, and the directory with its log"
    return f"does not answer ({_silence(error)}): {cures}"


def _silence(error: BaseException) -> str:
    """Why there is no answer, in the system's words where it has any: the driver's may quote what the URL holds."""
    if isinstance(error, InvalidResponse):
        return "another program listens there"
    cause = _behind(error, OSError)
    if isinstance(cause, gaierror):
        return str(cause.strerror)
    number = cause.errno if isinstance(cause, OSError) else None
    return os.strerror(number) if number else type(error).__name__


def _behind(error: BaseException | None, kind: type[BaseException]) -> BaseException | None:
    """The first error of *kind* in the causes of *error*."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error


def address(client: Any) -> str:
    """host:port of *client*, the path of its socket, or the service and the Sentinels that watch it."""
    pool = getattr(client, "connection_pool", None)
    if isinstance(pool, SentinelConnectionPool):
        asked = [one.connection_pool.connection_kwargs for one in pool.sentinel_manager.sentinels]
        return f"{pool.service_name} of Sentinels " + ", ".join("{host}:{port}".format_map(one) for one in asked)
    if pool is None:
        return ", ".join(f"{node.host}:{node.port}" for node in client.nodes_manager.startup_nodes.values())
    known = pool.connection_kwargs
    return str(known.get("path") or f"{known.get('host', 'localhost')}:{known.get('port', 6379)}")


def redis_cli(client: Any) -> str:
    """How redis-cli is called for the server of *client*, without its user and password. Sentinels are named in words:
    it does not ask them."""
    pool = getattr(client, "connection_pool", None)
    if isinstance(pool, SentinelConnectionPool):
        return f"redis-cli (on the primary of {address(client)})"
    known = (client if pool is None else pool).connection_kwargs
    kind = known["connection_class"] if pool is None else pool.connection_class
    path, database = known.get("path"), known.get("db")
    host, _, port = address(client).partition(", ")[0].rpartition(":")
    words = (
        "redis-cli -c" if pool is None else "redis-cli",
        f"-s {path}" if path else f"-h {host} -p {port}",
        f"-n {database}" if database else "",
        "--tls" if issubclass(kind, SSLConnection) else "",
    )
    return " ".join(filter(None, words))
