"""`scrapy push`: the strict way in. Bad lines are named, good lines are pushed."""

from __future__ import annotations

import argparse
from dataclasses import replace

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from crawler.commands.base import FleetCommand
from crawler.commands.encoding import encoder_of
from crawler.commands.options import integer
from crawler.commands.terminal import answering
from crawler.frontier.command_session import session
from crawler.frontier.messages import MAX_PRIORITY
from crawler.frontier.run_record import RunSkippedError
from crawler.frontier.runs.pushed_run import WantedRun
from crawler.frontier.server.drops import same_server
from crawler.producers.progress import PushProgress
from crawler.producers.push import Pusher, PushPlan
from crawler.producers.rejects import Rejects
from crawler.producers.sitemap_push import SitemapPusher, wanted_sitemaps
from crawler.routing.encoder import Encoder
from crawler.tracing.opening import tracing_pushes
from crawler.utils import tasks
from crawler.utils.masking import mask

OVERLAPS = ("refuse", "skip", "queue", "replace", "allow")


class Command(FleetCommand, ScrapyCommand):
    """Pushes URLs or messages (see crawler/routing/push_schema.py) into the shared frontier."""

    def syntax(self) -> str:
        return "<spider> [--sitemap URL | URL... | FILE... | s3://BUCKET/KEY... | -] [--name NAME | --run ID] [options]"

    def short_desc(self) -> str:
        return "Push URLs: as arguments, from files or from standard input (-)"

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
        parser.add_argument("--recrawl", action="store_true", help="crawl known URLs, and all they lead to, again")
        parser.add_argument("--scope", default="", metavar="JSON", help="what the run may fetch (docs/scope.md)")
        words = (
            "push a sitemap, index or feed by its URL, or with `robots` those that the robots.txt of each site names"
        )
        parser.add_argument("--sitemap", action="append", default=[], metavar="URL", help=words)
        words = "of sitemaps only pages whose URL matches this regular expression; may be repeated"
        parser.add_argument("--include", action="append", default=[], metavar="PATTERN", help=words)
        words = "of sitemaps no pages whose URL matches this; may be repeated"
        parser.add_argument("--exclude", action="append", default=[], metavar="PATTERN", help=words)
        parser.add_argument("--column", default="", help="read CSV: the column of the URLs, its name or its number")
        parser.add_argument("--dry-run", action="store_true", help="check all lines, push nothing")
        parser.add_argument("--rejects", metavar="FILE", default="", help="write what is refused there, as JSON lines")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 when any line was refused."""
        with answering(args):
            if len(args) < 1 + (not opts.sitemap):
                words = "name a spider and what to push: URLs, files, or - for standard input"
                raise UsageError(words)
            _check(opts)
            crawler = self.crawler_of(args[0])
            encoder = encoder_of(crawler)
            encoder.scopes.given(opts.scope or "{}")
            with PushProgress(args[1:]) as progress:
                rejects = Rejects(opts.rejects, mask, progress.say)
                rejects.open(args[1:])
                try:
                    summary = _pushed(encoder, args[1:], opts, rejects, progress, crawler.settings)
                except RunSkippedError as skipped:
                    summary = f"nothing pushed: {skipped}"
                finally:
                    rejects.close()
            print(summary)
            self.exitcode = 2 if rejects.count else 0


def _check(opts: argparse.Namespace) -> None:
    """Raise UsageError for options that do not belong together."""
    if opts.scope and opts.run:
        raise UsageError("--run continues a run as it was opened: leave out --scope")
    if not opts.sitemap and (opts.include or opts.exclude):
        raise UsageError("--include and --exclude choose pages of a --sitemap")
    if opts.sitemap and (opts.dry_run or opts.column):
        words = "--dry-run and --column are for files: a worker reads the sitemap, after it was fetched"
        raise UsageError(words)


def _pushed(
    encoder: Encoder,
    given: list[str],
    opts: argparse.Namespace,
    rejects: Rejects,
    progress: PushProgress,
    settings: BaseSettings,
) -> str:
    """What became of it, in a line."""
    if opts.sitemap:
        sitemaps = wanted_sitemaps(opts.sitemap, given, opts.include, opts.exclude, changed_only=not opts.recrawl)
        sitemaps = replace(sitemaps, priority=opts.priority, scope=opts.scope)
        same = sitemaps.identity()
        with tracing_pushes(settings) as traced:
            return _push(SitemapPusher(traced(encoder), sitemaps, rejects), settings, _run(opts, same))
    wanted = PushPlan(given, opts.column, opts.priority, opts.scope)
    if opts.dry_run:
        return tasks.run(Pusher(encoder, wanted, rejects, progress).check())
    with tracing_pushes(settings) as traced:
        return _push(Pusher(traced(encoder), wanted, rejects, progress), settings, _run(opts, wanted.identity()))


def _run(opts: argparse.Namespace, same: str) -> WantedRun:
    return WantedRun(opts.name, opts.recrawl, opts.run, opts.overlap, same)


def _push(pusher: Pusher | SitemapPusher, settings: BaseSettings, run: WantedRun) -> str:
    """What became of it, in a line; printed where an error ends it."""

    async def push() -> None:
        async with session(settings) as frontier:
            with same_server(frontier.client):  # another one may have lost lines that count as pushed
                await pusher.push(frontier, run)

    try:
        tasks.run(push())
    except BaseException:  # Ctrl-C, or Redis went away
        if pusher.begun:
            print(pusher.summary())
        raise
    return pusher.summary()
