"""`scrapy push`: the strict way in. Bad lines are named, good lines are pushed."""

from __future__ import annotations

import argparse

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from crawler import tasks
from crawler.commands.options import integer
from crawler.commands.usage import FleetCommand, answering, fingerprinter
from crawler.extensions.logs import mask
from crawler.frontier.command_session import session
from crawler.frontier.state.pushed_run import WantedRun
from crawler.frontier.state.runs import RunSkippedError
from crawler.producers.progress import PushProgress
from crawler.producers.push import Pusher, Wanted
from crawler.producers.rejects import Rejects
from crawler.routing.encoder import Encoder
from crawler.routing.push_schema import MAX_PRIORITY
from crawler.routing.tier_routing import TierRouting

OVERLAPS = ("refuse", "skip", "queue", "replace", "allow")


class Command(FleetCommand, ScrapyCommand):
    """Pushes URLs or messages (see crawler/routing/push_schema.py) into the shared frontier."""

    def syntax(self) -> str:
        return "<spider> [URL... | FILE... | s3://BUCKET/KEY... | -] [--name NAME | --run ID] [options]"

    def short_desc(self) -> str:
        return "Push URLs to a spider: as arguments, from files, or from standard input (-)"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--priority",
            type=integer(-MAX_PRIORITY, MAX_PRIORITY),
            default=0,
            help="-1000 to 1000, higher first (default 0)",
        )
        parser.add_argument("--name", default="", help="name of the run: a second one is refused while it is not over")
        parser.add_argument("--run", default="", metavar="ID", help="go on with a run that was cut short")
        parser.add_argument("--overlap", choices=OVERLAPS, help="while a run of that name is not over (default refuse)")
        parser.add_argument("--recrawl", action="store_true", help="crawl known URLs, and all they lead to, once more")
        parser.add_argument("--scope", default="", metavar="JSON", help="what the run may fetch (docs/scope.md)")
        parser.add_argument("--column", default="", help="read CSV: the column of the URLs, its name or its number")
        parser.add_argument("--dry-run", action="store_true", help="check all lines, push nothing")
        parser.add_argument("--rejects", metavar="FILE", default="", help="write what is refused there, as JSON lines")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 when any line was refused."""
        with answering(args):
            if len(args) < 2:
                words = "name a spider and what to push: URLs, files, or - for standard input"
                raise UsageError(words, print_help=False)
            crawler = self.crawler_of(args[0])
            encoder = Encoder(crawler.spidercls, crawler.settings, fingerprinter(crawler), TierRouting())
            if opts.scope and opts.run:
                raise UsageError("--run continues a run as it was opened: leave out --scope", print_help=False)
            encoder.scopes.given(opts.scope or "{}")
            wanted = Wanted(args[1:], opts.column, opts.priority, opts.scope)
            run = WantedRun(opts.name, opts.recrawl, opts.run, opts.overlap, wanted.identity())
            with PushProgress(wanted.sources) as progress:
                rejects = Rejects(opts.rejects, mask, progress.say)
                rejects.open(wanted.sources)
                pusher = Pusher(encoder, wanted, rejects, progress)
                try:
                    summary = tasks.run(pusher.check()) if opts.dry_run else _push(pusher, crawler.settings, run)
                except RunSkippedError as skipped:
                    summary = f"nothing pushed: {skipped}"
                finally:
                    rejects.close()
            print(summary)
            self.exitcode = 2 if rejects.count else 0


def _push(pusher: Pusher, settings: BaseSettings, run: WantedRun) -> str:
    """What became of it, in a line; printed where an error ends it."""

    async def push() -> None:
        async with session(settings) as frontier:
            await pusher.push(frontier, run)

    try:
        tasks.run(push())
    except BaseException:  # Ctrl-C, or Redis went away
        if pusher.begun:
            print(pusher.summary())
        raise
    return pusher.summary()
