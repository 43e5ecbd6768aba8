"""`scrapy dead`: requests that could not be done, with why; put back or thrown away."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands import early_settings
from crawler.commands.base import FleetCommand, check_known
from crawler.commands.options import host_name, integer
from crawler.commands.terminal import agreed, answering
from crawler.commands.views.dead_page import page_of, show
from crawler.commands.views.dead_view import at, dropped, retried, shown
from crawler.errors import ConfigError, clipped
from crawler.frontier.command_session import session
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import DeadLetter
from crawler.frontier.runs.letter_retries import Retries
from crawler.frontier.state.dead_letters import DeadLetters
from crawler.policy.endings.outcome import DEAD_REASONS
from crawler.routing.readable import readable
from crawler.startup.announcement import QUEUES
from crawler.utils import tasks
from crawler.utils.plural import several

VERBS = ("list", "show", "retry", "drop")
MOST = 1_000_000  # letters of one call
ANSWERED = re.compile(r"http_[1-9][0-9]{2}")


class Command(FleetCommand, ScrapyCommand):
    """`list` and `show` read; `drop` forgets letters; `retry` queues them again with a fresh delivery count, as a run
    of their own where theirs is over.

    `--kind gone` does so with the pages that their sites refuse for good.
    """

    def syntax(self) -> str:
        return "list|retry|drop [spider] [--host H] [--reason R] [--limit N] [--kind gone] [--yes] | show ID [--page]"

    def short_desc(self) -> str:
        return "List, show, retry or drop dead letters"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--host", type=host_name, help="only of this host")
        parser.add_argument("--reason", help="only with this reason, as `list` shows it")
        words = "at most this many, newest first (default %(default)s)"
        parser.add_argument("--limit", type=integer(1, MOST), default=100, help=words)
        parser.add_argument("--yes", action="store_true", help="drop: do not ask")
        parser.add_argument(
            "--kind",
            choices=("dead", "gone"),
            default="dead",
            help="dead letters (default), or pages that sites refuse for good (404, 410 ...), which count as done",
        )
        parser.add_argument("--page", action="store_true", help="show: its archived page, as it came")
        parser.add_argument("--json", action="store_true", help="list, show: one JSON object per letter")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 for a wrong call, 1 when `show` finds nothing."""
        with answering(args):
            verb, name = _called(args)
            if opts.json and verb not in {"list", "show"}:
                raise UsageError("--json is for list and show")
            if opts.page and verb != "show":
                raise UsageError("--page is for show: the page of one letter")
            if verb != "show":
                self.follow(name)
            tasks.run(self._carry_out(verb, name, opts))

    async def _carry_out(self, verb: str, name: str | None, opts: argparse.Namespace) -> None:
        async with session(self.settings) as frontier:
            if verb == "show":
                await self._show(_box(frontier, opts.kind), str(name), whole_page=opts.page)
                return
            letters = await self._find(frontier, name, opts)
            if verb == "list":
                await _list(frontier, letters, opts.kind, as_json=opts.json)
            elif verb == "retry":
                await self._retry(frontier, letters, opts)
            else:
                await _drop(frontier, letters, name, opts)

    async def _find(self, frontier: Frontier, name: str | None, opts: argparse.Namespace) -> list[DeadLetter]:
        """What is meant; if that is nothing, why, on standard error. Raises ShoalError for what there cannot be."""
        asked = {"host": opts.host, "reason": opts.reason}
        if letters := await _box(frontier, opts.kind).find(name, **asked, limit=opts.limit):
            return letters
        if name:
            await check_known(self.settings, frontier, name)
        if opts.reason:
            await _check_reason(frontier, opts)
        await self.check_group(frontier, opts.host)
        other = "dead" if opts.kind == "gone" else "gone"  # a page that answers 404, say, is no dead letter
        if await _box(frontier, other).find(name, **asked, limit=1):
            print(f"letters of kind {other!r} match: add --kind {other}", file=sys.stderr)
        if name is None:
            self.point_elsewhere(QUEUES)
        return []

    async def _retry(self, frontier: Frontier, letters: Sequence[DeadLetter], opts: argparse.Namespace) -> None:
        retries = Retries(frontier.shards, frontier.runs, frontier.spent, _box(frontier, opts.kind))
        with _going_on(letters):
            done, runs = await retries.retry(letters)
        print("\n".join(retried(letters, done, opts.limit)))
        if done:
            self._tell_deleted(letters)
        for run in runs:
            print(f"run {run.id} of {run.spider}: {run.name}")

    def _tell_deleted(self, letters: Sequence[DeadLetter]) -> None:
        ours = set(early_settings.spiders(self.settings).list())
        for name in sorted({letter.spider for letter in letters if letter.host} - ours):
            print(
                f"there is no spider {name!r} here: what is queued waits for a worker of it; "
                f"`scrapy control purge --spider {name}` drops it",
                file=sys.stderr,
            )

    async def _show(self, box: DeadLetters, letter_id: str, *, whole_page: bool) -> None:
        try:
            letter = await box.show(letter_id)
        except ValueError:
            raise ConfigError("id", letter_id, "one that `scrapy dead list` shows") from None
        if letter is None:
            print(f"there is no dead letter {clipped(letter_id)}: `scrapy dead list` shows them", file=sys.stderr)
            self.point_elsewhere(QUEUES)
            self.exitcode = 1
        elif whole_page:
            found = await page_of(self.settings, letter)
            show(found, sys.stdout.buffer, to_terminal=sys.stdout.isatty())
        else:
            print(json.dumps(_plain(letter), indent=2, default=str))


async def _list(frontier: Frontier, letters: Sequence[DeadLetter], kind: str, *, as_json: bool) -> None:
    if as_json:
        for letter in letters:
            print(json.dumps(_plain(letter), default=str))
        return
    for line in shown(letters, kind, await _box(frontier, kind).count(), await frontier.dead.evicted()):
        print(line)


async def _drop(frontier: Frontier, letters: Sequence[DeadLetter], name: str | None, opts: argparse.Namespace) -> None:
    question = f"Throw {several(len(letters), 'dead letter')}{f' of {name}' if name else ''} away for good?"
    if letters and not opts.yes and not agreed(question):
        print("nothing is dropped")
        return
    with _going_on(letters):
        done = sum(await _box(frontier, opts.kind).drop([letter.id for letter in letters]))
    print("\n".join(dropped(letters, done, opts.limit)))


async def _check_reason(frontier: Frontier, opts: argparse.Namespace) -> None:
    """Raise ConfigError for a reason that no letter has, and none can have."""
    known = await _box(frontier, opts.kind).find(None, limit=MOST)
    reasons = sorted({letter.reason for letter in known} | {*DEAD_REASONS})
    if opts.reason not in reasons and not ANSWERED.fullmatch(opts.reason):
        raise ConfigError("--reason", opts.reason, f"one of {', '.join(reasons)}, or http_ and a status")


def _box(frontier: Frontier, kind: str) -> DeadLetters:
    return frontier.gone if kind == "gone" else frontier.dead


@contextmanager
def _going_on(letters: Sequence[DeadLetter]) -> Iterator[None]:
    """Says how to go on where Ctrl-C ends it."""
    try:
        yield
    except asyncio.CancelledError:
        print(f"cut short: `scrapy dead list` shows which of the {len(letters)} are left; the same call goes on")
        raise


def _called(args: list[str]) -> tuple[str, str | None]:
    """The verb, and the spider or id that it is about; raises UsageError for anything else."""
    verb, *named = args or [""]
    if verb not in VERBS or len(named) > 1 or (verb == "show" and not named):
        words = f"name one of {', '.join(VERBS)}; then a spider, or for `show` an id"
        raise UsageError(words)
    return verb, named[0] if named else None


def _plain(letter: DeadLetter) -> dict[str, Any]:
    fields = asdict(letter) | {"at": at(letter).isoformat(), "detail": dict(letter.detail)}
    fields["request"] = readable(fields.pop("body"))
    return fields
