"""`scrapy export`: what is stored, as JSON Lines, CSV or a folder of Markdown files."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from rich.progress import Progress
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from crawler.commands.base import FleetCommand, spider_class
from crawler.commands.options import parse_since
from crawler.commands.spider_stores import STORES
from crawler.commands.terminal import answering
from crawler.commands.views.progress_bar import progress_bar
from crawler.errors import ConfigError
from crawler.items import PageItem, ProductItem
from crawler.storage import connection
from crawler.storage.collection_names import REJECTED, UNTYPED
from crawler.storage.config import StorageConfig
from crawler.storage.reading import reader, rows
from crawler.storage.reading.markdown_files import MarkdownFiles, unfinished
from crawler.storage.spool.claims import usage
from crawler.storage.writer_setup import spool_directory
from crawler.utils import tasks
from crawler.utils.plural import several

FORMATS = ("jsonl", "csv", "markdown")
SPIDER = "source.spider"
STEP = 1_000  # documents between updates of the progress bar


class Command(FleetCommand, ScrapyCommand):
    """Streams a collection to standard output or a file; progress and messages go to standard error."""

    def syntax(self) -> str:
        return (
            "<collection> [--format jsonl|csv|markdown] [--raw] [--output FILE|FOLDER] [--spider NAME] [--since TIME]"
        )

    def short_desc(self) -> str:
        return "Write what is stored: products, pages, changes, rejected items"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--format", default="jsonl", help="jsonl (default), csv, or for pages markdown, a file each"
        )
        parser.add_argument(
            "--raw",
            action="store_true",
            help="csv: keep text as it is, even if a spreadsheet would run it as a formula",
        )
        parser.add_argument(
            "--output", metavar="FILE", help="file to write instead of standard output; for markdown a folder"
        )
        parser.add_argument("--spider", default="", metavar="NAME", help="only what this spider stored")
        parser.add_argument(
            "--since", metavar="TIME", help="only what changed since then (2026-01-31, 2026-01-31T08:00, 90m, 12h, 7d)"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 with one line if it fails; an empty collection is no error."""
        with answering(args):
            _check(args, opts)
            self.follow(opts.spider)
            since = parse_since(opts.since, datetime.now(UTC)) if opts.since is not None else None
            try:
                tasks.run(self._export(args[0], opts, since))
            except BrokenPipeError:  # `| head`: not an error
                raise
            except OSError as error:
                target = "standard output" if opts.output is None else opts.output or "''"
                raise UsageError(f"cannot write {target}: {error.strerror}") from None

    async def _export(self, collection: str, opts: argparse.Namespace, since: datetime | None) -> None:
        config = StorageConfig.from_settings(self.settings)
        query: dict[str, Any] = {reader.time_field(collection, config): {"$gte": since}} if since else {}
        query |= {SPIDER: opts.spider} if opts.spider else {}
        async with connection.session(self.settings) as database:
            self.check_collection(collection, {*await reader.collections(database), *collections(config)})
            if not (total := await reader.count(database, collection, query)):
                await self._explain_none(database, collection, query)
            done = await _write(database, collection, query, total, opts)
        which = f" of spider {opts.spider}" if opts.spider else ""
        which += f" changed since {since:%Y-%m-%d %H:%M:%S} UTC" if since else ""
        print(f"{several(done, 'document')}{which} exported from {collection}", file=sys.stderr)
        if not_stored := await asyncio.to_thread(_not_stored, self.settings, config):
            print(not_stored, file=sys.stderr)

    async def _explain_none(self, database: connection.Database, collection: str, query: Mapping[str, Any]) -> None:
        """Raise if what is asked for cannot be found, else say where there may be more."""
        if SPIDER not in query:
            self.point_elsewhere(STORES)
        else:
            spider_class(self.settings, query[SPIDER])
        if await reader.count(database, collection, {}):
            for field in query:
                if not await reader.has_field(database, collection, field):
                    option = "--spider" if field == SPIDER else "--since"
                    raise UsageError(f"{option}: documents of {collection} have no {field} to go by")


async def _write(
    database: connection.Database, collection: str, query: dict[str, Any], total: int, opts: argparse.Namespace
) -> int:
    """Write the documents that *query* finds, about *total*; returns how many that were."""
    csv = opts.format == "csv"
    of_whom = {SPIDER: query[SPIDER]} if SPIDER in query else {}  # columns are the same whatever has changed
    names = await _columns(database, collection, of_whom) if csv else ()
    folder = MarkdownFiles.into(opts.output) if opts.format == "markdown" else None
    with (
        _target(None if folder else opts.output) as target,
        progress_bar(f"export {collection}", shown=total > 0 and not target.isatty()) as progress,
    ):
        bar = _Bar(progress, total)
        writer = folder or (rows.Csv(target, names, raw=opts.raw) if csv else rows.JsonLines(target))
        try:
            async for document in reader.documents(database, collection, query):
                writer.write(document)
                bar.step()
        except asyncio.CancelledError:
            print(f"cut short after {bar.done:,} of {total:,} documents{_kept(opts.output)}", file=sys.stderr)
            raise
    return bar.done


def _check(args: list[str], opts: argparse.Namespace) -> None:
    """Raise for options that do not go together."""
    if len(args) != 1:
        raise UsageError("name one collection, such as products")
    if opts.format not in FORMATS:
        raise ConfigError("--format", opts.format, "jsonl or csv, or markdown for pages")
    if opts.format == "markdown" and (args[0] != PageItem.collection or not opts.output):
        words = "--format markdown is for pages: scrapy export pages --format markdown --output FOLDER"
        raise UsageError(words)
    if opts.raw and opts.format != "csv":
        raise UsageError("--raw is for --format csv: the other formats always keep text as it is")


async def _columns(database: connection.Database, collection: str, query: Mapping[str, Any]) -> list[str]:
    """Of CSV: what a spider yields as a dict has a column for each of its fields."""
    if fixed := rows.columns(collection):
        return fixed
    key, *names = await reader.field_names(database, collection, query)
    if collection != UNTYPED:
        return [key, *names]
    return [key, *await reader.item_field_names(database, query), *(name for name in names if name != "item")]


def collections(config: StorageConfig) -> set[str]:
    """The collections that may be exported, even before anything is stored in them."""
    return {ProductItem.collection, PageItem.collection, UNTYPED, REJECTED, *config.history.values()}


def _not_stored(settings: Settings, config: StorageConfig) -> str:
    """What waits in this machine's spool of the database, and so cannot be exported."""
    if not config.spool_dir:
        return ""
    directory = spool_directory(settings, config)
    size = usage(directory).size
    return f"not among them: {size:,} bytes that wait in {directory}; `scrapy spool replay` stores them" if size else ""


def _kept(output: str | None) -> str:
    """What is left of a cut export."""
    return f": {output} is left as it was" if output and (Path(output).is_file() or not Path(output).exists()) else ""


@contextlib.contextmanager
def _target(output: str | None) -> Iterator[TextIO]:
    """Standard output, or a file that gets its name only when it is complete."""
    if output is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # as in a file, whatever the terminal's
        yield sys.stdout
        sys.stdout.flush()
        return
    path = Path(output)
    if path.exists() and not path.is_file():  # a pipe or device: written directly
        with path.open("w", encoding="utf-8", newline="") as target:
            yield target
        return
    path = path.resolve()  # a link stays one, as `latest.csv`, or /dev/stdout
    part = unfinished(path)
    try:
        with part.open("w", encoding="utf-8", newline="") as target:
            yield target
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


class _Bar:
    """Counts what is written; it is drawn anew every STEP documents."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.done = 0
        self._progress = progress
        self._task = progress.add_task("", total=total)

    def step(self) -> None:
        """One more."""
        self.done += 1
        if not self.done % STEP:
            self._progress.update(self._task, completed=self.done)
