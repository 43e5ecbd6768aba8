"""What `crawl` and `check-fleet` look at before a crawl, without a server; startup/README.md has the whole order."""

from __future__ import annotations

from typing import Final

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object
from twisted.internet.asyncioreactor import AsyncioSelectorReactor

from crawler.addon import completed
from crawler.commands import early_settings
from crawler.errors import ConfigError
from crawler.routing.encoder import check_name
from crawler.startup import scrapy_settings
from crawler.startup.settings_check import check_settings
from crawler.startup.wiring import is_kind_of, require_components, require_wired
from crawler.worker import feeds
from crawler.worker.scheduler import Scheduler, in_use

PROCESS_WIDE: Final = ("TWISTED_REACTOR", "TWISTED_REACTOR_ENABLED")


def check_values(settings: BaseSettings, spider: type[Spider]) -> None:
    """Raise ShoalError for *settings*, which the add-ons have made, that a worker of *spider* cannot run with; imports
    none of its components, which may expect Scrapy's event loop."""
    if in_use(settings):
        require_wired(settings)
        check_name(spider)
        check_settings(settings)
        Scheduler.from_settings(settings)
        scrapy_settings.check(settings)
        feeds.check(settings)


def with_components(project: BaseSettings, spider: type[Spider]) -> Crawler:
    """A crawler with the settings that *spider* has in a *project* with these, once its components are imported; raises
    ConfigError for what cannot be built."""
    early_settings.check_log_of(spider, project)
    settings = completed(project, spider).settings
    check_process(project, settings, spider.name)
    require_components(settings)
    crawler = completed(project, spider)  # again: what derives from ours can be told only now
    if in_use(crawler.settings):
        check_reactor(crawler.settings)
        scrapy_settings.check_components(crawler.settings)
    return crawler


def check_process(project: BaseSettings, settings: BaseSettings, name: str) -> None:
    """Raise ConfigError where spider *name* sets what the process has read before it knows the spider."""
    for one in PROCESS_WIDE:
        if settings[one] != project[one]:
            raise _taken(one, name, project, settings)
    loop = "ASYNCIO_EVENT_LOOP"
    if settings[loop] and not is_kind_of(project[loop], settings[loop]):
        raise _taken(loop, name, project, settings)


def _taken(setting: str, name: str, project: BaseSettings, settings: BaseSettings) -> ConfigError:
    allowed = f"{project[setting]!r}, as in the project's settings: a process has one reactor for all its spiders"
    return ConfigError(f"{setting} of spider {name}", settings[setting], allowed)


def check_reactor(settings: BaseSettings) -> None:
    """Raise ConfigError for a reactor without asyncio's event loop, in which a worker's connections live."""
    name, path = "TWISTED_REACTOR", settings["TWISTED_REACTOR"]
    kind = load_object(path) if path else object
    fits = isinstance(kind, type) and issubclass(kind, AsyncioSelectorReactor)
    if settings.getbool("TWISTED_REACTOR_ENABLED") and not fits:
        needed = f"{AsyncioSelectorReactor.__module__}.{AsyncioSelectorReactor.__qualname__}, which the fleet needs"
        raise ConfigError(name, path, needed)
