"""The settings of a worker and of its store, looked at before anything starts: a wrong one is a line, not a dead
worker. Known weakness: what handlers and extensions read they check themselves, as they are built."""

from __future__ import annotations

from scrapy.settings import BaseSettings

from crawler import config, defaults
from crawler.errors import ConfigError
from crawler.frontier.config import FrontierConfig
from crawler.policy.address_guard import AddressPolicy
from crawler.policy.endings.retries import RetryPolicy
from crawler.policy.rules.scope import read_scope
from crawler.policy.shared_addresses import SharedAddresses
from crawler.routing.budgeting import spider_budget
from crawler.routing.host_rules import HostRules
from crawler.storage.archive.config import ArchiveConfig
from crawler.storage.attempts import AttemptsConfig
from crawler.storage.config import StorageConfig
from crawler.worker.config import WorkerConfig
from crawler.worker.lease_queue import served_tiers
from crawler.worker.prefetch import PrefetchConfig
from crawler.worker.upkeep.maintenance import MaintenanceConfig
from crawler.worker.upkeep.run_stats import read_table
from crawler.worker.upkeep.tier_tracker import TierConfig


def check_settings(settings: BaseSettings) -> None:
    """Read them; raises ConfigError for the first that is out of range."""
    _check_switches(settings)
    FrontierConfig.from_settings(settings)
    HostRules.from_settings(settings)
    PrefetchConfig.from_settings(settings)
    MaintenanceConfig.from_settings(settings)
    RetryPolicy.from_settings(settings)
    served_tiers(settings)
    TierConfig.from_settings(settings)
    WorkerConfig.from_settings(settings)
    SharedAddresses.from_settings(settings)
    AddressPolicy.from_settings(settings)
    read_scope(config.mapping(settings, "SCOPE"), "SCOPE")
    spider_budget(settings)
    read_table(settings)
    if config.boolean(settings, "SHOAL_STORE"):
        StorageConfig.from_settings(settings)
        ArchiveConfig.from_settings(settings)
        AttemptsConfig.from_settings(settings)


def _check_switches(settings: BaseSettings) -> None:
    """Raise ConfigError for what is neither on nor off; None would switch off, robots.txt say, what is on."""
    for name, default in vars(defaults).items():
        if default is True and settings[name] is None:
            raise ConfigError(name, None, "True or False: None switches it off")
    for name in ("REDIS_START_URLS_AS_SET", "REDIS_START_URLS_AS_ZSET"):
        config.boolean(settings, name)
