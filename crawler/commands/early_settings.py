"""Settings that Scrapy reads before a command runs, and answers with a traceback if they are invalid."""

from __future__ import annotations

import codecs
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from scrapy import Spider
from scrapy.addons import AddonManager
from scrapy.settings import BaseSettings
from scrapy.spiderloader import SpiderLoaderProtocol, get_spider_loader
from scrapy.utils.conf import closest_scrapy_cfg, get_config

from crawler import config
from crawler.errors import ConfigError
from crawler.startup import scrapy_settings
from crawler.startup.wiring import check_addons
from crawler.utils.lookups import MOST_THREADS

KINDS: Final = (
    "FORCE_CRAWLER_PROCESS",
    "LOG_ENABLED",
    "LOG_FILE_APPEND",
    "LOG_SHORT_NAMES",
    "LOG_STDOUT",
    "LOG_VERSIONS",
    "SPIDER_LOADER_WARN_ONLY",
    "SPIDER_MODULES",
    "TWISTED_REACTOR_ENABLED",
)
CLASSES: Final = (
    "ASYNCIO_EVENT_LOOP",
    "DNS_RESOLVER",
    "LOG_FORMATTER",
    "SPIDER_LOADER_CLASS",
    "STATS_CLASS",
    "TWISTED_DNS_RESOLVER",
    "TWISTED_REACTOR",
)
NO_CLASS: Final[Mapping[str, tuple[Any, ...]]] = {"SPIDER_LOADER_CLASS": (), "TWISTED_REACTOR": (None, "")}  # else None


def check(settings: BaseSettings) -> None:
    """Raise ConfigError for the first one that is invalid; a log file is created."""
    _check_project(settings)
    scrapy_settings.check(settings, KINDS)
    for name in CLASSES:
        value = settings[name]
        if value not in NO_CLASS.get(name, (None,)) and (settings.getpriority(name) or 0) > 0:  # somebody has set it
            config.loaded(name, value, value)
    check_addons(settings)
    config.integer(settings, "REACTOR_THREADPOOL_MAXSIZE", 1, MOST_THREADS)
    _check_log(settings)


def check_log_of(spider: type[Spider], settings: BaseSettings) -> None:
    """The same for what *spider* itself makes of the log: Scrapy opens it anew with its settings, and would answer
    with a traceback."""
    if isinstance(spider.custom_settings or {}, Mapping):  # else refused later
        own = settings.copy()
        spider.update_settings(own)
        _check_log(own)


def _check_log(settings: BaseSettings) -> None:
    _check_format(settings)
    if settings["LOG_FILE"] and settings.getbool("LOG_ENABLED"):
        _check_file(settings["LOG_FILE"])


def _check_project(settings: BaseSettings) -> None:
    """Scrapy answers a name that scrapy.cfg does not have with no settings at all. It notes both variables."""
    name = settings["PROJECT"]
    projects = get_config()["settings"] if name and not settings["SETTINGS_MODULE"] and closest_scrapy_cfg() else {}
    if projects and name not in projects:
        raise ConfigError("SCRAPY_PROJECT", name, f"one of {', '.join(projects)} (scrapy.cfg)")


def with_addons(settings: BaseSettings) -> BaseSettings:
    """A copy of *settings* as add-ons change them before there is a crawler: they may name spiders' modules."""
    changed = settings.copy()
    AddonManager.load_pre_crawler_settings(changed)
    return changed


def spiders(settings: BaseSettings) -> SpiderLoaderProtocol:
    """The project's spiders; raises ConfigError for a module that there is not. A fault inside of one passes through:
    its author needs the traceback."""
    name = "SPIDER_MODULES"
    modules = config.texts(settings, name)
    if not all(part.isidentifier() for module in modules for part in module.split(".")):
        raise ConfigError(name, ",".join(modules), "packages or modules such as shop.spiders")
    try:
        return get_spider_loader(settings)
    except ModuleNotFoundError as error:
        if not any(f"{module}.".startswith(f"{error.name}.") for module in modules):
            raise
        expected = f"packages or modules that can be imported ({error})"
        raise ConfigError(name, ",".join(modules), expected) from None


def _check_format(settings: BaseSettings) -> None:
    level, encoding = settings["LOG_LEVEL"], settings["LOG_ENCODING"]
    names = logging.getLevelNamesMapping()
    if not isinstance(level, int) and (not isinstance(level, str) or level not in names):
        raise ConfigError("LOG_LEVEL", level, f"one of {', '.join(sorted(names, key=names.__getitem__))}")
    try:
        codecs.lookup("utf-8" if encoding is None else encoding)  # None: the system's
    except (LookupError, TypeError, ValueError):
        raise ConfigError("LOG_ENCODING", encoding, "the name of an encoding such as utf-8") from None
    try:
        logging.Formatter(settings["LOG_FORMAT"]).format(logging.makeLogRecord({}))  # a field that no record has
    except (ValueError, TypeError) as error:
        words = f"a format such as '%(asctime)s [%(name)s] %(levelname)s: %(message)s' ({error})"
        raise ConfigError("LOG_FORMAT", settings["LOG_FORMAT"], words) from None
    try:
        time.strftime(settings["LOG_DATEFORMAT"] or "")
    except (TypeError, ValueError) as error:
        words = f"a format such as '%Y-%m-%d %H:%M:%S' ({error})"
        raise ConfigError("LOG_DATEFORMAT", settings["LOG_DATEFORMAT"], words) from None


def _check_file(path: str) -> None:
    try:
        Path(path).open("ab").close()
    except (OSError, TypeError, ValueError) as error:
        raise ConfigError("LOG_FILE", path, f"a file that can be written ({error})") from None
