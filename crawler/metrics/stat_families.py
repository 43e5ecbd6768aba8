"""Which Scrapy stats become which metrics: the table and its reader. Independent of the Prometheus library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final

from crawler import stats as names
from crawler.metrics.label_values import fitted

GAUGES: Final = frozenset(
    {
        *(names.ARCHIVE_AWAY, names.BROWSER_MEMORY, names.STORE_AWAY),
        *(names.SPOOL_BYTES, names.SPOOL_LIMIT, names.SPOOL_OLDEST),
    }
)
_CHOSEN_BY_SITES: Final = frozenset({"outcome", "reason"})
_STATUSES: Final = frozenset(str(status.value) for status in HTTPStatus)
LABELS: Final = {  # other patterns: reason; proxy/: pool
    names.ITEMS: "result",
    names.ITEM_ISSUES: "issue",
    names.FIELD_PRESENT: "field",
    names.FIELD_MISSING: "field",
    names.FIELD_INVALID: "field",
    names.BLOCKED: "vendor",
    names.BROWSER_BLOCKED: "type",
    names.API_CALLS: "provider",
    names.API_COST: "provider",
    names.API_FAULTS: "provider",
    names.TIER_MOVES: "tier",
    names.TIER_REQUESTS: "tier",
}


MOST_VALUES: Final = 40  # label values of a family that are counted apart; those that come later are OTHER
MOST_FIELDS: Final = 100  # the same of fields: a spider's items have as many as it likes
OTHER: Final = "other"


@dataclass(frozen=True, slots=True)
class Family:
    """One metric and the stats it is read from; `{}` in their names is the label's value."""

    metric: str
    help: str
    stats: tuple[str, ...]
    label: str = ""
    counts: Counter[str] = field(default_factory=Counter)  # label value -> count (or cost); "" without a label

    @property
    def is_gauge(self) -> bool:
        """Whether the value may go down."""
        return not GAUGES.isdisjoint(self.stats)

    def empty(self) -> Family:
        """The same before anything was counted: 0 without a label, so that a first count is seen as a rise."""
        return Family(self.metric, self.help, self.stats, self.label, Counter() if self.label else Counter({"": 0}))

    def add(self, label: str, count: float) -> None:
        """Count *label*. The first values keep series of their own, so that none ever goes down; whatever is crawled, a
        worker has no more series than that."""
        if label not in self.counts and len(self.counts) >= (MOST_FIELDS if self.label == "field" else MOST_VALUES):
            label = OTHER
        self.counts[label] += count  # type: ignore[assignment]


def _ours() -> Iterator[Family]:
    """Every stat of crawler/stats.py under its own name, so that new ones need no line here."""
    for constant, stat in vars(names).items():
        if constant.isupper():
            usual = "pool" if stat.startswith("proxy/") else "reason"
            label = LABELS.get(stat, usual) if stat.endswith("/{}") else ""
            name = stat.removesuffix("/{}").replace("/", "_")
            yield Family(f"shoal_{name}", f"Scrapy stat {stat} of this worker", (stat,), label)


FAMILIES: Final = (
    Family(
        "shoal_requests",
        "Requests of this worker by outcome: the status, or the class of the error",
        ("downloader/response_status_count/{}", "downloader/exception_type_count/{}"),
        "outcome",
    ),
    Family("shoal_sent_bytes", "Bytes of requests sent", ("downloader/request_bytes",)),
    Family("shoal_received_bytes", "Bytes of responses received", ("downloader/response_bytes",)),
    Family("shoal_retries", "Retries asked for by Scrapy's retry middleware", ("retry/reason_count/{}",), "reason"),
    Family("shoal_items_scraped", "Items that passed every pipeline", ("item_scraped_count",)),
    Family("shoal_items_dropped", "Items that a pipeline dropped", ("item_dropped_reasons_count/{}",), "reason"),
    Family("shoal_spider_exceptions", "Exceptions that callbacks raised", ("spider_exceptions/{}",), "exception"),
    Family("shoal_log_lines", "Lines logged", ("log_count/{}",), "level"),
    *_ours(),
)


_PLACES: Final = {  # stat, or what a stat with a label begins with -> the family's place
    stat.removesuffix("{}"): place for place, family in enumerate(FAMILIES) for stat in family.stats
}


def read(stats: Mapping[Any, Any]) -> list[Family]:
    """All families with the counts of *stats*, each of which is looked at once."""
    families = [family.empty() for family in FAMILIES]
    for name, count in stats.items():
        if not isinstance(name, str) or not isinstance(count, (int, float)):
            continue  # a spider's own, or damaged: the others are still told
        if (found := _found(name)) is not None:
            place, label = found
            families[place].add(label, count)
    return families


@lru_cache(maxsize=50_000)
def _found(name: str) -> tuple[int, str] | None:
    """The place of the family that a stat belongs to, and the value of its label; None for a stat of nobody's."""
    if (place := _PLACES.get(name)) is not None and not FAMILIES[place].label:
        return place, ""
    head, slash, value = name.rpartition("/")
    place = _PLACES.get(head + slash)
    if place is None or value == "count" or not FAMILIES[place].label:  # Scrapy's totals stand beside their parts
        return None
    label = fitted(_short(value))
    return place, _bounded(label) if FAMILIES[place].label in _CHOSEN_BY_SITES else label


def _short(value: str) -> str:
    """`twisted.internet.error.TimeoutError` -> `TimeoutError`; anything that is not a class stays as it is."""
    return value.rpartition(".")[2] if all(part.isidentifier() for part in value.split(".")) else value


def _bounded(value: str) -> str:
    """A status that is not registered, as its class (`5xx`): sites choose it, and could use a thousand different
    ones."""
    status = value.partition(" ")[0]
    unknown = status.isascii() and status.isdecimal() and status not in _STATUSES
    return f"{status[0]}xx" if unknown else value
