"""`scrapy spool`: items on this machine's disk that wait for MongoDB."""

from __future__ import annotations

import argparse
import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from rich.table import Table
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from crawler.commands.base import FleetCommand
from crawler.commands.options import one_of
from crawler.commands.terminal import answering, console
from crawler.commands.views.tables import narrow_table
from crawler.errors import ShoalError
from crawler.storage import connection, writer_setup
from crawler.storage.config import StorageConfig
from crawler.storage.items.repository import Repository
from crawler.storage.outage import MongoOutage, NoStats
from crawler.storage.spool.claims import DAMAGED, usage
from crawler.storage.spool.fallback import SpoolFallback
from crawler.utils import tasks
from crawler.utils.plural import several

VERBS = ("list", "replay")


class Command(FleetCommand, ScrapyCommand):
    """Shows the spool, and empties it if no worker does."""

    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "WARNING", "FRONTIER_ENABLED": True}

    def syntax(self) -> str:
        return "list|replay [--target NAME] [--damaged]"

    def short_desc(self) -> str:
        return "Show or store the items that wait on disk for MongoDB"

    def long_desc(self) -> str:
        return (
            "Show what waits in SPOOL_DIR because MongoDB was away, or store it now. Workers do that themselves; "
            "what a running worker has written is left to it. Everything readable in a damaged file is stored; the "
            "file is kept as *.damaged, and the exit status is 1."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--target", default="", help="replay: what waits for this database, as `list` names it")
        parser.add_argument(
            "--damaged",
            action="store_true",
            help="replay: retry files set aside as damaged, such as those that only a newer release can decode",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 with one line if MongoDB is away or the target is unknown, 1 for damaged files."""
        with answering(args):
            verb = one_of(args, VERBS)
            if (opts.target or opts.damaged) and verb == "list":
                raise UsageError("--target and --damaged are for replay")
            config = _config(self.settings)
            if verb == "list":
                console().print(waiting(Path(config.spool_dir)))
            else:
                count, damaged = tasks.run(self._replay(config, opts.target, again=opts.damaged))
                none = "nothing waits except what running workers store themselves"
                print(f"stored {several(count, 'item')}" if count else none)
                if damaged:
                    print(f"{several(damaged, 'damaged file')} kept: the lines above name each", file=sys.stderr)
                self.exitcode = 1 if damaged else 0

    async def _replay(self, config: StorageConfig, target: str, *, again: bool) -> tuple[int, int]:
        """The number of entries stored, and of damaged files."""
        if target and target not in await asyncio.to_thread(_targets, Path(config.spool_dir)):
            raise ShoalError(
                f"{config.spool_dir} holds nothing for {target!r}: `scrapy spool list` names what it holds"
            )
        directory = Path(config.spool_dir) / target if target else writer_setup.spool_directory(self.settings, config)
        stats = NoStats()
        async with connection.session(self.settings) as database:
            repository = Repository(database, config, stats)
            await repository.prepare()
            spool = writer_setup.spool(directory, config)
            try:
                outage = MongoOutage(stats, connection.where(self.settings), config.retry_max_seconds)
                fallback = SpoolFallback(spool, repository, outage, stats, config.batch_size)
                count = await fallback.replay()
                damaged = await asyncio.to_thread(lambda: sorted(directory.glob(f"*{DAMAGED}"))) if again else []
                count += sum([await fallback.again(path) for path in damaged])
                return count, fallback.damaged
            finally:
                spool.close()


def waiting(directory: Path) -> Table | str:
    """What `list` shows: a row per database, with its name whole."""
    table = narrow_table("", ["target"], ["files", "bytes", "oldest (UTC)", "damaged"])
    for name in _targets(directory):
        found, damaged = usage(directory / name), len(list((directory / name).glob(f"*{DAMAGED}")))
        if found.files or damaged:
            oldest = f"{datetime.fromtimestamp(found.oldest, UTC):%Y-%m-%d %H:%M:%S}" if found.oldest else "-"
            table.add_row(name, str(found.files), f"{found.size:,}", oldest, str(damaged))
    return table if table.row_count else f"nothing waits in {directory}"


def _targets(directory: Path) -> list[str]:
    """Names only: a path could lead to other files, and a replay removes locks that nobody holds."""
    return sorted(path.name for path in directory.glob("*") if path.is_dir())


def _config(settings: BaseSettings) -> StorageConfig:
    config = StorageConfig.from_settings(settings)
    if not config.spool_dir:
        raise ShoalError("there is no spool: SPOOL_DIR is empty")
    return config
