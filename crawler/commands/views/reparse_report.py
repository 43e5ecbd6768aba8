"""What `scrapy reparse` found, summed over its workers, and how it is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from crawler.commands.views.tables import narrow_table
from crawler.replay import counts
from crawler.utils.plural import several


@dataclass(slots=True)
class ReparseReport:
    """The sum of all workers' reports."""

    stats: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    failed: int = 0
    left: int = 0  # pages that were not parsed, if it was cut
    cut: bool = False  # by Ctrl-C or SIGTERM
    seconds: float = 0.0

    @property
    def lost(self) -> int:
        """Pages in the index that the archive does not have, and items that were neither compared nor stored."""
        return self.stats[counts.MISSING] + self.stats[counts.DAMAGED] + self.stats[counts.FAILED]

    def add(self, found: Mapping[str, Any]) -> None:
        """Add one worker's report."""
        self.stats.update(found["stats"])
        for name, examples in found["examples"].items():
            self.examples.setdefault(name, []).extend(examples)

    def of(self, pattern: str) -> dict[str, int]:
        """Counts by the value of `{}`, most frequent first."""
        prefix = pattern.removesuffix("{}")
        return {name.removeprefix(prefix): n for name, n in self.stats.most_common() if name.startswith(prefix)}


def show(console: Console, report: ReparseReport, dry_run: bool) -> None:
    """Print the summary."""
    pages = report.stats[counts.PAGES]
    if fields := report.of(counts.FIELDS):
        table = narrow_table("", ["field", "items", "page", "stored", "parsed now"], [])
        for name, number in fields.items():
            for row, example in enumerate(report.examples.get(name, [])[:3]):
                cells = [example[each] for each in ("url", "old", "new")]
                table.add_row(*(["", ""] if row else [name, f"{number:,}"]), *cells)
        console.print(table)
    items = ", ".join(f"{number:,} {word}" for word, number in report.of(counts.ITEMS).items()) or "none"
    console.print(f"{several(pages, 'page')} parsed again in {report.seconds:.1f} s; items: {items}", highlight=False)
    for stat, (thing, words) in _NOTES.items():
        if number := report.stats[stat]:
            console.print(f"{several(number, thing)} {words}", highlight=False)
    if dry_run:
        console.print("dry run: nothing is written; without it changed and new items are stored")
    if report.cut:
        console.print(f"cut short: {several(report.left, 'page')} left; the same call starts over", highlight=False)
    if report.failed:
        console.print(f"{report.failed} of the workers failed: see the lines above", style="red")


_NOTES = {
    "spider_exceptions/count": ("page", "whose callback raised"),
    "items/rejected": ("item", "rejected"),
    counts.FAILED: ("item", "failed: see the lines above"),
    counts.BLOCKED: ("page", "not parsed: block pages and empty shells"),
    counts.MISSING: ("page", "gone from the archive: see the lines above"),
    counts.DAMAGED: ("page", "damaged in the archive: see the lines above"),
    counts.DISCARDED: ("new request", "discarded"),
    counts.REFUSED: ("download", "refused that callbacks wanted"),
    counts.DEFAULTED: ("page", "parsed by the default callback: theirs is gone"),
}
