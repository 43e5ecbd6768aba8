"""`scrapy attempts`: fetch attempts by outcome, by proxy pool and by hour."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.base import FleetCommand, spider_class
from crawler.commands.options import host_name, parse_since
from crawler.commands.spider_stores import STORES
from crawler.commands.terminal import answering, console
from crawler.commands.views.tables import narrow_table
from crawler.storage import attempts, connection
from crawler.utils import tasks

TITLES = {"outcome": "outcome", "pool": "proxy pool", "hour": "hour (UTC)"}


class Command(FleetCommand, ScrapyCommand):
    """Reads the attempts log."""

    def syntax(self) -> str:
        return "[--host HOST] [--spider NAME] [--since TIME]"

    def short_desc(self) -> str:
        return "Summarise fetch attempts by outcome, by proxy pool and by hour"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--host", type=host_name, default="", help="only this host name")
        parser.add_argument("--spider", default="", help="only this spider")
        parser.add_argument("--since", metavar="TIME", default="1h", help="default 1h; 90m, 7d, 2026-01-31T08:00")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 with one line if it fails; no attempts are no error."""
        with answering(args):
            if args:
                raise UsageError("takes options only: --host, --spider, --since")
            self.follow(opts.spider)
            is_off = not attempts.AttemptsConfig.from_settings(self.settings).days
            since = parse_since(opts.since, datetime.now(UTC))
            found = tasks.run(self._read(since, opts.host, opts.spider))
            show(console(), found, since, is_off=is_off)
            if not found["outcome"] and opts.spider:
                spider_class(self.settings, opts.spider)
            elif not found["outcome"]:
                self.point_elsewhere(STORES)

    async def _read(self, since: datetime, host: str, spider: str) -> dict[str, list[dict[str, Any]]]:
        async with connection.session(self.settings) as database:
            return await attempts.summary(database, since=since, host=host, spider=spider)


def show(console: Console, found: Mapping[str, Sequence[Mapping[str, Any]]], since: datetime, *, is_off: bool) -> None:
    """Print one table per grouping."""
    if not found["outcome"]:
        off = "; the log is off here: ATTEMPTS_DAYS = 0 (set it to the days for which attempts are kept)" * is_off
        console.print(f"no such attempts logged since {since:%Y-%m-%d %H:%M} UTC (--since){off}", highlight=False)
        return
    for name, title in TITLES.items():
        table = narrow_table(f"Attempts by {title}", [title], ["attempts", "ok", "mean ms", "MB"])
        for row in found[name]:
            table.add_row(*_cells(row))
        console.print(table)


def _cells(row: Mapping[str, Any]) -> list[str]:
    key, number = row["_id"], row["attempts"]
    label = f"{key:%Y-%m-%d %H}:00" if isinstance(key, datetime) else str(key) or "none"
    share = f"{row['ok'] / number:.1%}" if number else ""
    mean = f"{row['ms'] / number:,.0f}" if number else ""
    return [label, f"{number:,.0f}", share, mean, f"{row['bytes'] / 1e6:,.2f}"]
