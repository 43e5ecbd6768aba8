"""`scrapy status`: whether the crawl is finished, if not when it will be, and what delays it."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from contextlib import nullcontext, suppress
from dataclasses import asdict
from datetime import UTC, datetime

from rich.console import Group
from rich.live import Live
from rich.text import Text
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.base import FleetCommand, spider_class
from crawler.commands.terminal import answering, console
from crawler.commands.views.fitted import Fitted
from crawler.commands.views.status_snapshot import Snapshot, take_snapshot
from crawler.commands.views.status_view import render
from crawler.frontier.command_session import session
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.frontier import Frontier
from crawler.startup.announcement import QUEUES
from crawler.utils import tasks

WATCH_SECONDS = 2.0


class Command(FleetCommand, ScrapyCommand):
    """Read-only. Costs the same for any queue size; shows the hosts with the longest queues."""

    def syntax(self) -> str:
        return "[spider] [--json] [--watch]"

    def short_desc(self) -> str:
        return "Show whether the crawl is finished, or what holds it up"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object, for scripts")
        parser.add_argument("--watch", action="store_true", help=f"repeat every {WATCH_SECONDS:g} s until Ctrl-C")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        with answering(args):
            if len(args) > 1 or (opts.json and opts.watch):
                raise UsageError("name at most one spider, and either --json or --watch")
            self.follow(args[0] if args else None)
            with suppress(*([KeyboardInterrupt] if opts.watch else [])):
                tasks.run(self._show(args[0] if args else None, opts))

    async def _show(self, spider: str | None, opts: argparse.Namespace) -> None:
        async with session(self.settings) as frontier:
            seen = await take_snapshot(frontier, spider)
            if spider and spider not in seen.spiders and not seen.workers:
                spider_class(self.settings, spider)
            if opts.json:
                print(json.dumps(asdict(seen), default=dict))
            elif opts.watch:
                await self._watch(frontier, spider, seen)
            else:
                console().print(render(seen))
                if not spider and not seen.spiders:
                    self.point_elsewhere(QUEUES)

    async def _watch(self, frontier: Frontier, spider: str | None, seen: Snapshot) -> None:
        """On a terminal one live view, elsewhere one block each time, with its time and an empty line."""
        shown, view = console(), render(seen)
        with Live(Fitted(view), console=shown, auto_refresh=False) if shown.is_terminal else nullcontext() as live:
            while True:
                if live is None:
                    shown.print(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC", view, "", sep="\n")
                    sys.stdout.flush()
                await asyncio.sleep(WATCH_SECONDS)
                view = await _view(frontier, spider)
                if live is not None:
                    live.update(Fitted(view), refresh=True)


async def _view(frontier: Frontier, spider: str | None) -> Group:
    try:
        return render(await take_snapshot(frontier, spider))
    except FrontierUnavailableError as error:  # it restarts, or fails over
        return Group(Text(f"Redis is away, watching goes on: {error}"))
