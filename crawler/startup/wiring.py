"""Completes the components that a project or a spider sets with ours: tables of middlewares, extensions, pipelines and
handlers are filled up, never replaced; the classes that own queue and pace take the place of Scrapy's.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import is_reactor_installed

from crawler import components, config, defaults
from crawler.components import ADDON, path_of
from crawler.errors import ConfigError
from crawler.startup import moved

PRIORITY: Final = "addon"
UNFILTERED: Final = "scrapy.dupefilters.BaseDupeFilter"
REDIS_STATS: Final = "scrapy_redis.stats.RedisStatsCollector"
THEIRS: Final = ("scrapy.", "scrapy_redis.")

logger = logging.getLogger("crawler.addon")  # one name in the log for what the add-on changes


def wire(settings: BaseSettings) -> None:
    """Install our components for a crawl of the fleet, once or again. Raises ConfigError for one that conflicts."""
    _rename(settings)
    if is_script() and (is_reactor_installed() or not settings.getbool("TWISTED_REACTOR_ENABLED")):
        import_components(settings)
    for name, ours in components.SCALARS.items():
        _replace(settings, name, ours)
    _replace_redis_stats(settings)
    for name, table in _tables(settings).items():
        _complete_components(settings, name, table)
    _complete_handlers(settings)


def is_script() -> bool:
    """Whether somebody's own program runs Scrapy, not one of its commands, of which only `crawl` joins the fleet."""
    return "scrapy.cmdline" not in sys.modules


def import_components(settings: BaseSettings) -> None:
    """Import the components that are set, as `scrapy crawl` has done before: only then it is known which derive from
    ours. Whatever fails at that is named by who builds them.

    Known weakness: under Scrapy's CrawlerProcess there is no reactor yet, and a module that imports one would install
    the wrong one. So a script that uses it imports the modules of its subclasses itself.
    """
    for name in (*components.TABLES, "FRONTIER_ITEM_PIPELINES"):
        for key, place in _checked(settings, name).items():
            if place is not None:
                with suppress(Exception):
                    load_object(key)


def _rename(settings: BaseSettings) -> None:
    """Replace paths of components from earlier releases."""
    for name in list(settings):
        value, priority = settings[name], settings.getpriority(name) or 0
        if isinstance(value, str) and moved.renamed(value) != value:
            logger.warning("%s = %r has moved: use %s", name, value, moved.renamed(value))
            settings.set(name, moved.renamed(value), priority=priority)
        elif name in components.TABLES:
            given = config.mapping(settings, name)
            if (renamed := _renamed(name, given)) != given:
                settings.set(name, renamed, priority=priority)


def _renamed(name: str, given: Mapping[Any, Any]) -> dict[Any, Any]:
    """The table *given* as setting *name*, with the paths of this release."""
    renamed = dict(given)
    for old in [key for key in given if isinstance(key, str)]:
        if old in moved.MERGED:
            logger.warning("%s[%r] is gone: %s does its work, remove the line", name, old, moved.MERGED[old])
            del renamed[old]
        elif moved.renamed(old) != old:
            logger.warning("%s[%r] has moved: use %s", name, old, moved.renamed(old))
            renamed[moved.renamed(old)] = renamed.pop(old)
    return renamed


def _replace(settings: BaseSettings, name: str, ours: str) -> None:
    """Put *ours* in place of Scrapy's or scrapy-redis' own class; log it if that was set explicitly."""
    value = settings[name]
    path = path_of(value) if value is not None else THEIRS[0]
    priority = settings.getpriority(name) or 0
    if path.startswith(THEIRS):
        if path == UNFILTERED:
            words = "known pages are not crawled again, but for requests with dont_filter"
            logger.warning("%s = %r is replaced by %s: %s", name, path, ours, words)
        elif priority > SETTINGS_PRIORITIES["default"]:
            logger.info("%s = %r is replaced by %s: the fleet owns the queue and the pace", name, path, ours)
        settings.set(name, ours, priority=max(priority, SETTINGS_PRIORITIES[PRIORITY]))
    elif path != ours and not is_kind_of(value, ours):
        allowed = (
            f"{ours} or a subclass (without this line it is used; "
            "FRONTIER_ENABLED = False crawls with your own class, outside the fleet)"
        )
        raise ConfigError(name, path, allowed)


def _replace_redis_stats(settings: BaseSettings) -> None:
    """scrapy-redis' collector asks Redis for each count, and raises for a text that it is to read, such as the reason
    for which a crawl ended. Any other one stays."""
    name, ours = "STATS_CLASS", defaults.STATS_CLASS
    if path_of(value := settings[name]) == REDIS_STATS:
        priority = settings.getpriority(name) or 0
        words = "`scrapy runs show` adds up the stats of a run's workers"
        logger.info("%s = %r is replaced by %s: %s", name, path_of(value), ours, words)
        settings.set(name, ours, priority=max(priority, SETTINGS_PRIORITIES[PRIORITY]))


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
    errors; the one that starts an old spider is nearer to it than all others."""
    theirs = _checked(settings, "SPIDER_MIDDLEWARES").values()
    ours = dict(components.SPIDER_MIDDLEWARES)
    places = [int(place) - 1 for place in theirs if isinstance(place, int | float)]
    ours[components.LINEAGE] = min([ours[components.LINEAGE], *places])
    ours[components.OLD_START] = max([ours[components.OLD_START], *(place + 2 for place in places)])
    return ours


def _pipelines(settings: BaseSettings) -> dict[str, int]:
    """Add ours, MongoDB's after all others, so that their changes are stored too."""
    ours = {path_of(key): place for key, place in _checked(settings, "FRONTIER_ITEM_PIPELINES").items()}
    theirs = _checked(settings, "ITEM_PIPELINES")
    last = max((place for place in theirs.values() if isinstance(place, int | float)), default=0)
    if components.MONGODB in ours:
        ours[components.MONGODB] = max(ours[components.MONGODB], last + 1)
    elif _known({path_of(key): key for key in theirs}, components.MONGODB) is None and not _may_store(ours, theirs):
        allowed = f"{components.MONGODB} in it, or in ITEM_PIPELINES: nothing is stored otherwise (SHOAL_STORE = False)"
        raise ConfigError("FRONTIER_ITEM_PIPELINES", list(ours), allowed)
    return ours


def _may_store(*pipelines: Mapping[Any, Any]) -> bool:
    """Whether one of *pipelines* derives from MongoDB's, or may do so, as it cannot be looked at yet."""
    used = [key for some in pipelines for key, place in some.items() if place is not None]
    return any(components.derives(key, components.MONGODB) or not components.is_imported(key) for key in used)


def _complete_components(settings: BaseSettings, name: str, ours: Mapping[str, int]) -> None:
    given = _checked(settings, name)
    keys = {path_of(key): key for key in given}
    theirs = [key for key, place in given.items() if place is not None and path_of(key) not in ours]
    for path, place in ours.items():
        key = _known(keys, path)
        if key not in {None, path}:  # a class, or another path of it: whoever looks for it knows this one
            given[path], key = given.pop(key), path
        stands_for = components.STANDS_FOR.get(path, "")
        scrapys = keys.get(stands_for, stands_for)
        heirs = [path_of(one) for one in theirs if components.derives(one, path)]
        if heirs and (key is None or given[key] is None):
            logger.info("%s: %s takes the place of %s", name, " and ".join(heirs), path)
            given |= {path: None} | ({scrapys: None} if stands_for else {})
            continue
        if key is not None and given[key] is None and path in components.REQUIRED:
            _require(name, path, theirs)
            given[path] = place
        if key is None and scrapys in given and given[scrapys] is None:
            continue  # switched off
        if key is None:
            _tell_of_place(settings, name, scrapys, given.get(scrapys), path, place)
            given[path] = place
        if stands_for and (key is None or given[key] is not None):
            given[scrapys] = None
    settings.set(name, given, priority=settings.getpriority(name) or 0)


def _require(name: str, path: str, theirs: Iterable[Any]) -> None:
    """Raise ConfigError for the component at *path*, which is switched off, unless one of *theirs* may derive from it
    that cannot be looked at yet."""
    if all(components.is_imported(key) for key in theirs if not path_of(key).startswith(THEIRS)):
        instead = " (SHOAL_STORE = False stores nothing)" if path == components.MONGODB else ""
        allowed = f"a position, or a subclass in its place: the fleet cannot work without this component{instead}"
        raise ConfigError(f"{name}[{path!r}]", None, allowed)


def _tell_of_place(
    settings: BaseSettings, name: str, scrapys: Any, wished: float | None, path: str, place: float
) -> None:
    """Ours run where they work with each other, not where a project has put the one of Scrapy's that they stand for."""
    if wished is not None and wished != settings[f"{name}_BASE"].get(path_of(scrapys)):
        words = "%s[%r] = %s has no effect: %s stands for it, at %s; give that one the place to move it"
        logger.warning(words, name, path_of(scrapys), wished, path, place)


def _checked(settings: BaseSettings, name: str) -> dict[Any, Any]:
    """The dict of components *name*; raises ConfigError for a key that is none and for a place that is no number."""
    given: dict[Any, Any] = config.mapping(settings, name)
    for key, place in given.items():
        if not (isinstance(key, str) or callable(key)):
            raise ConfigError(name, {key: place}, "classes or their paths as keys")
        if place is not None and not _is_place(place):
            raise ConfigError(f"{name}[{path_of(key)!r}]", place, "a number, or None to switch it off")
    return given


def _is_place(value: object) -> bool:
    return isinstance(value, int | float) and -math.inf < value < math.inf


def check_addons(settings: BaseSettings) -> None:
    """Raise ConfigError for an add-on that cannot be loaded."""
    for addon, place in config.mapping(settings, "ADDONS").items():
        name = f"ADDONS[{path_of(addon)!r}]"
        if place is None:
            continue
        if not _is_place(place):
            raise ConfigError(name, place, "a number, or None to switch it off")
        config.loaded(name, addon, place)


def require_components(settings: BaseSettings) -> None:
    """Raise ConfigError for a component in use that cannot be imported."""
    for name in (*components.TABLES, *(f"{table}_BASE" for table in components.TABLES)):
        for key, place in config.mapping(settings, name).items():
            setting = f"{name}[{path_of(key)!r}]"
            if place is not None:
                config.loaded(setting, key, place)
            elif name in components.TABLES:
                config.check_module(setting, key)


def require_wired(settings: BaseSettings) -> None:
    """Raise ConfigError where ours are missing from *settings*, which `wire` has completed."""
    expected = (
        f"what Shoal's add-on made of it: an add-on behind Shoal's has replaced it; give {ADDON!r} the highest place"
    )
    for name, ours in components.SCALARS.items():
        if not is_kind_of(settings[name], ours):
            raise ConfigError(name, path_of(settings[name]), f"{expected} in ADDONS")
    for name, table in _tables(settings).items():
        given = _checked(settings, name)
        keys = {path_of(key): key for key in given}
        for path in table:
            stands_for = keys.get(components.STANDS_FOR.get(path, ""))
            is_off = stands_for is not None and given[stands_for] is None
            if _known(keys, path) is None and not is_off:
                raise ConfigError(name, "...", f"{expected} in ADDONS ({path} is missing)")


def _complete_handlers(settings: BaseSettings) -> None:
    """Set ours for http and https; scrapy-playwright's mean that the browser tier is wanted."""
    given = config.mapping(settings, "DOWNLOAD_HANDLERS")
    for_browser = [
        scheme for scheme in ("http", "https") if path_of(given.get(scheme) or "").startswith(components.BROWSER_WISH)
    ]
    for scheme in for_browser:
        del given[scheme]
    handlers = components.DOWNLOAD_HANDLERS | given
    # Scrapy gives its own the priority of a project's later, where there is no reactor
    priority = max(settings.getpriority("DOWNLOAD_HANDLERS") or 0, SETTINGS_PRIORITIES["project"])
    settings.set("DOWNLOAD_HANDLERS", handlers, priority=priority)
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


def is_kind_of(value: Any, ours: Any) -> bool:
    """Whether *value* is the class *ours*, or derives from it; both are classes, or their paths."""
    try:
        return issubclass(load_object(value), load_object(ours))
    except (ImportError, NameError, TypeError, ValueError):
        return False
