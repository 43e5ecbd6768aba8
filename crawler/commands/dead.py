"""`scrapy dead`: requests that could not be done, with why; put back or thrown away."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from rich.table import Table
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler import tasks
from crawler.commands.options import host_name, in_range
from crawler.commands.usage import FleetCommand, answering, console, spider_class
from crawler.frontier.command_session import session
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import DeadLetter

VERBS = ("list", "show", "retry", "drop")


class Command(FleetCommand, ScrapyCommand):
    """`list` and `show` read; `retry` queues letters again with a fresh delivery count; `drop` forgets them."""

    def syntax(self) -> str:
        return "list|retry|drop [spider] [--host H] [--reason R] [--limit N] | show ID"

    def short_desc(self) -> str:
        return "List, show, retry or drop dead letters"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--host", type=host_name, help="only of this host")
        parser.add_argument("--reason", help="only with this reason, as `list` shows it")
        parser.add_argument(
            "--limit", type=int, default=100, help="at most so many, newest first (default %(default)s)"
        )
        parser.add_argument("--json", action="store_true", help="list, show: one JSON object per letter")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 for a wrong call, 1 when `show` finds nothing."""
        with answering(args):
            if not args or args[0] not in VERBS or len(args) > 2 or (args[0] == "show") > (len(args) == 2):
                words = f"name one of {', '.join(VERBS)}; then a spider, or for `show` an id"
                raise UsageError(words, print_help=False)
            in_range("--limit", opts.limit, 1, 1_000_000)
            tasks.run(self._run(args[0], args[1] if len(args) == 2 else None, opts))

    async def _run(self, verb: str, name: str | None, opts: argparse.Namespace) -> None:
        assert self.settings is not None
        async with session(self.settings) as frontier:
            if verb == "show":
                await self._show(frontier, str(name))
                return
            letters = await frontier.dead.find(name, host=opts.host, reason=opts.reason, limit=opts.limit)
            if name and not letters:
                spider_class(self.settings, name)  # that of an earlier release may have letters
            if verb == "list":
                await self._list(frontier, letters, as_json=opts.json)
                return
            settle = frontier.dead.retry if verb == "retry" else frontier.dead.drop
            settled = sum(await settle([letter.id for letter in letters]))
            print(f"{settled} {'queued again' if verb == 'retry' else 'dropped'}")
            if kept := len(letters) - settled:
                print(f"{kept} left as they are: a start URL that could not be read can only be dropped")
            if len(letters) == opts.limit:
                print(f"that was the limit: --limit takes more than {opts.limit}")

    async def _show(self, frontier: Frontier, letter_id: str) -> None:
        try:
            letter = await frontier.dead.show(letter_id)
        except ValueError:
            raise UsageError(f"{letter_id!r} is no id: `scrapy dead list` shows them", print_help=False) from None
        if letter is None:
            print(f"there is no dead letter {letter_id}")
            self.exitcode = 1
        else:
            print(json.dumps(_plain(letter), indent=2, default=str))

    async def _list(self, frontier: Frontier, letters: Sequence[DeadLetter], *, as_json: bool) -> None:
        if as_json:
            for letter in letters:
                print(json.dumps(_plain(letter), default=str))
            return
        table = Table("id", "at", "reason", "host", "deliveries", "status", "worker", "url or entry")
        for letter in letters:
            row = (letter.reason, letter.host, letter.deliveries, letter.status or "", letter.worker, _what(letter))
            table.add_row(letter.id, f"{_at(letter):%Y-%m-%d %H:%M:%S}", *map(str, row))
        total, evicted = await frontier.dead.count(), await frontier.dead.evicted()
        console().print(table if letters else "No dead letters match.")
        print(f"{len(letters)} shown of {total} kept; {evicted} evicted for want of room (FRONTIER_DEAD_LIMIT)")


def _at(letter: DeadLetter) -> datetime:
    return datetime.fromtimestamp(letter.at_ms / 1000, UTC)


def _what(letter: DeadLetter) -> str:
    return str(letter.detail.get("url") or letter.detail.get("error") or letter.body[:200])


def _plain(letter: DeadLetter) -> dict[str, Any]:
    fields = asdict(letter) | {"at": _at(letter).isoformat(), "detail": dict(letter.detail)}
    fields["body"] = letter.body.decode("utf-8", "backslashreplace")
    return fields
