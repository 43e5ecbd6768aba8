"""The settings of a worker and of its store, looked at before the log begins: a wrong one is a line, not a dead worker.

Known weakness: what tiers beyond http read (BROWSER_*, API_*), but numbers, is looked at as their handlers are built.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scrapy.settings import BaseSettings

from crawler import config, defaults
from crawler.errors import ConfigError
from crawler.extensions.metrics import MetricsConfig
from crawler.extensions.run_hooks import HooksConfig
from crawler.frontier.config import FrontierConfig
from crawler.handlers.http.handler import HttpConfig
from crawler.handlers.resolver import ResolverConfig
from crawler.pipelines.validate import fatal_issues
from crawler.policy.address_guard import AddressPolicy
from crawler.policy.endings.retries import RetryPolicy
from crawler.policy.rules.scope import read_scope
from crawler.policy.shared_addresses import SharedAddresses
from crawler.proxies.pools import ProxyConfig
from crawler.routing.budgeting import spider_budget
from crawler.routing.host_rules import HostRules
from crawler.storage.archive.config import ArchiveConfig
from crawler.storage.config import StorageConfig
from crawler.tracing.config import TracesConfig
from crawler.worker.lease_queue import served_tiers
from crawler.worker.robots_fetcher import RobotsConfig
from crawler.worker.upkeep.run_stats import read_table
from crawler.worker.upkeep.tier_tracker import TierConfig

Reader = Callable[[BaseSettings], object]  # raises ConfigError for a value that is out of range

# Of those who read more than numbers; in this order, so that a value is named by who knows most of it.
READERS: Final[tuple[Reader, ...]] = (
    FrontierConfig.from_settings,
    HostRules.from_settings,
    RetryPolicy.from_settings,
    RobotsConfig.from_settings,
    served_tiers,
    TierConfig.from_settings,
    SharedAddresses.from_settings,
    AddressPolicy.from_settings,
    HttpConfig.from_settings,
    ResolverConfig.from_settings,
    ProxyConfig.from_settings,
    lambda settings: read_scope(config.mapping(settings, "SCOPE"), "SCOPE"),
    spider_budget,
    read_table,
    MetricsConfig.from_settings,
    HooksConfig.from_settings,
    TracesConfig.from_settings,
)
STORE_READERS: Final[tuple[Reader, ...]] = (
    StorageConfig.from_settings,
    ArchiveConfig.from_settings,
    fatal_issues,
)


def check_settings(settings: BaseSettings) -> None:
    """Read them; raises ConfigError for the first that is out of range."""
    _check_switches(settings)
    config.check_numbers(settings)
    for read in (*READERS, *(STORE_READERS if config.boolean(settings, "SHOAL_STORE") else ())):
        read(settings)


def _check_switches(settings: BaseSettings) -> None:
    """Raise ConfigError for what is neither on nor off; None would switch off, robots.txt say, what is on."""
    for name, default in vars(defaults).items():
        if isinstance(default, bool):
            config.boolean(settings, name)
        if default is True and settings[name] is None:
            raise ConfigError(name, None, "True or False: None switches it off")
