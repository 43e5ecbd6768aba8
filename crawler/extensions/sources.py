"""Which Scrapy stats become which metrics: the table and its reader. Independent of the Prometheus library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from crawler import stats as names

GAUGES: Final = frozenset(
    {names.ARCHIVE_AWAY, names.BROWSER_MEMORY, names.STORE_AWAY, names.SPOOL_BYTES, names.SPOOL_OLDEST}
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


@dataclass(frozen=True, slots=True)
class Family:
    """One metric and the stats it is read from; `{}` in their names is the label's value."""

    metric: str
    help: str
    stats: tuple[str, ...]
    label: str = ""
    counts: Counter[str] = field(default_factory=Counter)  # label value -> count; "" where there is no label

    @property
    def is_gauge(self) -> bool:
        """Whether the value may go down."""
        return not GAUGES.isdisjoint(self.stats)

    def filled(self, stats: Mapping[str, Any]) -> Family:
        """The family with current counts; what was never counted is 0, so that a first count shows as a rise."""
        counts: Counter[str] = Counter()
        if not self.label:
            counts[""] = stats.get(self.stats[0], 0)
        for prefix in [stat.removesuffix("{}") for stat in self.stats if self.label]:
            for name in [name for name in stats if name.startswith(prefix)]:
                value = name.removeprefix(prefix)
                if "/" not in value and value != "count":  # Scrapy keeps totals beside their parts
                    label = _short(value)
                    counts[_bounded(label) if self.label in _CHOSEN_BY_SITES else label] += stats[name]
        return Family(self.metric, self.help, self.stats, self.label, counts)


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


def read(stats: Mapping[str, Any]) -> list[Family]:
    """All families with the counts of *stats*."""
    return [family.filled(stats) for family in FAMILIES]


def _short(value: str) -> str:
    """`twisted.internet.error.TimeoutError` -> `TimeoutError`; anything that is not a class stays as it is."""
    return value.rpartition(".")[2] if all(part.isidentifier() for part in value.split(".")) else value


def _bounded(value: str) -> str:
    """A status that is not registered, as its class (`5xx`): sites choose it, and could use a thousand different
    ones."""
    status = value.partition(" ")[0]
    unknown = status.isascii() and status.isdecimal() and status not in _STATUSES
    return f"{status[0]}xx" if unknown else value
