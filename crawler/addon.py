"""`ADDONS = {"crawler.addon.Shoal": 500}` makes every spider under `scrapy crawl` part of the fleet.

The add-on runs after spiders' `custom_settings`, so dicts of components that a project or a spider sets are completed,
never replaced. Other commands (`shell`, `parse`, `fetch`, `check`, `runspider` ...) stay Scrapy's own.
"""

from __future__ import annotations

import importlib.util
import logging
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, Settings, default_settings
from scrapy.utils.conf import closest_scrapy_cfg
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import is_reactor_installed

from crawler import components, config, defaults, moved
from crawler.announcement import announcement
from crawler.components import path_of
from crawler.errors import ConfigError
from crawler.extensions.logs import LogAddon

ADDON: Final = "crawler.addon.Shoal"
PRIORITY: Final = "addon"
PATHS: Final = ("EMBEDDED_DATA_DIR", "SPOOL_DIR", "ARCHIVE_DIR")
EARLY: Final = ("ASYNCIO_EVENT_LOOP",)  # Scrapy reads it before it calls add-ons
CONSOLES: Final = ("TELNETCONSOLE_ENABLED", "REMOTE_CONTROL_ENABLED")  # off for every command
VALUES: Final = {name: value for name, value in vars(defaults).items() if name.isupper() and name not in EARLY}
POETS_BASE: Final = "SCRAPY_POET_REQUEST_FINGERPRINTER_BASE_CLASS"  # what scrapy-poet's fingerprinter builds on
THEIRS: Final = ("scrapy.", "scrapy_redis.")

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
        if str(settings.get("FRONTIER_ENABLED")).strip().lower() not in {
            "1",
            "true",
        }:  # an invalid value is refused later
            return
        if (
            importlib.util.find_spec("uvloop") is not None and not is_reactor_installed()
        ):  # a script may run its own loop
            settings.set("ASYNCIO_EVENT_LOOP", defaults.ASYNCIO_EVENT_LOOP, priority=PRIORITY)
        LogAddon.update_pre_crawler_settings(settings)

    def __repr__(self) -> str:
        """As Scrapy's first log lines show it."""
        return ADDON

    def update_settings(self, settings: Settings) -> None:
        """Complete *settings*, and log where requests come from and where items go."""
        complete(settings)
        if settings.get("FRONTIER_ENABLED") is not None or is_script():
            for line in announcement(settings, getattr(self._crawler.spidercls, "name", "")):
                logger.info(line)
        _tell_others(settings)


def _tell_others(settings: BaseSettings) -> None:
    """Where the bundled Redis listens, once it is known: to RedisPipeline, and whatever else asks scrapy-redis for a
    connection."""
    if wanted(settings):
        from crawler.frontier.server.connection import joined_url  # takes time that `shell` and others need not spend

        if url := joined_url(settings):
            settings.set("REDIS_URL", url, priority=PRIORITY)


def is_script() -> bool:
    """Whether somebody's own program runs Scrapy, not one of its commands, of which only `crawl` joins the fleet."""
    return "scrapy.cmdline" not in sys.modules


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
        _rename(settings)
        for name, ours in components.SCALARS.items():
            _replace(settings, name, ours)
        for name, table in _tables(settings).items():
            _complete_components(settings, name, table)
        _complete_handlers(settings)


def completed(settings: BaseSettings, spider: type[Spider] = Spider) -> Crawler:
    """For commands: a crawler that is not run, with the settings that the project's add-ons make for *spider*.

    *settings* are not changed. Raises ConfigError, also if the project does not use the add-on.
    """
    _check_custom_settings(settings, spider)
    crawler = Crawler(spider, Settings(settings) if not isinstance(settings, Settings) else settings)
    require_addon(crawler.settings, getattr(spider, "name", None))
    with _silent("scrapy.addons", __name__):
        crawler.addons.load_settings(crawler.settings)
    return crawler


def _check_custom_settings(settings: BaseSettings, spider: type[Spider]) -> None:
    """Raise ConfigError for what Scrapy would fail at without naming it."""
    custom = getattr(spider, "custom_settings", None) or {}
    if not isinstance(custom, Mapping):
        raise ConfigError(f"custom_settings of spider {spider.name}", custom, "a dict")
    check_dicts(settings, custom)


def check_dicts(settings: BaseSettings, given: Mapping[str, Any]) -> None:
    """Raise ConfigError for a value of *given* that is to complete a dict of *settings* and is none."""
    for name in [name for name in given if isinstance(settings.get(name), BaseSettings)]:
        config.mapping(BaseSettings({name: given[name]}), name)


def uses_addon(settings: BaseSettings) -> bool:
    """Whether ADDONS contains ours."""
    return any(place is not None and path_of(addon) == ADDON for addon, place in settings.getdict("ADDONS").items())


def require_addon(settings: BaseSettings, spider: str | None) -> None:
    """Raise ConfigError if *settings*, including those of *spider*, leave our add-on out."""
    if not uses_addon(settings):
        whose = f"ADDONS of spider {spider}" if spider else "ADDONS"
        allowed = f"a dict that contains {ADDON!r} (FRONTIER_ENABLED = False in a spider keeps it out of the fleet)"
        raise ConfigError(whose, {path_of(name): place for name, place in settings.getdict("ADDONS").items()}, allowed)


def _rename(settings: BaseSettings) -> None:
    """Replace paths of components from earlier releases."""
    for name in list(settings):
        value, priority = settings[name], settings.getpriority(name) or 0
        if isinstance(value, str) and moved.renamed(value) != value:
            logger.warning("%s = %r has moved: use %s", name, value, moved.renamed(value))
            settings.set(name, moved.renamed(value), priority=priority)
        elif name in components.TABLES:
            given = config.mapping(settings, name)
            for old in [key for key in given if isinstance(key, str) and moved.renamed(key) != key]:
                logger.warning("%s[%r] has moved: use %s", name, old, moved.renamed(old))
                given[moved.renamed(old)] = given.pop(old)
                settings.set(name, given, priority=priority)


def _replace(settings: BaseSettings, name: str, ours: str) -> None:
    """Put *ours* in place of Scrapy's or scrapy-redis' own class; log it if that was set explicitly."""
    value = settings[name]
    path = path_of(value) if value is not None else THEIRS[0]
    priority = settings.getpriority(name) or 0
    if path.startswith(THEIRS):
        if priority > SETTINGS_PRIORITIES["default"]:
            logger.info("%s = %r is replaced by %s: the fleet owns the queue and the pace", name, path, ours)
        settings.set(name, ours, priority=max(priority, SETTINGS_PRIORITIES[PRIORITY]))
    elif not _is(value, ours):
        allowed = f"{ours} or a subclass (FRONTIER_ENABLED = False crawls with your own class, outside the fleet)"
        raise ConfigError(name, path, allowed)


def _tables(settings: BaseSettings) -> dict[str, Mapping[str, int]]:
    """Our components by setting, without those that need a store if SHOAL_STORE is False."""
    stored = config.boolean(settings, "SHOAL_STORE")
    tables: dict[str, Mapping[str, int]] = {
        name: {path: place for path, place in table.items() if stored or path not in components.STORING}
        for name, table in (
            ("DOWNLOADER_MIDDLEWARES", components.DOWNLOADER_MIDDLEWARES),
            ("SPIDER_MIDDLEWARES", _spider_middlewares(settings)),
            ("EXTENSIONS", components.EXTENSIONS),
        )
    }
    return tables | ({"ITEM_PIPELINES": _pipelines(settings)} if stored else {})


def _spider_middlewares(settings: BaseSettings) -> dict[str, int]:
    """Add ours; those that see how a page ends are nearer to the engine than all others, which may recover each other's
    errors."""
    theirs = _checked(settings, "SPIDER_MIDDLEWARES").values()
    ours = dict(components.SPIDER_MIDDLEWARES)
    places = [int(place) - 1 for place in theirs if isinstance(place, int | float)]
    ours[components.LINEAGE] = min([ours[components.LINEAGE], *places])
    return ours


def _pipelines(settings: BaseSettings) -> dict[str, int]:
    """Add ours, MongoDB's after all others, so that their changes are stored too."""
    ours = {path_of(key): place for key, place in _checked(settings, "FRONTIER_ITEM_PIPELINES").items()}
    theirs = _checked(settings, "ITEM_PIPELINES").values()
    last = max((place for place in theirs if isinstance(place, int | float)), default=0)
    if components.MONGODB in ours:
        ours[components.MONGODB] = max(ours[components.MONGODB], last + 1)
    return ours


def _complete_components(settings: BaseSettings, name: str, ours: Mapping[str, int]) -> None:
    given = _checked(settings, name)
    keys = {path_of(key): key for key in given}
    for path, place in ours.items():
        key = _known(keys, path)
        if key is not None and given[key] is None and path in components.REQUIRED:
            allowed = "a position: the fleet cannot work without this component (SHOAL_STORE = False stores nothing)"
            raise ConfigError(f"{name}[{path!r}]", None, allowed)
        stands_for = components.STANDS_FOR.get(path, "")
        if key is None and stands_for in keys and given[keys[stands_for]] is None:
            continue  # switched off
        if key is None:
            given[path] = place
        if stands_for and (key is None or given[key] is not None):
            given[keys.get(stands_for, stands_for)] = None
    settings.set(name, given, priority=settings.getpriority(name) or 0)


def _checked(settings: BaseSettings, name: str) -> dict[Any, Any]:
    """The dict of components *name*; raises ConfigError for a key that is none and for a place that is no number."""
    given: dict[Any, Any] = config.mapping(settings, name)
    for key, place in given.items():
        if not (isinstance(key, str) or callable(key)):
            raise ConfigError(name, {key: place}, "classes or their paths as keys")
        if place is not None and not (isinstance(place, int | float) and math.isfinite(place)):
            raise ConfigError(f"{name}[{path_of(key)!r}]", place, "a number, or None to switch it off")
    return given


def require_components(settings: BaseSettings) -> None:
    """Raise ConfigError for a component in use that cannot be imported."""
    for name in components.TABLES:
        for key, place in config.mapping(settings, name).items():
            try:
                _ = load_object(key) if place is not None else None
            except (ImportError, NameError, TypeError, ValueError) as error:
                expected = f"the path of a class that can be imported ({error})"
                raise ConfigError(f"{name}[{path_of(key)!r}]", place, expected) from None


def _complete_handlers(settings: BaseSettings) -> None:
    """Set ours for http and https; scrapy-playwright's mean that the browser tier is wanted."""
    given = config.mapping(settings, "DOWNLOAD_HANDLERS")
    for_browser = [
        scheme for scheme in ("http", "https") if path_of(given.get(scheme) or "").startswith(components.BROWSER_WISH)
    ]
    for scheme in for_browser:
        del given[scheme]
    handlers = components.DOWNLOAD_HANDLERS | given
    settings.set("DOWNLOAD_HANDLERS", handlers, priority=settings.getpriority("DOWNLOAD_HANDLERS") or 0)
    if for_browser:
        settings.set("TIER", "http,browser", priority=PRIORITY)
        logger.info(
            "DOWNLOAD_HANDLERS of scrapy-playwright are replaced by Shoal's, which dial no private address: "
            "requests with meta['playwright'] are fetched by the browser tier, TIER = %r",
            settings["TIER"],
        )


def _known(keys: Mapping[str, Any], path: str) -> Any:
    """The key for the class at *path*, under that or another path; None if there is none."""
    if path in keys:
        return keys[path]
    name = path.rpartition(".")[2]
    alike = [key for other, key in keys.items() if other.endswith(f".{name}") and other.startswith("crawler.")]
    return next((key for key in alike if load_object(key) is load_object(path)), None)


def _is(value: Any, ours: str) -> bool:
    """Whether *value* is the class at *ours* or a subclass."""
    try:
        return issubclass(load_object(value), load_object(ours))
    except (ImportError, NameError, TypeError, ValueError):
        return False


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
