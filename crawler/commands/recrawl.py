"""`scrapy recrawl`: revisits the pages that are most likely out of date, within a daily budget of visits."""

from __future__ import annotations

import argparse
import gzip
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from scrapy import Request
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.base import FleetCommand
from crawler.commands.encoding import encoder_of
from crawler.commands.options import integer
from crawler.commands.terminal import answering
from crawler.errors import CodecError, ConfigError, MessageError
from crawler.extraction.sitemaps import SitemapEntry, SitemapParser
from crawler.frontier.command_session import session
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Message, PushOutcome
from crawler.frontier.runs.pushed_run import PushedRun, WantedRun
from crawler.frontier.server.drops import same_server
from crawler.producers.run_setup import learn_tiers
from crawler.routing.encoder import Encoder
from crawler.storage import connection
from crawler.storage.config import StorageConfig
from crawler.storage.recrawl.recrawl import DueDocument, Recrawl
from crawler.storage.recrawl.recrawl_hints import moment
from crawler.storage.recrawl.recrawl_turn import RecrawlTurn
from crawler.tracing.opening import tracing_pushes
from crawler.utils import tasks

BATCH: Final = 500
PIECE: Final = 65_536  # bytes
MOST: Final = 100_000_000


class Command(FleetCommand, ScrapyCommand):
    """One call pushes the pages due now, at most the budget of --hours: call it once in that time."""

    def syntax(self) -> str:
        return "SPIDER --budget VISITS_A_DAY [--hours N] [--lastmod FILE] [--dry-run]"

    def short_desc(self) -> str:
        return "Push known documents that are due for another visit"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--budget", type=integer(1, MOST), metavar="N", help="visits a day, of all documents")
        words = "share of the budget for this call, in hours until the next one (default 1)"
        parser.add_argument("--hours", type=integer(1, 168), default=1, metavar="N", help=words)
        words = "a sitemap file (gzip too) whose lastmods say what may have changed; may be repeated"
        parser.add_argument("--lastmod", action="append", default=[], metavar="FILE", help=words)
        parser.add_argument("--dry-run", action="store_true", help="learn and count, push nothing")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 with one line if it fails; nothing due is no error."""
        with answering(args):
            if len(args) != 1 or opts.budget is None:
                raise UsageError("name a spider and a budget: scrapy recrawl products --budget 20000")
            print(tasks.run(self._recrawl(args[0], opts)))

    async def _recrawl(self, spider: str, opts: argparse.Namespace) -> str:
        crawler = self.crawler_of(spider)
        encoder = encoder_of(crawler)
        history = list(StorageConfig.from_settings(crawler.settings).history.values())
        now, most = datetime.now(UTC), max(1, opts.budget * opts.hours // 24)
        async with connection.session(crawler.settings) as database, RecrawlTurn(database, spider):
            known = Recrawl(database, spider, history)
            learned, hinted, due = await known.plan(opts.budget, most, told_changed(opts.lastmod), now)
            count = await known.count()
            told = f"{count:,} documents of {spider} known, {learned:,} visits learned from, {len(due):,} due"
            told += f", {hinted:,} of them by lastmod" if hinted else ""
            if opts.dry_run or not due:
                return told
            with tracing_pushes(crawler.settings) as traced:
                async with session(crawler.settings) as frontier:
                    run, pushed, refused = await _push(frontier, traced(encoder), due)
            await known.pushed([*pushed, *refused], now)  # the latter would be due first at every call
        return f"{told}; {len(pushed):,} pushed ({run})" + _told_refused(refused)


def told_changed(paths: Sequence[str]) -> Iterator[tuple[str, datetime]]:
    """The pages of sitemap files, and when each is said to have changed; raises ConfigError for an unreadable file."""
    for path in paths:
        try:
            for entry in _entries(path):
                if not entry.is_sitemap and (at := moment(entry.lastmod)) is not None:
                    yield entry.url, at
        except (OSError, EOFError, zlib.error) as error:
            raise ConfigError(
                "--lastmod", path, f"a sitemap file that can be read ({getattr(error, 'strerror', None) or error})"
            ) from None


def _entries(path: str) -> Iterator[SitemapEntry]:
    parser = SitemapParser()
    with Path(path).open("rb") as file:
        packed = file.peek(2)[:2] == b"\x1f\x8b"
        with gzip.open(file) if packed else file as pieces:
            while piece := pieces.read(PIECE):
                yield from parser.feed(piece)
    yield from parser.close()


def _told_refused(refused: Sequence[DueDocument]) -> str:
    if not refused:
        return ""
    return f"; {len(refused):,} refused, such as {refused[0].url!r}: no URL that can be fetched"


async def _push(
    frontier: Frontier, encoder: Encoder, due: list[DueDocument]
) -> tuple[str, list[DueDocument], list[DueDocument]]:
    """Push them as a separate run; returns its description, what the frontier accepted, and what cannot be pushed.

    Raises FrontierUnavailableError, too, where another server answers: it may have lost what it had accepted.
    """
    with same_server(frontier.client):
        return await _push_all(frontier, encoder, due)


async def _push_all(
    frontier: Frontier, encoder: Encoder, due: list[DueDocument]
) -> tuple[str, list[DueDocument], list[DueDocument]]:
    await learn_tiers(frontier, encoder)
    wanted = WantedRun(name="recrawl", fresh=True, overlap="allow")  # what is being crawled is not due
    run = PushedRun(frontier.runs, encoder.spider.name, wanted)
    taken: list[DueDocument] = []
    refused: list[DueDocument] = []
    async with run:
        for at in range(0, len(due), BATCH):
            made = [(one, _message(encoder, one, run.generation)) for one in due[at : at + BATCH]]
            batch = [(one, message) for one, message in made if message is not None]
            refused += [one for one, message in made if message is None]
            outcomes = await frontier.push([message for _, message in batch])
            taken += [one for (one, _), outcome in zip(batch, outcomes, strict=True) if not outcome.is_full]
            if any(outcome is not PushOutcome.ACCEPTED and outcome.is_full for outcome in outcomes):
                break  # the rest will still be due at the next call
    return run.told(), taken, refused


def _message(encoder: Encoder, due: DueDocument, generation: str) -> Message | None:
    try:
        return encoder.message(Request(due.url), generation=generation, dedupe=True)
    except (MessageError, CodecError, ValueError):  # of an older release, or of items of the project's own
        return None
