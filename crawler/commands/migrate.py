"""`scrapy migrate`: brings the database to the schema version of this program."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.base import FleetCommand
from crawler.commands.terminal import answering
from crawler.storage import connection, migrations
from crawler.storage.config import StorageConfig
from crawler.utils import tasks


class Command(FleetCommand, ScrapyCommand):
    """Shows the remaining steps and takes them."""

    def syntax(self) -> str:
        return "[--dry-run]"

    def short_desc(self) -> str:
        return "Set the validators of the collections"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--dry-run", action="store_true", help="show the steps, change nothing")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 with one line if it fails; nothing to do is no error."""
        with answering(args):
            if args:
                raise UsageError("takes no arguments but --dry-run")
            tasks.run(self._migrate(opts.dry_run))

    async def _migrate(self, dry_run: bool) -> None:
        config = StorageConfig.from_settings(self.settings)
        async with connection.session(self.settings) as database:
            version = await migrations.current(database)
            steps = await migrations.plan(database, config)
            for step in steps:
                print(step)
            if steps and not dry_run:
                await migrations.apply(database, steps, datetime.now(UTC))
            reached = max([version, *(step.migration.version for step in steps)])
        where = f"database {self.settings['MONGODB_DATABASE']} at {connection.where(self.settings)}"
        if not steps:
            print(f"{where}: schema version {version}, nothing to do")
        elif dry_run:
            print(f"{where}: would go from schema version {version} to {reached} (--dry-run)")
        else:
            print(f"{where}: schema version {reached}, was {version}")
