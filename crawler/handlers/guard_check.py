"""Stops a fleet crawl from starting with a handler that would dial any address."""

from __future__ import annotations

from typing import Any, Final

from scrapy.settings import BaseSettings

from crawler import config
from crawler.components import path_of
from crawler.errors import ConfigError
from crawler.handlers.http.handler import HttpConfig, tls_context
from crawler.handlers.resolver import ResolverConfig
from crawler.policy.address_guard import AddressPolicy
from crawler.urls import SCHEMES

GUARDED: Final = "guards_addresses"  # a handler sets this to state that it dials only what AddressPolicy allows
# What serves here instead of handlers without it, by the beginning of their path.
INSTEAD: Final = {
    "scrapy.": "without this line ours is used",
    "scrapy_impersonate.": "`tls_profile` in domains.toml does the same, docs/spiders.md",
    "scrapy_zyte_api.": "paid APIs are the tier `api`, docs/tiers.md",
}


def check(settings: BaseSettings) -> None:
    """Raise ConfigError for an http or https handler without the guard, and for our settings out of range.

    Scrapy builds a handler with the first request that needs it, and only logs its failure.
    """
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    for scheme in SCHEMES:
        if (path := handlers.get(scheme)) is not None:
            guarded(f"DOWNLOAD_HANDLERS[{scheme!r}]", path)
    AddressPolicy.from_settings(settings)
    ResolverConfig.from_settings(settings)
    HttpConfig.from_settings(settings)
    tls_context(settings)


def guarded(name: str, path: str | type) -> Any:
    """The handler class at *path*, or itself, the value of setting *name*; raises ConfigError if it has no guard."""
    handler = config.loaded(name, path, path, "the path of a class that can be loaded")
    if getattr(handler, GUARDED, False) is not True:
        given = path_of(path)
        advice = next((text for start, text in INSTEAD.items() if given.startswith(start)), "docs/download.md")
        allowed = f"a handler that dials no private address and declares it with `{GUARDED} = True` ({advice})"
        raise ConfigError(name, path, allowed)
    return handler
