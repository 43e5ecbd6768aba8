"""Settings that Scrapy reads before a command runs, and answers with a traceback if they are invalid."""

from __future__ import annotations

import codecs
import logging
from pathlib import Path
from typing import Final

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from crawler import config
from crawler.errors import ConfigError

BOOLEANS: Final = ("LOG_ENABLED", "LOG_FILE_APPEND", "LOG_SHORT_NAMES", "LOG_STDOUT", "FORCE_CRAWLER_PROCESS")
CLASSES: Final = ("ASYNCIO_EVENT_LOOP", "LOG_FORMATTER", "SPIDER_LOADER_CLASS", "STATS_CLASS", "TWISTED_REACTOR")


def check(settings: BaseSettings) -> None:
    """Raise ConfigError for the first one that is invalid; a log file is created."""
    for name in BOOLEANS:
        config.boolean(settings, name)
    for name in CLASSES:
        if (settings.getpriority(name) or 0) > 0:  # somebody has set it
            _check_class(name, settings[name])
    config.integer(settings, "REACTOR_THREADPOOL_MAXSIZE", 1, 10_000)
    _check_format(settings)
    if settings["LOG_FILE"] and settings.getbool("LOG_ENABLED"):
        _check_file(settings["LOG_FILE"])


def _check_class(name: str, path: object) -> None:
    try:
        if isinstance(path, str):
            load_object(path)
    except (ImportError, NameError, ValueError) as error:
        raise ConfigError(name, path, f"the path of a class that can be imported ({error})") from None


def _check_format(settings: BaseSettings) -> None:
    level, encoding = settings["LOG_LEVEL"], settings["LOG_ENCODING"]
    names = logging.getLevelNamesMapping()
    if level not in names and not isinstance(level, int):
        raise ConfigError("LOG_LEVEL", level, f"one of {', '.join(sorted(names, key=names.__getitem__))}")
    try:
        codecs.lookup("utf-8" if encoding is None else encoding)  # None: the system's
    except (LookupError, TypeError):
        raise ConfigError("LOG_ENCODING", encoding, "the name of an encoding such as utf-8") from None
    try:
        logging.Formatter(settings["LOG_FORMAT"], settings["LOG_DATEFORMAT"])
    except (ValueError, TypeError) as error:
        words = f"a format such as '%(asctime)s [%(name)s] %(levelname)s: %(message)s' ({error})"
        raise ConfigError("LOG_FORMAT", settings["LOG_FORMAT"], words) from None


def _check_file(path: str) -> None:
    try:
        Path(path).open("ab").close()
    except OSError as error:
        raise ConfigError("LOG_FILE", path, f"a file that can be written ({error.strerror})") from None
