"""The scopes of a spider: the setting SCOPE, its own `crawl_scope`, and those of its runs."""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final
from weakref import WeakValueDictionary

from scrapy import Spider
from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ConfigError
from crawler.policy.budgets import Budget
from crawler.policy.rules import scope_values
from crawler.policy.rules.domains import Rules
from crawler.policy.rules.scope import ScopeRules, read_scope, shared_links
from crawler.routing.budgeting import checked

FEWEST_RUNS: Final = 1_000  # whose scopes are remembered
PER_SLOT: Final = 4  # such runs, so that no page in work belongs to one that is forgotten

logger = logging.getLogger(__name__)


class Scopes:
    """`usual` is the scope of runs without their own."""

    def __init__(self, spider: Spider | type[Spider], settings: BaseSettings, domains: Rules) -> None:
        """Raises ConfigError naming the place of an invalid value."""
        where = f"crawl_scope of spider {spider.name}"
        own = read_scope(_table(getattr(spider, "crawl_scope", None), where), where)
        self._common = read_scope(config.mapping(settings, "SCOPE"), "SCOPE") | own
        self._domains = domains
        self.usual = ScopeRules(self._common, domains)
        self._most_runs = max(FEWEST_RUNS, PER_SLOT * settings.getint("CONCURRENT_REQUESTS"))
        self._runs: OrderedDict[str, ScopeRules] = OrderedDict()  # by generation, those leased last at the end
        self._given: WeakValueDictionary[str, ScopeRules] = WeakValueDictionary()  # by what runs were given
        self._links = shared_links()
        self._unsure: set[str] = set()  # of these: to be asked for again
        self.budgeted = False  # whether a run has its own budget

    def knows(self, generation: str) -> bool:
        """Whether `learn` has seen that run, since the last `forget`. Its pages are about to be in work: it is among
        the last to be dropped."""
        if generation in self._runs:
            self._runs.move_to_end(generation)
        return generation in self._runs and generation not in self._unsure

    def forget(self) -> None:
        """Redis may have lost its runs, and given their numbers to others. Pages in work keep the scopes they had."""
        self._unsure = set(self._runs)

    def of(self, generation: str) -> ScopeRules:
        """The scope of that run."""
        return self._runs.get(generation, self.usual) if self._runs else self.usual

    def learn(self, generation: str, given: str) -> None:
        """Note the scope that a run was *given*, "" for none; an invalid one is ignored, which is logged."""
        self._unsure.discard(generation)
        if generation not in self._runs and len(self._runs) >= self._most_runs:
            self._runs.popitem(last=False)
        try:
            self._runs[generation] = self._shared(given) if given else self.usual
            self.budgeted = self.budgeted or self.budget_of(given) is not None
        except ConfigError as error:
            logger.error("Ignored the invalid scope of the run with generation %s: %s", generation, error)
            self._runs[generation] = self.usual

    def budget_of(self, scope: str) -> Budget | None:
        """The total budget of a run with *scope*; raises ConfigError."""
        table = _table(scope, "--scope") if scope else {}
        if not isinstance(table, dict) or "budget" not in table:
            return None
        found = checked(table["budget"], "--scope['budget']")
        if found.hours or found.time_zone != "UTC":
            raise ConfigError("--scope['budget']", table["budget"], "no hours and no time_zone: these are a domain's")
        return found

    def given(self, scope: str) -> ScopeRules:
        """*scope*, a JSON object, with precedence over all others; raises ConfigError."""
        table = _table(scope, "--scope")
        self.budget_of(scope)
        own = read_scope(table, "--scope", scope_values.of_run)
        own.pop("budget", None)
        return ScopeRules(self._common, self._domains, own=own, shared=self._links)

    def _shared(self, given: str) -> ScopeRules:
        if (rules := self._given.get(given)) is None:
            rules = self._given[given] = self.given(given)
        return rules


def _table(raw: Any, where: str) -> Any:
    """A string comes from `-a crawl_scope=...`."""
    if raw is None:
        return {}
    if not isinstance(raw, str):
        return dict(raw) if isinstance(raw, Mapping) else raw
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ConfigError(where, raw, f"a JSON object ({error})") from None
