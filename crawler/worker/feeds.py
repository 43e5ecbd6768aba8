"""Feeds of a fleet: each worker writes its own, and no two overwrite the same one."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any, Final

from scrapy import Spider
from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ConfigError
from crawler.frontier.server.shards import Shards
from crawler.frontier.state import feeds

DIFFERING: Final = ("%(worker)s", "%(time)s")  # makes a URI differ between workers
OVERWRITING: Final = ("s3", "ftp", "gs")  # storages that cannot append
NO_URI: Final = ("stdout", "-")


def uri_params(params: dict[str, Any], spider: Spider) -> dict[str, Any]:
    """Scrapy's parameters for a feed's URI, and the worker's name as %(worker)s."""
    scheduler = getattr(spider.crawler.engine, "scheduler", None)
    worker = getattr(getattr(scheduler, "worker", None), "name", None)
    return params | {"worker": worker or f"{socket.gethostname()}-{os.getpid()}"}


def overwritten(settings: BaseSettings) -> list[str]:
    """The feeds that this worker would overwrite, each by a name that is the same for every worker that would."""
    found = []
    for uri, how in config.mapping(settings, "FEEDS").items():
        scheme, _, rest = str(uri).rpartition("://")
        local = scheme in {"", "file"}
        if any(word in str(uri) for word in DIFFERING) or str(uri).partition(":")[0] in NO_URI:
            continue
        if not (how or {}).get("overwrite", scheme in OVERWRITING):
            continue
        found.append(f"{socket.gethostname()}:{Path(rest).resolve()}" if local else config.shown_uri(str(uri)))
    return found


def check_apart(settings: BaseSettings) -> None:
    """Raise ConfigError for a feed that workers started together would all write.

    %(time)s may be equal, appended lines may interleave, and there is one standard output.
    """
    for uri in config.mapping(settings, "FEEDS"):
        if "%(worker)s" not in str(uri):
            raise ConfigError(
                "FEEDS (-o, -O)",
                config.shown_uri(str(uri)),
                "a URI of its own for each worker, with %(worker)s in it; "
                "`scrapy export` writes one file of everything stored",
            )


async def claim(shards: Shards, settings: BaseSettings, worker: str = "") -> None:
    """Claim feeds for *worker*, or only check; raises ConfigError if another live worker writes one of them."""
    wanted = overwritten(settings)
    while (taken := await feeds.claim(shards, wanted, worker)) is not None:
        feed, holder = taken
        if not _dead_here(holder):
            raise ConfigError(
                "FEEDS (-O)",
                feed,
                f"a URI of its own for each worker, with %(worker)s in it: {holder} overwrites this one; "
                "`scrapy export` writes one file of everything the fleet has stored",
            )
        await feeds.release(shards, feed)


def _dead_here(worker: str) -> bool:
    """Whether *worker* names a process of this machine that no longer exists."""
    host, _, rest = worker.rpartition("-")[0].rpartition("-")
    return host == socket.gethostname() and rest.isdigit() and not Path("/proc", rest).exists() and os.name == "posix"
