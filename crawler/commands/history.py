"""`scrapy history`: what changed on one product, with a price plot in the terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from rich.console import Console
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.base import FleetCommand
from crawler.commands.spider_stores import STORES
from crawler.commands.terminal import answering, console
from crawler.commands.views.tables import narrow_table
from crawler.errors import ShoalError, clipped
from crawler.storage import connection
from crawler.storage.config import StorageConfig
from crawler.storage.reading import reader
from crawler.storage.reading.value_text import in_short
from crawler.urls import canonicalize
from crawler.utils import tasks

BARS = "▁▂▃▄▅▆▇█"
GAP = "·"  # no price at the time
WIDTH = 60  # columns of the plot at most, which divide the time from first to last seen evenly

Price = tuple[datetime, Decimal | None]  # since when, price


class Command(FleetCommand, ScrapyCommand):
    """Reads a product and its change records."""

    def syntax(self) -> str:
        return "<collection> <url>[#key]"

    def short_desc(self) -> str:
        return "Show what changed on a stored item, with its price plot"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 1 with one line if there is no such item, 2 if its collection has no history."""
        with answering(args):
            if len(args) != 2:
                raise UsageError("name a collection and a URL: scrapy history products https://...")
            if (found := tasks.run(self._read(*args))) is None:
                print(
                    f"{args[0]} has no {clipped(args[1])}: `scrapy export {args[0]}` shows what is stored",
                    file=sys.stderr,
                )
                self.point_elsewhere(STORES)
                self.exitcode = 1
            else:
                show(console(), *found)

    async def _read(self, collection: str, key: str) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
        config = StorageConfig.from_settings(self.settings)
        if (history := config.history.get(collection)) is None:
            known = ", ".join(config.history) or "no collection"
            raise ShoalError(f"{clipped(collection)} has no history: CHANGE_HISTORY only keeps that of {known}")
        async with connection.session(self.settings) as database:
            for name in dict.fromkeys((key, _canonical(key))):
                if (item := await reader.document(database, collection, name)) is not None:
                    return item, [
                        record async for record in reader.changes(database, history, name) if _is_change(record)
                    ]
        return None


def prices(item: dict[str, Any], records: Sequence[dict[str, Any]]) -> list[Price]:
    """Each price of the item with the time it was first seen, oldest first; not those that it had before it was deleted
    and came back."""
    since = [record for record in records if record["at"] >= item["first_seen_at"]]
    changed = [(record["at"], record["changes"]["price"]) for record in since if "price" in record["changes"]]
    first = changed[0][1].get("old") if changed else item.get("price")
    return [(item["first_seen_at"], _price(first)), *((at, _price(change.get("new"))) for at, change in changed)]


def plot(line: Sequence[Price], end: datetime, width: int = WIDTH) -> str:
    """The prices as one row of bars, from the first price to *end*."""
    known = [price for _, price in line if price is not None]
    if not known:
        return GAP * width
    low, high = min(known), max(known)
    begin, span = line[0][0], end - line[0][0]
    cells = []
    for column in range(width):
        moment = begin + span * column / max(width - 1, 1)
        price = [price for at, price in line if at <= moment][-1]
        cells.append(GAP if price is None else BARS[_height(price, low, high)])
    return "".join(cells)


def show(console: Console, item: dict[str, Any], records: Sequence[dict[str, Any]]) -> None:
    """Print the item's name, its price plot, and a table of its changes."""
    console.print(str(item.get("title") or item["_id"]), style="bold")
    console.print(item["_id"])
    if all(isinstance(item.get(name), datetime) for name in ("first_seen_at", "last_seen_at")):
        _show_times(console, item, prices(item, records))
    table = narrow_table("", ["version", "seen at (UTC)", "field", "old", "new"], [])
    for record in records:
        for field, change in record["changes"].items():
            values = [in_short(change.get(side)) for side in ("old", "new")]
            table.add_row(str(record.get("version", "?")), f"{record['at']:%Y-%m-%d %H:%M:%S}", field, *values)
    console.print(table if records else "no changes")


def _show_times(console: Console, item: dict[str, Any], line: Sequence[Price]) -> None:
    console.print(f"seen {item['first_seen_at']:%Y-%m-%d %H:%M} to {item['last_seen_at']:%Y-%m-%d %H:%M} UTC")
    known = [price for _, price in line if price is not None]
    if known:
        low, high, currency = f"{min(known):f}", f"{max(known):f}", str(item.get("currency") or "")
        span = f"{low if low == high else f'{low} to {high}'} {currency}".rstrip()
        width = max(1, min(WIDTH, console.width - len(span) - 1))
        console.print(f"{plot(line, item['last_seen_at'], width)} {span}")


def _is_change(record: Mapping[str, Any]) -> bool:
    """Whether it is a record of ours; what another program has left among them is passed over."""
    changes = record.get("changes")
    ours = isinstance(changes, dict) and all(isinstance(change, dict) for change in changes.values())
    return ours and isinstance(record.get("at"), datetime)


def _price(value: object) -> Decimal | None:
    return value if isinstance(value, Decimal) and value.is_finite() else None


def _height(price: Decimal, low: Decimal, high: Decimal) -> int:
    return int((price - low) / (high - low) * (len(BARS) - 1)) if high > low else len(BARS) // 2


def _canonical(key: str) -> str:
    try:
        return canonicalize(key)
    except ValueError:
        return key
