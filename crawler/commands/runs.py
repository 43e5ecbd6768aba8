"""`scrapy runs`: lists runs, their results and whether they are done."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from dataclasses import asdict
from typing import Final

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.base import FleetCommand, check_known
from crawler.commands.options import integer
from crawler.commands.terminal import answering, console
from crawler.commands.views import runs_view, status_snapshot
from crawler.errors import ServiceError
from crawler.frontier.command_session import session
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.frontier import Frontier
from crawler.frontier.run_record import Run, RunError, UnknownRunError, generation_of
from crawler.startup.announcement import QUEUES
from crawler.storage import connection
from crawler.storage.config import StorageConfig
from crawler.storage.items import run_items
from crawler.utils import tasks
from crawler.utils.plural import several

VERBS: Final = {"show": 1, "wait": 1, "seal": 1, "diff": 2}  # number of ids each takes
POLL_SECONDS: Final = 0.5
WITH_DEAD_LETTERS, CANCELLED = 1, 3  # exit statuses of `wait`
MOST: Final = 1_000_000


class Command(FleetCommand, ScrapyCommand):
    """Lists runs, or shows one; `wait` returns when it is over, `seal` declares that no more will be pushed to it;
    `diff` lists the stored documents that are new, changed or gone between two runs."""

    def syntax(self) -> str:
        return "[list] [SPIDER] | show ID | wait ID | seal ID | diff ID ID [--limit N] [--json]"

    def short_desc(self) -> str:
        return "List runs; show, wait for, seal or compare them"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--limit", type=integer(1, MOST), default=20, help="how many, newest first (default 20)")
        parser.add_argument("--json", action="store_true", help="one JSON object per run, or document")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 for a wrong call or id; `wait`: 0 done, 1 with dead letters, 3 cancelled."""
        with answering(args):
            listed = args[1:] if args[:1] == ["list"] else args  # as other commands have it
            verb, ids = (args[0], args[1:]) if args and args[0] in VERBS else ("", listed)
            if len(ids) > max(1, VERBS.get(verb, 0)) or (verb and len(ids) != VERBS[verb]):
                raise UsageError(f"expected scrapy runs {self.syntax()}")
            for one in ids if verb else ():
                generation_of(one)  # reject an invalid id before asking Redis
            self.follow(ids[0] if ids and not verb else None)
            try:
                self.exitcode = tasks.run(self._carry_out(verb, ids, opts))
            except UnknownRunError:
                self.point_elsewhere(QUEUES)
                raise

    async def _carry_out(self, verb: str, ids: list[str], opts: argparse.Namespace) -> int:
        async with session(self.settings) as frontier:
            await frontier.runs.settle()
            if not verb:
                return await self._list(frontier, ids[0] if ids else None, opts)
            if verb == "wait":
                return await _wait(frontier, ids[0], as_json=opts.json)
            if verb == "diff":
                before, after = [await frontier.runs.known(one) for one in ids]
                return await self._diff(before, after, as_json=opts.json)
            run = await (frontier.runs.known(ids[0]) if verb == "show" else _seal(frontier, ids[0]))
            await self._show(frontier, run, as_json=opts.json)
            return 0

    async def _show(self, frontier: Frontier, run: Run, *, as_json: bool) -> None:
        seen = await status_snapshot.take_snapshot(frontier, run.spider)
        away = ""
        try:
            async with connection.session(self.settings) as database:
                items: dict[str, int] | None = await run_items.counts(database, run.id)
        except ServiceError as error:  # still show what Redis knows
            items, away = None, str(error)
        totals = await frontier.totals.of(run.id)
        if as_json:
            print(json.dumps(runs_view.plain(run, seen, seen.paused) | {"items": items, "stats": totals}))
            return
        print("\n".join(runs_view.whole(run, seen, items or {}, totals)))
        if away:
            print(f"Its documents are not counted: {away}")

    async def _diff(self, before: Run, after: Run, *, as_json: bool) -> int:
        if before.spider != after.spider:
            raise RunError(
                f"{before.id} is of {before.spider}, {after.id} of {after.spider}: compare runs of one spider"
            )
        if not after.is_over:
            print(f"run {after.id} is not over: what it has not fetched yet counts as gone", file=sys.stderr)
        found: Counter[str] = Counter()
        async with connection.session(self.settings) as database:
            for run in (before, after):
                if not await run_items.counts(database, run.id):
                    self._say_empty(run)
            async for one in run_items.differences(database, before.id, after.id):
                found[one.kind] += 1
                if one.kind != "unchanged":
                    print(json.dumps(asdict(one)) if as_json else runs_view.difference(one))
        if not as_json:
            told = ", ".join(f"{found[kind]:,} {kind}" for kind in ("new", "changed", "gone", "unchanged"))
            print(f"{before.id} -> {after.id}: {told}")
        return 0

    def _say_empty(self, run: Run) -> None:
        """Why each document of the other run is told as new or gone."""
        kept = StorageConfig.from_settings(self.settings).run_items_kept
        why = f"{several(run.counts.done, 'page')} done, {run.counts.dead:,} dead"
        if run.counts.done:
            why = f"it stored none, or they are forgotten (RUN_ITEMS_KEPT = {kept} runs)"
        print(f"no document is known of run {run.id}: {why}", file=sys.stderr)

    async def _list(self, frontier: Frontier, spider: str | None, opts: argparse.Namespace) -> int:
        found = await frontier.runs.find(spider, limit=opts.limit + 1)
        runs, are_more = found[: opts.limit], len(found) > opts.limit
        if not runs and spider is not None:
            await check_known(self.settings, frontier, spider)
        paused = (await frontier.control.said()).paused
        if opts.json:
            for run in runs:
                print(json.dumps(runs_view.plain(run, paused=paused)))
            return 0
        if not runs:
            self.point_elsewhere(QUEUES)
        now = (await frontier.inspection.stats()).now_ms
        console().print(runs_view.overview(runs, now, paused) if runs else "There has been no run yet.")
        if are_more:
            console().print(f"There are older ones: --limit {2 * opts.limit} shows more.")
        return 0


async def _seal(frontier: Frontier, run_id: str) -> Run:
    await frontier.runs.seal(run_id)
    await frontier.runs.settle()
    return await frontier.runs.known(run_id)


async def _wait(frontier: Frontier, run_id: str, *, as_json: bool) -> int:
    """Return when the run is over, without a time limit. Raises UnknownRunError once Redis has lost it."""
    away, opened_ms = False, 0
    while True:
        try:
            await frontier.runs.settle()
            run = await frontier.runs.known(run_id, opened_ms)
        except FrontierUnavailableError as error:  # it restarts, or fails over
            if not away:
                print(f"Redis is away, waiting goes on: {error}", file=sys.stderr)
            away = True
        else:
            away, opened_ms = False, run.opened_ms
            if run.is_over:
                break
        await asyncio.sleep(POLL_SECONDS)
    print(json.dumps(runs_view.plain(run)) if as_json else run.told())
    if run.state == "cancelled":
        return CANCELLED
    return WITH_DEAD_LETTERS if run.counts.dead else 0
