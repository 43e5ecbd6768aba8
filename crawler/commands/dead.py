"""`scrapy dead`: requests that could not be done, with why; put back or thrown away."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands import early_settings
from crawler.commands.base import FleetCommand, check_known
from crawler.commands.options import host_name, integer
from crawler.commands.terminal import agreed, answering
from crawler.commands.views.dead_page import page_of, show
from crawler.commands.views.dead_view import at, shown
from crawler.errors import ConfigError
from crawler.frontier.command_session import session
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import DeadLetter
from crawler.frontier.run_record import Run
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

    _kind = "dead"

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
            self._kind = opts.kind
            if verb == "show":
                tasks.run(self._show(str(name), whole_page=opts.page))
                return
            self.follow(name)
            letters = tasks.run(self._find(name, opts))
            if not letters:
                tasks.run(self._tell_other_kind(name, opts))
                if name is None:
                    self.point_elsewhere(QUEUES)
            question = f"Throw {several(len(letters), 'dead letter')}{f' of {name}' if name else ''} away for good?"
            if verb == "list":
                tasks.run(self._list(letters, as_json=opts.json))
            elif verb == "drop" and letters and not opts.yes and not agreed(question):
                print("nothing is dropped")
            else:
                self._carry_out(verb, letters, opts.limit)

    def _carry_out(self, verb: str, letters: Sequence[DeadLetter], limit: int) -> None:
        """Retry or drop *letters*, and say what became of them."""
        try:
            done, runs = tasks.run(self._apply(verb, letters))
        except KeyboardInterrupt:
            print(f"cut short: `scrapy dead list` shows which of the {len(letters)} are left; the same call goes on")
            raise
        self._tell(verb, letters, done, limit)
        if verb == "retry" and done:
            self._tell_deleted(letters)
        for run in runs:
            print(f"run {run.id} of {run.spider}: {run.name}")

    def _box(self, frontier: Frontier) -> DeadLetters:
        return frontier.gone if self._kind == "gone" else frontier.dead

    def _session(self) -> AbstractAsyncContextManager[Frontier]:
        return session(self.settings)

    async def _find(self, name: str | None, opts: argparse.Namespace) -> list[DeadLetter]:
        async with self._session() as frontier:
            letters = await self._box(frontier).find(name, host=opts.host, reason=opts.reason, limit=opts.limit)
            if letters or not (name or opts.reason):
                return letters
            known = await self._box(frontier).find(None, limit=MOST)
            if name:
                await check_known(self.settings, frontier, name)
        reasons = sorted({letter.reason for letter in known} | {*DEAD_REASONS})
        if opts.reason and opts.reason not in reasons and not ANSWERED.fullmatch(opts.reason):
            raise ConfigError("--reason", opts.reason, f"one of {', '.join(reasons)}, or http_ and a status")
        return []

    async def _tell_other_kind(self, name: str | None, opts: argparse.Namespace) -> None:
        """Say so if there are letters of the other kind: a page that answers 404, say, is no dead letter."""
        other = "dead" if self._kind == "gone" else "gone"
        async with self._session() as frontier:
            box = frontier.dead if other == "dead" else frontier.gone
            if await box.find(name, host=opts.host, reason=opts.reason, limit=1):
                print(f"letters of kind {other!r} match: add --kind {other}", file=sys.stderr)

    async def _apply(self, verb: str, letters: Sequence[DeadLetter]) -> tuple[int, list[Run]]:
        async with self._session() as frontier:
            box = self._box(frontier)
            if verb == "drop":
                return sum(await box.drop([letter.id for letter in letters])), []
            return await Retries(frontier.shards, frontier.runs, box).retry(letters)

    def _tell(self, verb: str, letters: Sequence[DeadLetter], done: int, limit: int) -> None:
        print(f"{done} {'queued again' if verb == 'retry' else 'dropped'}")
        unreadable = sum(not letter.host for letter in letters) if verb == "retry" else 0
        if unreadable:
            print(f"{unreadable} left as they are: a start URL that could not be read can only be dropped")
        if others := len(letters) - done - unreadable:
            reason = ", or their run is cancelled" if verb == "retry" else ""
            print(f"{others} were not {'queued' if verb == 'retry' else 'dropped'}: somebody else was faster{reason}")
        if len(letters) == limit:
            print(f"that was the limit: --limit takes more than {limit}")

    def _tell_deleted(self, letters: Sequence[DeadLetter]) -> None:
        ours = set(early_settings.spiders(self.settings).list())
        for name in sorted({letter.spider for letter in letters if letter.host} - ours):
            print(
                f"there is no spider {name!r} here: what is queued waits for a worker of it; "
                f"`scrapy control purge --spider {name}` drops it",
                file=sys.stderr,
            )

    async def _show(self, letter_id: str, *, whole_page: bool) -> None:
        try:
            async with self._session() as frontier:
                letter = await self._box(frontier).show(letter_id)
        except ValueError:
            raise ConfigError("id", letter_id, "one that `scrapy dead list` shows") from None
        if letter is None:
            print(f"there is no dead letter {letter_id}: `scrapy dead list` shows them", file=sys.stderr)
            self.point_elsewhere(QUEUES)
            self.exitcode = 1
        elif whole_page:
            found = await page_of(self.settings, letter)
            show(found, sys.stdout.buffer, to_terminal=sys.stdout.isatty())
        else:
            print(json.dumps(_plain(letter), indent=2, default=str))

    async def _list(self, letters: Sequence[DeadLetter], *, as_json: bool) -> None:
        if as_json:
            for letter in letters:
                print(json.dumps(_plain(letter), default=str))
            return
        async with self._session() as frontier:
            total, evicted = await self._box(frontier).count(), await frontier.dead.evicted()
        for line in shown(letters, self._kind, total, evicted):
            print(line)


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
