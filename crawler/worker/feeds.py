"""Feeds of a fleet: each worker writes its own, and no two overwrite the same one."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path, PureWindowsPath
from tempfile import TemporaryFile
from typing import Any, Final
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.settings import BaseSettings
from scrapy.utils.conf import feed_complete_default_values_from_settings
from scrapy.utils.python import without_none_values
from w3lib.url import file_uri_to_path

from crawler import config
from crawler.errors import ConfigError
from crawler.frontier.runs import feeds
from crawler.frontier.server.shards import Shards

DIFFERING: Final = ("%(worker)s", "%(time)s")  # makes a URI differ between workers
OVERWRITING: Final = ("s3", "ftp", "gs")  # storages that cannot append
NO_URI: Final = ("stdout", "-")
FILES: Final = "scrapy.extensions.feedexport.FileFeedStorage"
LIBRARIES: Final = {"s3": "botocore", "gs": "google.cloud.storage"}  # which Scrapy's storages import

logger = logging.getLogger(__name__)


def uri_params(params: dict[str, Any], spider: Spider) -> dict[str, Any]:
    """Scrapy's parameters for a feed's URI, and the worker's name as %(worker)s."""
    scheduler = getattr(spider.crawler.engine, "scheduler", None)
    worker = getattr(getattr(scheduler, "worker", None), "name", None)
    return params | {"worker": worker or f"{socket.gethostname()}-{os.getpid()}"}


def overwritten(settings: BaseSettings, spider: str) -> list[str]:
    """The feeds that a worker of *spider* would overwrite, each by a name that is the same for every worker that
    would."""
    found = []
    for given, how in config.mapping(settings, "FEEDS").items():
        uri = str(given).replace("%(name)s", spider)
        scheme, _, rest = uri.rpartition("://")
        local = scheme in {"", "file"}
        if any(word in uri for word in DIFFERING) or uri.partition(":")[0] in NO_URI:
            continue
        if not (how or {}).get("overwrite", scheme in OVERWRITING):
            continue
        found.append(f"{socket.gethostname()}:{Path(rest).resolve()}" if local else config.shown_uri(uri))
    return found


def check(settings: BaseSettings) -> None:
    """Raise ConfigError for a feed that cannot be written: Scrapy leaves all feeds out then, and crawls."""
    formats = without_none_values(settings.getwithbase("FEED_EXPORTERS"))
    storages = without_none_values(settings.getwithbase("FEED_STORAGES"))
    for uri, how in config.mapping(settings, "FEEDS").items():
        name = f"FEEDS[{config.shown_uri(str(uri))!r}]"
        if not isinstance(how, Mapping):
            raise ConfigError(name, how, "a dict of options such as {'format': 'jsonlines'}")
        options = feed_complete_default_values_from_settings(dict(how), settings, str(uri))
        if options.get("format") not in [*formats]:  # which may be unhashable
            raise ConfigError(f"{name}['format']", options.get("format", ""), f"one of {', '.join(formats)}")
        if "item_filter" in options:
            config.check_class(f"{name}['item_filter']", options["item_filter"])
        scheme = urlsplit(str(uri)).scheme
        if scheme not in storages and not PureWindowsPath(str(uri)).drive:
            schemes = ", ".join(one for one in storages if one)
            raise ConfigError(name, scheme, f"a path, or a URI that begins with one of {schemes}")
        if (module := LIBRARIES.get(scheme)) and not _is_installed(module):
            raise ConfigError(name, scheme, f"the library {module} for it: `pip install {module.replace('.', '-')}`")
        if storages.get(scheme) == FILES and (why := _why_unwritable(str(uri))):
            raise ConfigError(name, str(uri), f"a file that can be written ({why})")


def _why_unwritable(uri: str) -> str:
    """Why Scrapy could not append to that file; "" if it can. Of a name with parameters its folder is tried; nothing is
    left behind."""
    known, mark, _ = (file_uri_to_path(uri) if uri.startswith("file:") else uri).partition("%(")
    path = Path(f"{known}0" if mark else known)
    try:
        if path.is_dir() and not mark:
            return "it is a folder"
        if path.is_file() and not mark:
            path.open("ab").close()
        elif not path.exists():
            with TemporaryFile(dir=next(one for one in path.absolute().parents if one.exists())):
                pass
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""


def _is_installed(module: str) -> bool:
    with suppress(ModuleNotFoundError):  # of a package that it is in
        return find_spec(module) is not None
    return False


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


async def claim(shards: Shards, settings: BaseSettings, spider: str, worker: str = "") -> None:
    """Claim the feeds of *spider* for *worker*, or only check; raises ConfigError if another live worker writes one of
    them."""
    wanted = overwritten(settings, spider)
    while (taken := await feeds.claim(shards, wanted, worker)) is not None:
        feed, holder = taken
        if not _dead_here(holder):
            raise ConfigError(
                "FEEDS (-O)",
                feed.removeprefix(f"{socket.gethostname()}:"),  # which tells the files of machines apart
                f"a URI of its own for each worker, with %(worker)s in it: {holder} overwrites this one; "
                "`scrapy export` writes one file of everything the fleet has stored",
            )
        await feeds.release(shards, feed)


class FeedClaim:
    """What *worker* has claimed, kept where Redis has lost it: if another one overwrote a feed, too, the items of one
    would be lost."""

    def __init__(self, shards: Shards, settings: BaseSettings, spider: str, worker: str) -> None:
        self._shards = shards
        self._feeds = overwritten(settings, spider)
        self._worker = worker
        self._told = False

    async def keep(self) -> None:
        """Claim the same again; says it once where a live worker came first."""
        taken = await feeds.claim(self._shards, self._feeds, self._worker)
        if taken is not None and not self._told:
            self._told = True
            text = "This worker overwrites %s, and %s does so by now: items of one of them are lost. %s"
            logger.error(text, *taken, "Redis has lost this worker's claim, or heard nothing of it for too long")


def _dead_here(worker: str) -> bool:
    """Whether *worker* names a process of this machine that no longer exists."""
    host, _, rest = worker.rpartition("-")[0].rpartition("-")
    return host == socket.gethostname() and rest.isdigit() and not Path("/proc", rest).exists() and os.name == "posix"
