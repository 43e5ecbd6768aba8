"""`ADDONS = {"crawler.addon.Shoal": 500}` makes every spider under `scrapy crawl` part of the fleet.

The add-on runs after spiders' `custom_settings`, so dicts of components that a project or a spider sets are completed,
never replaced. Other commands (`shell`, `parse`, `fetch`, `check`, `runspider` ...) stay Scrapy's own.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pkgutil import iter_modules
from traceback import extract_tb
from typing import Any, Final, Self

import scrapy.commands
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, Settings, default_settings
from scrapy.utils.conf import closest_scrapy_cfg
from scrapy.utils.reactor import is_reactor_installed

from crawler import components, config, defaults
from crawler.components import ADDON, path_of
from crawler.errors import ConfigError, ShoalError
from crawler.startup.announcement import announcement
from crawler.startup.wiring import PRIORITY, check_addons, is_script, wire

PATHS: Final = ("EMBEDDED_DATA_DIR", "SPOOL_DIR", "ARCHIVE_DIR")
EARLY: Final = ("ASYNCIO_EVENT_LOOP",)  # Scrapy reads it before it calls add-ons
CONSOLES: Final = ("TELNETCONSOLE_ENABLED", "REMOTE_CONTROL_ENABLED")  # off for every command
VALUES: Final = {name: value for name, value in vars(defaults).items() if name.isupper() and name not in EARLY}
POETS_BASE: Final = "SCRAPY_POET_REQUEST_FINGERPRINTER_BASE_CLASS"  # what scrapy-poet's fingerprinter builds on

logger = logging.getLogger(__name__)


class Shoal:
    """Scrapy's add-on interface; raises ConfigError for settings that a fleet cannot work with."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Built once per crawl."""
        return cls(crawler)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Set what Scrapy reads before there is a crawler: the event loop and the log format."""
        if str(settings.get("FRONTIER_ENABLED")).strip().lower() not in {"1", "true"}:
            return  # an invalid value is refused later
        # A script may run its own loop.
        if importlib.util.find_spec("uvloop") is not None and not is_reactor_installed():
            settings.set("ASYNCIO_EVENT_LOOP", defaults.ASYNCIO_EVENT_LOOP, priority=PRIORITY)
        from crawler.extensions.logs import LogAddon  # with all that a worker needs, which `push` and others do not

        LogAddon.update_pre_crawler_settings(settings)

    def __repr__(self) -> str:
        """As Scrapy's first log lines show it."""
        return ADDON

    def update_settings(self, settings: Settings) -> None:
        """Complete *settings*, and log where requests come from and where items go."""
        complete(settings)
        command = "" if is_script() else running_command()
        if settings.get("FRONTIER_ENABLED") is not None or not is_scrapys_tool(command):
            for line in announcement(settings, getattr(self._crawler.spidercls, "name", ""), command):
                logger.info(line)
        _tell_others(settings)


def _tell_others(settings: BaseSettings) -> None:
    """Where the bundled Redis listens, once it is known: to RedisPipeline, and whatever else asks scrapy-redis for a
    connection."""
    if wanted(settings):
        from crawler.frontier.server.connection import joined_url  # takes time that `shell` and others need not spend

        if url := joined_url(settings):
            settings.set("REDIS_URL", url, priority=PRIORITY)


def running_command() -> str:
    """The command that `scrapy` was called with, and has taken out of `sys.argv`."""
    return next((word for word in sys.orig_argv[-len(sys.argv) :] if not word.startswith("-")), "")


def is_scrapys_tool(command: str) -> bool:
    """Whether *command* is Scrapy's and looks at pages, like `shell`, where nobody expects a fleet. `crawl` may be
    Scrapy's, too, where Shoal is on the path (PYTHONPATH) and its commands are not installed."""
    return command != "crawl" and any(command == module.name for module in iter_modules(scrapy.commands.__path__))


def wanted(settings: BaseSettings) -> bool:
    """Whether the crawl joins the fleet: set by `scrapy crawl`; a spider's FRONTIER_ENABLED = False opts out."""
    return config.boolean(settings, "FRONTIER_ENABLED")


def complete(settings: BaseSettings) -> None:
    """Give every tunable its default, and install our components for a crawl of the fleet. Idempotent.

    Raises ConfigError naming a setting that conflicts with ours.
    """
    fleet = wanted(settings)
    settings.set("PROJECT_DIR", str(Path(closest_scrapy_cfg() or "scrapy.cfg").resolve().parent), priority=PRIORITY)
    for name, value in VALUES.items():
        set_by_others = (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES[PRIORITY]
        if not set_by_others and (fleet or name in CONSOLES or not hasattr(default_settings, name)):
            settings.set(name, _below_project(settings, value) if name in PATHS else value, priority=PRIORITY)
    if "FRONTIER_SPIDER_SETTINGS" in settings:
        raise ConfigError(
            "FRONTIER_SPIDER_SETTINGS", "...", f"it unset: ADDONS = {{{ADDON!r}: 500}} wires the components now"
        )
    if fleet:
        if settings["FEED_URI_PARAMS"] is None:
            settings.set("FEED_URI_PARAMS", components.FEED_URI_PARAMS, priority=PRIORITY)
        settings.set(POETS_BASE, defaults.REQUEST_FINGERPRINTER_CLASS, priority=PRIORITY)
        wire(settings)


def completed(settings: BaseSettings, spider: type[Spider] = Spider) -> Crawler:
    """For commands: a crawler that is not run, with the settings that the project's add-ons make for *spider*.

    *settings* are not changed. Raises ConfigError, also if the project does not use the add-on.
    """
    _check_custom_settings(settings, spider)
    crawler = Crawler(spider, Settings(settings) if not isinstance(settings, Settings) else settings)
    check_addons(crawler.settings)
    require_addon(crawler.settings, getattr(spider, "name", None))
    with _silent("scrapy.addons", __name__):
        _load_addons(crawler)
    return crawler


def _load_addons(crawler: Crawler) -> None:
    """Let the add-ons make the settings; a ShoalError names the line at which one of other people fails."""
    try:
        crawler.addons.load_settings(crawler.settings)
    except ShoalError:
        raise
    except Exception as error:
        frames = [one for one in extract_tb(error.__traceback__) if not one.filename.startswith("<")]
        where = f"{type(error).__name__}: {error} ({frames[-1].filename}:{frames[-1].lineno})"
        raise ShoalError(f"An add-on in ADDONS fails: {where}; mend it, or leave it out") from error


def _check_custom_settings(settings: BaseSettings, spider: type[Spider]) -> None:
    """Raise ConfigError for what Scrapy would fail at without naming it."""
    custom = getattr(spider, "custom_settings", None) or {}
    if not isinstance(custom, Mapping):
        raise ConfigError(f"custom_settings of spider {spider.name}", custom, "a dict")
    check_dicts(settings, custom)


def check_dicts(settings: BaseSettings, given: Mapping[str, Any]) -> None:
    """Raise ConfigError for a value of *given* that is to complete a dict of *settings* and is none."""
    for name in [name for name in given if isinstance(settings[name], BaseSettings)]:
        config.mapping(BaseSettings({name: given[name]}), name)


def uses_addon(settings: BaseSettings) -> bool:
    """Whether ADDONS contains ours."""
    return any(place is not None and path_of(addon) == ADDON for addon, place in settings.getdict("ADDONS").items())


def require_addon(settings: BaseSettings, spider: str | None) -> None:
    """Raise ConfigError if *settings*, including those of *spider*, leave our add-on out."""
    if not uses_addon(settings):
        own = settings.getpriority("ADDONS") == SETTINGS_PRIORITIES["spider"]
        whose = f"ADDONS of spider {spider}" if own else "ADDONS"
        instead = " (FRONTIER_ENABLED = False in a spider keeps it out of the fleet)" if own else ""
        allowed = f"{{{ADDON!r}: 500}}, or a dict that contains it, in the settings of the project{instead}"
        raise ConfigError(whose, {path_of(name): place for name, place in settings.getdict("ADDONS").items()}, allowed)


def _below_project(settings: BaseSettings, name: str) -> str:
    """*name* below the project's `.scrapy`."""
    return str(Path(settings["PROJECT_DIR"]) / ".scrapy" / name)


@contextmanager
def _silent(*names: str) -> Iterator[None]:
    """Silence loggers that the crawl itself repeats."""
    loggers = [logging.getLogger(name) for name in names]
    for one in loggers:
        one.disabled = True
    try:
        yield
    finally:
        for one in loggers:
            one.disabled = False
