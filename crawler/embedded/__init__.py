"""The bundled Valkey and mongod of a laptop run: started by the first process that needs them, shared by
every local process of one data directory, stopped when the last of these ends.

Each server has a small supervisor process (`supervisor.py`) of its own and a directory:

    <data_dir>/<name>/users.lock        shared flock of every process that uses the server, for its lifetime; the
                                        kernel frees it however the process ends, so kill -9 leaves no stale user
    <data_dir>/<name>/supervisor.lock   held by the one supervisor
    <data_dir>/<name>/service.json      the supervisor's report: state, port, process ids
    <data_dir>/<name>/server.log        the server's log
    <data_dir>/<name>/data/             its data

Known weakness: the servers have no password; they listen on 127.0.0.1 only, but any user of this machine can connect. A
supervisor killed with -9 takes its server along (no data is lost); the processes that use the server start both again
within seconds, on the same port. If a stranger has that port meanwhile, who knows it sends nothing to its Redis
(`is_redis_ours`), but a mongod there is not told from ours: the driver has no place to ask. Linux on x86-64 only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crawler.base_errors import ServiceError
from crawler.embedded import joining
from crawler.embedded.service import MONGOD, VALKEY

__all__ = ["Endpoints", "ensure", "is_redis_ours", "joined_redis"]


@dataclass(frozen=True)
class Endpoints:
    """The servers' URLs; empty for one that was not requested."""

    redis_url: str = ""
    mongodb_uri: str = ""


def ensure(
    data_dir: str | Path, *, redis: bool = True, mongodb: bool = True, preferred_ports: bool = True
) -> Endpoints:
    """Start or join the servers of *data_dir* and keep them alive until this process exits.

    Blocks until they answer (about a second to start, no time if they run already): call it before the event loop
    starts. May be called again. With *preferred_ports* the servers listen on 16379 and 27117 if these are free,
    otherwise on ports that the system chooses. Raises ServiceError, which says what to do.
    """
    if not str(data_dir):
        raise ServiceError(
            "the bundled servers are off (EMBEDDED_DATA_DIR is empty): set REDIS_URL and MONGODB_URI to yours"
        )
    wanted = [service for service, is_wanted in ((VALKEY, redis), (MONGOD, mongodb)) if is_wanted]
    joined = [joining.enter(service, Path(data_dir), preferred_ports) for service in wanted]
    urls = {joined.service.name: joined.wait() for joined in joined}
    return Endpoints(urls.get("redis", ""), urls.get("mongodb", ""))


def joined_redis(data_dir: str | Path) -> str:
    """The Redis' URL, if this process is its user since a call of `ensure`, else ""."""
    joined = joining.joined(VALKEY, Path(data_dir)) if str(data_dir) else None
    return joined.wait() if joined is not None else ""


def is_redis_ours(data_dir: str | Path, port: int) -> bool:
    """Whether the Redis that this process has joined listens on *port* now, and no stranger's. Reads /proc: some
    milliseconds."""
    joined = joining.joined(VALKEY, Path(data_dir))
    return joined is not None and joined.listens_on(port)
