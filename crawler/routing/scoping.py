"""The scope of a spider: what the setting SCOPE says, and its own `crawl_scope`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from scrapy import Spider
from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ConfigError
from crawler.policy.domains import Rules
from crawler.policy.scope import ScopeRules, read_scope


def scope_rules(spider: Spider | type[Spider], settings: BaseSettings, domains: Rules) -> ScopeRules:
    """Raises ConfigError that names where the bad value stands."""
    common = read_scope(config.mapping(settings, "SCOPE"), "SCOPE")
    where = f"crawl_scope of spider {spider.name}"
    return ScopeRules(common | read_scope(_table(getattr(spider, "crawl_scope", None), where), where), domains)


def _table(raw: Any, where: str) -> Any:
    """A text is what `-a crawl_scope=...` gives."""
    if raw is None:
        return {}
    if not isinstance(raw, str):
        return dict(raw) if isinstance(raw, Mapping) else raw
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ConfigError(where, raw, f"a JSON object ({error})") from None
