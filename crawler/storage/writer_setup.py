"""A writer, and the spool that it falls back to, as the settings say."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from crawler.errors import ConfigError
from crawler.storage import connection
from crawler.storage.config import StorageConfig
from crawler.storage.items.repository import Repository
from crawler.storage.outage import ITEMS_WAIT, MongoOutage, Stats
from crawler.storage.spool.fallback import SpoolFallback
from crawler.storage.spool.high_water import HighWater
from crawler.storage.spool.spool import Spool
from crawler.storage.writer import Writer

Settings = Mapping[str, Any]
LONGEST_NAME: Final = 255  # bytes, on most file systems
READABLE: Final = 60  # characters of a longer one, of up to four bytes each


def writer(
    client: connection.Client,
    settings: Settings,
    config: StorageConfig,
    stats: Stats,
    pause: Callable[[str], None],
    gives_up: Callable[[float], bool] = lambda _: False,
) -> Writer:
    """A writer for the project's database; raises ConfigError for an unusable spool directory."""
    repository = Repository(connection.database(client, settings), config, stats)
    meanwhile = f"Items go to {config.spool_dir} until it does" if config.spool_dir else ITEMS_WAIT
    outage = MongoOutage(stats, connection.where(settings), config.retry_max_seconds, meanwhile=meanwhile)
    fallback = None
    if config.spool_dir:
        fallback = SpoolFallback(
            spool(spool_directory(settings, config), config), repository, outage, stats, config.batch_size
        )
    HighWater(outage, fallback, config.spool_high_water, pause)
    return Writer(repository, config, outage, fallback, gives_up=gives_up)


def spool(directory: Path, config: StorageConfig) -> Spool:
    """This process' part of a spool, including what dead processes left; raises ConfigError."""
    try:
        return Spool(directory, config.spool_max_bytes)
    except OSError as error:
        allowed = f"a writable directory, or empty for no spool ({error.strerror})"
        raise ConfigError("SPOOL_DIR", config.spool_dir, allowed) from None


def spool_directory(settings: Settings, config: StorageConfig) -> Path:
    """One per database: items meant for one must not end up in another."""
    server = connection.address(str(settings.get("MONGODB_URI") or "")) or settings["EMBEDDED_DATA_DIR"]
    target = re.sub(r"[^\w.@-]+", "_", f"{settings['MONGODB_DATABASE']}@{server}")
    if len(os.fsencode(target)) > LONGEST_NAME:  # such as of a replica set whose members have long names
        target = f"{target[:READABLE]}-{sha256(os.fsencode(target)).hexdigest()[:12]}"
    return Path(config.spool_dir) / target
