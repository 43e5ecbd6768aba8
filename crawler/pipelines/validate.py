"""Names what is wrong with an item: issues are noted on it, fatal ones reject it."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Final, Self

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector

from crawler import config
from crawler import stats as names
from crawler.counting.tallies import Tallies, tallies_of
from crawler.errors import ConfigError
from crawler.frontier.run_record import is_run_generation
from crawler.items import Item
from crawler.pipelines.drops import readable, reject
from crawler.policy.items import quality, validation
from crawler.storage.items import origin

# Grade, and field -> name of its stat, in the order of quality.Grades.
_COUNTED: Final = tuple(
    (name.split("/")[1], functools.cache(name.format))
    for name in (names.FIELD_PRESENT, names.FIELD_MISSING, names.FIELD_INVALID)
)


def fatal_issues(settings: BaseSettings) -> list[str]:
    """For which an item is rejected; raises ConfigError."""
    fatal = config.texts(settings, "ITEM_FATAL_ISSUES")
    if unknown := sorted(set(fatal) - validation.NAMES):
        raise ConfigError("ITEM_FATAL_ISSUES", unknown[0], "only names of " + ", ".join(sorted(validation.NAMES)))
    return fatal


class ValidatePipeline:
    """Applies policy/items/validation.py to our items and grades their fields; other items pass untouched."""

    def __init__(self, fatal: Iterable[str], stats: StatsCollector, tallies: Tallies | None = None) -> None:
        self._fatal = frozenset(fatal)
        self._stats = stats
        self._tallies = tallies or Tallies()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(fatal_issues(crawler.settings), crawler.stats, tallies_of(crawler))

    async def process_item(self, item: Any) -> Any:
        """*item* with its issues noted; raises RejectedItem if one of them is fatal, or the item cannot be read."""
        with readable(item, self._stats):
            if isinstance(item, Item):
                self._validate(item)
        return item

    def _validate(self, item: Item) -> None:
        found = validation.issues(item)
        known = origin.current()
        generation = str(known.source.get("generation", "")) if known is not None else ""
        for (grade, counted), fields in zip(_COUNTED, quality.grades(item, found), strict=True):
            for field in fields:
                self._stats.inc_value(counted(field))
            if is_run_generation(generation):
                self._tallies.fields.add(generation, grade, fields)
        for issue in found:
            self._stats.inc_value(names.ITEM_ISSUES.format(issue.name))
        if any(issue.name in self._fatal for issue in found):
            reject(item, [str(issue) for issue in found], self._stats)
        if found:
            item.issues = list(dict.fromkeys([*item.issues, *(issue.name for issue in found)]))
