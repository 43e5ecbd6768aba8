"""`scrapy push`: the strict way in. Bad lines are named, good lines are pushed."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from scrapy.commands import ScrapyCommand
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError

from crawler import tasks
from crawler.commands.options import integer
from crawler.commands.usage import FleetCommand, answering, fingerprinter
from crawler.errors import CodecError, MessageError
from crawler.extensions.logs import mask
from crawler.frontier.command_session import session
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Message, PushOutcome
from crawler.frontier.state.pushed_run import PushedRun, WantedRun
from crawler.frontier.state.runs import RunSkippedError
from crawler.frontier.state.tiers import Tiers
from crawler.routing.encoder import Encoder
from crawler.routing.push_schema import MAX_PRIORITY, parse_line
from crawler.routing.tier_routing import TierRouting

BATCH = 500  # messages per push: a file of any length is streamed

FULL = (PushOutcome.REFUSED_FULL, PushOutcome.REFUSED_MEMORY)
OVERLAPS = ("refuse", "skip", "queue", "replace", "allow")

Line = tuple[str, str]  # where it stands ("urls.txt:17"), what it says


class Command(FleetCommand, ScrapyCommand):
    """Pushes URLs or messages (see crawler/routing/push_schema.py) into the shared frontier."""

    def syntax(self) -> str:
        return "<spider> [URL... | FILE... | -] [--priority N] [--recrawl] [--name NAME | --run ID]"

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

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 when any line was refused."""
        with answering(args):
            if len(args) < 2:
                words = "name a spider and what to push: URLs, files, or - for standard input"
                raise UsageError(words, print_help=False)
            wanted = WantedRun(opts.name, opts.recrawl, opts.run, opts.overlap)
            pusher = Pusher(self.crawler_of(args[0]), opts.priority, wanted)
            try:
                tasks.run(pusher.push(read_lines(args[1:], pusher.refuse)))
            except RunSkippedError as skipped:
                print(f"nothing pushed: {skipped}")
                return
            except BaseException:  # Ctrl-C, or Redis went away
                if pusher.outcomes:
                    print(pusher.summary())
                raise
            print(pusher.summary())
            self.exitcode = 2 if pusher.refused else 0


class Pusher:
    """Checks lines and pushes them in batches; counts what became of each."""

    def __init__(self, crawler: Crawler, priority: int, wanted: WantedRun) -> None:
        self._spider = crawler.spidercls
        self._settings = crawler.settings
        self._priority = priority
        self._encoder = Encoder(self._spider, self._settings, fingerprinter(crawler), TierRouting())
        self._wanted = wanted
        self._run: PushedRun | None = None
        self.outcomes: Counter[PushOutcome] = Counter()
        self.refused = 0

    async def push(self, lines: Iterator[Line]) -> None:
        """Push every good line; raises ServiceError when Redis cannot be reached, RunError when its run cannot be."""
        async with session(self._settings) as frontier:
            await self._learn(frontier)
            self._run = PushedRun(frontier.runs, self._spider.name, self._wanted)
            async with self._run:
                await self._push(frontier, lines, self._run)

    async def _push(self, frontier: Frontier, lines: Iterator[Line], run: PushedRun) -> None:
        batch: list[Message] = []
        for where, line in lines:
            if (message := self._message(where, line, run.generation)) is not None:
                batch.append(message)
            if len(batch) >= BATCH:
                await self._send(frontier, batch)
                batch = []
        await self._send(frontier, batch)
        run.incomplete = any(self.outcomes[outcome] for outcome in FULL)

    async def _learn(self, frontier: Frontier) -> None:
        """What the fleet knows of tiers, for the requests to go to the right queues at once."""
        tier_routing, tiers = self._encoder.tier_routing, Tiers(frontier.shards, keep_ms=0)
        tier_routing.hosts = {host: change.known for host, change in (await tiers.changes()).items()}
        tier_routing.served = await tiers.served(self._spider.name)

    def summary(self) -> str:
        """One line for people."""
        accepted = self.outcomes[PushOutcome.ACCEPTED]
        words = [f"{accepted} pushed to {self._spider.name}"]
        if known := self.outcomes[PushOutcome.DUPLICATE]:
            words.append(f"{known} known already (--recrawl crawls them again)")
        if dead := self.outcomes[PushOutcome.DUPLICATE_DEAD]:
            words.append(f"{dead} are dead letters (`scrapy dead retry {self._spider.name}`)")
        if self.refused:
            words.append(f"{self.refused} refused")
        told = self._run.told() if self._run else ""
        return ", ".join(words) + (f" ({told})" if told else "")

    async def _send(self, frontier: Frontier, batch: list[Message]) -> None:
        outcomes = Counter(await frontier.push(batch))
        self.outcomes += outcomes
        for outcome in FULL:
            if outcomes[outcome]:
                self.refuse(f"{outcomes[outcome]} messages: the frontier takes no more ({outcome})", outcomes[outcome])

    def _message(self, where: str, line: str, generation: str) -> Message | None:
        try:
            request = parse_line(line, self._spider, self._priority)
            if rule := self._encoder.scopes.of(generation).pushed(request.url):
                self.refuse(f"{where}: out of scope by the rule {rule!r} (docs/scope.md): {request.url}")
                return None
            return self._encoder.message(request, generation=generation, dedupe=not request.dont_filter)
        except (MessageError, CodecError, ValueError) as error:
            self.refuse(f"{where}: {error}")
            return None

    def refuse(self, words: str, count: int = 1) -> None:
        """Count what cannot be pushed, and say why."""
        self.refused += count
        print(mask(words), file=sys.stderr)


def read_lines(sources: list[str], refuse: Callable[[str], None]) -> Iterator[Line]:
    """Every line that is not blank, with its place; *refuse* is told of each source that is no URL and no file."""
    for source in sources:
        if "://" in source or source.startswith("{"):
            yield "argument", source.strip()
            continue
        try:
            yield from _numbered(source)
        except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
            reason = getattr(error, "strerror", None) or error
            refuse(f"{source!r} is neither a URL with http:// or https:// nor a file that can be read ({reason})")


def _numbered(source: str) -> Iterator[Line]:
    name = "standard input" if source == "-" else source
    with _opened(source) as lines:
        for number, line in enumerate(lines, 1):
            if text := line.strip():
                yield f"{name}:{number}", text


def _opened(source: str) -> TextIO:
    """*source* as text; bytes that are none become surrogates, which only their own line is refused for."""
    if source != "-":
        return Path(source).open(encoding="utf-8-sig", errors="surrogateescape")
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="surrogateescape")
    return sys.stdin
