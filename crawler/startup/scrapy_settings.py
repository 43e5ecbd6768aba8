"""Settings of Scrapy's that its components would answer with a traceback, in the midst of a crawl, or by waiting for
ever: they are to be of the kind of their defaults, and within what the components can do. Numbers that are in
defaults.py too are looked at with ours."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import inf, isfinite
from typing import Any, Final

from scrapy.settings import BaseSettings, default_settings
from scrapy.spidermiddlewares.referer import RefererMiddleware

from crawler import config
from crawler.errors import ConfigError

BOOLEANS: Final = ("TELNETCONSOLE_ENABLED",)
CLASSES: Final = (
    *("HTTPCACHE_POLICY", "HTTPCACHE_STORAGE", "LOG_FORMATTER", "REQUEST_FINGERPRINTER_CLASS", "ROBOTSTXT_PARSER"),
    "STATS_CLASS",
)
CODES: Final = ("HTTPCACHE_IGNORE_HTTP_CODES", "HTTPERROR_ALLOWED_CODES", "TELNETCONSOLE_PORT")  # lists of integers
LEVELS: Final = ("DEFAULT_DROPITEM_LOG_LEVEL", "RETRY_GIVE_UP_LOG_LEVEL")
# None is none of their values, though it is for others.
NEEDED: Final = (
    *LEVELS,
    *("LOG_FORMATTER", "REQUEST_FINGERPRINTER_CLASS", "ROBOTSTXT_PARSER", "STATS_CLASS"),
)
# Below it each page or URL would be one too many.
LEAST: Final = {
    "CLOSESPIDER_ERRORCOUNT": 0,
    "CLOSESPIDER_ITEMCOUNT": 0,
    "CLOSESPIDER_PAGECOUNT": 0,
    "CLOSESPIDER_PAGECOUNT_NO_ITEM": 0,
    "CLOSESPIDER_TIMEOUT": 0,
    "CLOSESPIDER_TIMEOUT_NO_ITEM": 0,
    "DEPTH_LIMIT": 0,
    "LOGSTATS_INTERVAL": 0,
    "MEMUSAGE_CHECK_INTERVAL_SECONDS": 0.1,
    "MEMUSAGE_LIMIT_MB": 0,
    "MEMUSAGE_WARNING_MB": 0,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1,
}


def check(settings: BaseSettings, names: Iterable[str] | None = None) -> None:
    """Raise ConfigError for the first setting of Scrapy's, or of *names*, that is set to a value of another kind.

    None passes where it means "none".
    """
    for name in vars(default_settings) if names is None else names:
        is_given = settings[name] is not None or name in NEEDED
        if name in _READERS and is_given and (settings.getpriority(name) or 0) > 0:
            _READERS[name](settings, name)


def check_components(settings: BaseSettings) -> None:
    """Raise ConfigError for settings without which Scrapy's own components cannot be built."""
    try:
        RefererMiddleware(settings)
    except (ImportError, NameError, RuntimeError, TypeError, ValueError) as error:
        allowed = f"a policy such as same-origin, or the path of its class ({error})"
        raise ConfigError("REFERRER_POLICY", settings["REFERRER_POLICY"], allowed) from None
    for name in CLASSES:
        if settings[name] is not None or name in NEEDED:
            config.check_class(name, settings[name])
    for one in settings.getlist("RETRY_EXCEPTIONS"):
        config.check_class("RETRY_EXCEPTIONS", one)
    for name in ("FEED_EXPORTERS", "FEED_STORAGES") if config.mapping(settings, "FEEDS") else ():
        for key, path in config.mapping(settings, name).items():
            if path is not None:
                config.check_class(f"{name}[{key!r}]", path)
    if settings["DOWNLOAD_BIND_ADDRESS"]:
        _check_address("DOWNLOAD_BIND_ADDRESS", settings["DOWNLOAD_BIND_ADDRESS"])
    known = settings["HTTPAUTH_USER"] or settings["HTTPAUTH_PASS"]
    if known and not settings.getpriority("HTTPAUTH_DOMAIN"):
        allowed = "the domain that HTTPAUTH_USER and HTTPAUTH_PASS are for, such as shop.example; None: every one"
        raise ConfigError("HTTPAUTH_DOMAIN", "", allowed)


def _check_address(name: str, value: Any) -> None:
    """An address that is none of this machine would fail each page."""
    try:
        host, port = (value, 0) if isinstance(value, str) else value
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as one:
            one.bind((address[0], 0, *address[2:]))
    except (OSError, OverflowError, TypeError, ValueError) as error:
        allowed = f"an address of this machine, or a pair of it and a port ({error})"
        raise ConfigError(name, value, allowed) from None


def _reader(name: str, default: Any) -> Callable[[BaseSettings, str], object] | None:
    if name in CODES:
        return _codes
    if name in _TEXTS:
        return _TEXTS[name]
    if isinstance(default, bool) or name in BOOLEANS:
        return _boolean
    if isinstance(default, float):
        return _number
    if isinstance(default, int):
        return _integer
    return config.texts if isinstance(default, list) else None


def _line(settings: BaseSettings, name: str) -> None:
    """A value with a line break could not be sent: robots.txt would be unreachable, and every page wait for it."""
    if not isinstance(value := settings[name], str) or any(sign in value for sign in "\r\n\0"):
        raise ConfigError(name, value, "a text of one line, such as 'myshop/1.0 (+https://example.com/bot)'")


def _boolean(settings: BaseSettings, name: str) -> None:
    try:
        settings.getbool(name)
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(name, settings[name], "True or False") from None


def _integer(settings: BaseSettings, name: str) -> None:
    _check_number(settings, name, settings.getint, "an integer")


def _number(settings: BaseSettings, name: str) -> None:
    _check_number(settings, name, settings.getfloat, "a number")


def _check_number(settings: BaseSettings, name: str, read: Callable[[str], float], kind: str) -> None:
    least = LEAST.get(name, -inf)
    with suppress(TypeError, ValueError, OverflowError):
        if isfinite(number := read(name)) and number >= least:
            return
    raise ConfigError(name, settings[name], kind if least == -inf else f"{kind} from {least}")


def _codes(settings: BaseSettings, name: str) -> None:
    try:
        _ = [int(one) for one in config.texts(settings, name)]
    except ValueError:
        raise ConfigError(name, settings[name], "integers, a list or separated by commas") from None


def _level(settings: BaseSettings, name: str) -> None:
    """One that there is not raises where it is logged: an item that is dropped fails its page, a retry never ends."""
    level = settings[name]
    if not isinstance(level, int) and (not isinstance(level, str) or level not in logging.getLevelNamesMapping()):
        raise ConfigError(name, level, "a level such as WARNING")


_TEXTS: Final[dict[str, Callable[[BaseSettings, str], object]]] = {
    "JOBDIR": config.text,
    "ROBOTSTXT_USER_AGENT": _line,
    "USER_AGENT": _line,
    **dict.fromkeys(LEVELS, _level),
}
_READERS: Final = {
    name: reader
    for name, default in vars(default_settings).items()
    if name.isupper() and name not in config.NUMBERS and (reader := _reader(name, default)) is not None
}
