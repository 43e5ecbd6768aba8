"""`scrapy quality`: how complete the stored items are, by spider and field."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from rich.console import Console
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.base import FleetCommand
from crawler.commands.options import host_name
from crawler.commands.spider_stores import STORES
from crawler.commands.terminal import answering, console
from crawler.commands.views.tables import narrow_table
from crawler.items import PageItem, ProductItem
from crawler.policy.items import quality
from crawler.storage import connection
from crawler.storage.collection_names import UNTYPED
from crawler.storage.items.documents import BOOKKEEPING, PROVENANCE
from crawler.storage.reading import quality as stored
from crawler.storage.reading import reader
from crawler.storage.reading.quality import SpiderQuality
from crawler.utils import tasks

CLASSES = {kind.collection: kind for kind in (ProductItem, PageItem)}


class Command(FleetCommand, ScrapyCommand):
    """Reads a collection and its rejected items."""

    def syntax(self) -> str:
        return "<collection> [--host HOST]"

    def short_desc(self) -> str:
        return "Show how often each field is present, missing or invalid"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--host", type=host_name, default="", help="only items of this host name")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 with one line if it fails; an empty collection is no error."""
        with answering(args):
            if len(args) != 1:
                raise UsageError("name one collection, such as products")
            found, rejected = tasks.run(self._read(args[0], opts.host))
            show(console(), args[0], found, rejected, opts.host)
            if not found:
                self.point_elsewhere(STORES)

    async def _read(self, collection: str, host: str) -> tuple[list[SpiderQuality], dict[str, int]]:
        async with connection.session(self.settings) as database:
            self.check_collection(collection, {*await reader.collections(database), *CLASSES})
            names = await _fields(database, collection)
            found = await stored.by_spider(database, collection, names, quality.INVALID, host)
            if collection == UNTYPED:  # spiders share it, but not their fields
                own = await reader.item_fields_of_spiders(database)
                found = [one.of_fields(own.get(one.spider, ())) for one in found]
            return found, await stored.rejections(database, collection, host)


async def _fields(database: connection.Database, collection: str) -> Sequence[str]:
    if (kind := CLASSES.get(collection)) is not None:
        return quality.fields(kind)
    if collection == UNTYPED:
        return await reader.item_field_names(database)
    names = await reader.field_names(database, collection)
    return [name for name in names if name not in BOOKKEEPING and name not in PROVENANCE and "." not in name]


def show(
    console: Console, collection: str, found: Sequence[SpiderQuality], rejected: Mapping[str, int], host: str = ""
) -> None:
    """Print a table per spider, and what was rejected."""
    if not found:
        console.print(f"{collection} holds nothing of host {host}" if host else f"{collection} is empty")
    for one in found:
        title = f"{collection} of spider {one.spider or 'unknown'}: {one.documents:,}"
        table = narrow_table(title, ["field"], ["present", "missing", "invalid", "share present"])
        for name, (present, missing, invalid) in one.fields.items():
            share = f"{present / one.documents:.1%}"
            table.add_row(name, f"{present:,}", f"{missing:,}", f"{invalid:,}", share)
        console.print(table)
    if rejected:
        console.print("rejected: " + ", ".join(f"{number:,} {issue}" for issue, number in rejected.items()))
