"""`scrapy schedule`: manages repeated crawls, which `scrapy serve` runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.base import FleetCommand
from crawler.commands.encoding import encoder_of
from crawler.commands.options import host_name, integer
from crawler.commands.terminal import answering, console
from crawler.commands.views.schedule_view import lines, table, ticks_of, told, when
from crawler.errors import ShoalError, clipped, shown
from crawler.frontier.command_session import session
from crawler.frontier.messages import MAX_PRIORITY
from crawler.frontier.state.schedules import MOST, Schedules, Timetable, TooManyError
from crawler.policy.schedules import MISSED, Cron, Interval, Timing, check_zone, following, span
from crawler.policy.tiers import TIERS
from crawler.producers import sources
from crawler.producers.lines import chunks_apart
from crawler.producers.rejects import Rejects
from crawler.producers.rows import Rows
from crawler.producers.schedule import OVERLAPS, Schedule, ScheduleSource, refused
from crawler.producers.schedule_chunks import check_file
from crawler.producers.schedule_push import sitemap_pusher
from crawler.producers.sitemap_push import ROBOTS
from crawler.utils import tasks
from crawler.utils.masking import mask

VERBS: Final = ("add", "list", "show", "pause", "resume", "run", "remove")
CHECKED: Final = 10_000  # lines of a file checked when it is added
SHOWN: Final = 5  # next ticks shown
MOST_VISITS: Final = 100_000_000  # a day


class Command(FleetCommand, ScrapyCommand):
    """Each verb is a small change in Redis; the leader of `scrapy serve` does the rest."""

    def syntax(self) -> str:
        return (
            "add NAME SPIDER URL...|FILE|--known HOST|--sitemap URL|--due N --every 12h|--cron '0 3 * * *' [--zone Z] "
            "| list | show|pause|resume|run|remove NAME"
        )

    def short_desc(self) -> str:
        return "Crawl repeatedly: add, list, show, change or run schedules"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--every", metavar="SPAN", help="an interval: 15m, 12h, 7d, 2w; counted from now")
        add("--cron", metavar="EXPR", help="minute hour day month weekday, or @hourly, @daily ... @yearly")
        add("--zone", default="", help="time zone of --cron, such as Europe/Berlin (default UTC)")
        add("--known", type=host_name, metavar="HOST", help="crawl the spider's stored documents of that host")
        words = "crawl what is due by how often it changes, N visits a day (docs/recrawl.md)"
        add("--due", type=integer(1, MOST_VISITS), metavar="N", help=words)
        add(
            "--sitemap",
            action="append",
            default=[],
            metavar="URL",
            help="crawl what it names, or with `robots` what the robots.txt of each site names",
        )
        add(
            "--include",
            action="append",
            default=[],
            metavar="RE",
            help="of sitemaps only pages whose URL matches",
        )
        add("--exclude", action="append", default=[], metavar="RE", help="of sitemaps no pages whose URL matches")
        add("--changed-only", action="store_true", help="skip sitemaps whose lastmod is the same as at the last tick")
        add("--missed", default="once", choices=MISSED, help="which missed ticks to run: once (default), all or none")
        words = "skip (default), queue, replace or allow a tick while the last run is not over"
        add("--overlap", default="skip", choices=OVERLAPS, help=words)
        ranged = integer(-MAX_PRIORITY, MAX_PRIORITY)
        add("--priority", type=ranged, default=0, help="-1000 to 1000, higher first (default 0)")
        add("--tier", default="", choices=TIERS, help="the lowest tier that its pages need")
        add("--column", default="", help="the file is CSV: the column of the URLs, its name or number")
        add("--scope", default="", metavar="JSON", help="what its runs may fetch (docs/scope.md)")
        add("--json", action="store_true", help="list, show: one JSON object per schedule")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 for wrong usage, also if there is no such schedule."""
        with answering(args):
            verb, *rest = args or [""]
            if verb not in VERBS or (verb != "add" and len(rest) != (verb != "list")):
                words = f"name one of {', '.join(VERBS)}; then the schedule's name, except for list"
                raise UsageError(words)
            if verb == "add":
                self._check_added(rest, opts)
            tasks.run(self._do(verb, rest, opts))

    def _check_added(self, rest: list[str], opts: argparse.Namespace) -> None:
        is_robots = ROBOTS in opts.sitemap
        named = bool(opts.known) + bool(opts.due) + bool(opts.sitemap and not is_robots)
        if len(rest) < 2 or (len(rest) > 2) + named != 1:
            words = (
                "add needs a name, a spider, and what to crawl: URLs, one file, --known HOST, --sitemap URL or --due N"
            )
            raise UsageError(words)
        if (opts.include or opts.exclude or opts.changed_only) and not opts.sitemap:
            words = "--include, --exclude and --changed-only choose pages of a --sitemap"
            raise UsageError(words)
        if bool(opts.every) == bool(opts.cron) or (opts.zone and not opts.cron):
            raise UsageError("add needs either --every, or --cron with or without --zone")

    async def _do(self, verb: str, rest: list[str], opts: argparse.Namespace) -> None:
        async with session(self.settings) as frontier:
            schedules = frontier.schedules
            seen = await schedules.look()
            if verb == "add":
                await self._add(schedules, seen, rest, opts)
            elif verb == "list":
                self._list(seen, as_json=opts.json)
            elif rest[0] not in seen.definitions:
                raise ShoalError(f"there is no schedule {shown(rest[0])}: `scrapy schedule list` shows them")
            elif verb == "show":
                self._show(seen, rest[0], as_json=opts.json)
            elif verb == "run":
                await self._run_now(schedules, seen, rest[0])
            else:
                await self._change(schedules, seen, verb, rest[0])

    # --- changes

    async def _add(self, schedules: Schedules, seen: Timetable, rest: list[str], opts: argparse.Namespace) -> None:
        now = seen.clock_ms // 1000
        schedule = self._schedule(rest, opts, now)
        if schedule.name in seen.definitions:
            raise ShoalError(f"there is a schedule {schedule.name!r} already: remove it, or take another name")
        await self._check(schedule)
        try:
            _changed(await schedules.put(schedule.name, "", schedule.text(), cursor=now))
        except TooManyError:
            raise ShoalError(f"there are {MOST} schedules, which is the maximum: remove one") from None
        print(f"added {schedule.name}: first tick {when(schedule.timing, following(schedule.timing, now))}")
        _say_leader(seen)

    def _schedule(self, rest: list[str], opts: argparse.Namespace, now: int) -> Schedule:
        name, spider, *given = rest
        self.scheduled_crawler(spider)
        return Schedule(
            name=name,
            spider=spider,
            source=_source(given, opts),
            timing=_timing(opts, now),
            missed=opts.missed,
            overlap=opts.overlap,
            priority=opts.priority,
            tier=opts.tier,
            scope=opts.scope,
        )

    async def _check(self, schedule: Schedule) -> None:
        """Raise ShoalError if something cannot be pushed; names each bad line, among the first CHECKED of a file."""
        encoder = encoder_of(self.crawler_of(schedule.spider))
        if schedule.scope:
            encoder.scopes.given(schedule.scope)
        rejects, checked = Rejects("", mask), 0
        rows = Rows(encoder, "0", schedule.priority, rejects, tier=schedule.tier)
        source = schedule.source
        if source.kind == "file":
            check_file(source.values[0])
        if source.is_sitemaps:
            await sitemap_pusher(encoder, schedule, rejects).roots()
        values = source.values if source.kind in {"urls", "file"} else ()
        async with aclosing(chunks_apart(values, source.column)) as read:
            async for chunk in read:
                checked += sum(map(len, rows.of(chunk)))
                if checked + rejects.count >= CHECKED:
                    break
        if rejects.count:
            raise ShoalError(
                f"{clipped(str(source))} cannot be pushed as it is ({rejects.count} refused): nothing is added"
            )
        if source.kind == "file" and not checked:
            print(f"{clipped(str(source))} holds nothing yet: each tick pushes what it holds then")

    async def _change(self, schedules: Schedules, seen: Timetable, verb: str, name: str) -> None:
        text = seen.definitions[name]
        if verb == "remove":
            _changed(await schedules.put(name, text, ""))
            print(f"removed {name}" + ("; what it has begun to push is sealed" if ticks_of(seen, name) else ""))
            return
        schedule, is_pause = Schedule.read(name, text), verb == "pause"
        if schedule.paused == is_pause:
            print(f"{name} is {'paused' if is_pause else 'not paused'}")
            return
        after = replace(schedule, paused=is_pause)
        now = seen.clock_ms // 1000
        _changed(await schedules.put(name, text, after.text(), cursor=None if is_pause else now))
        told = "paused" if is_pause else f"goes on: next tick {when(after.timing, following(after.timing, now))}"
        print(f"{name} {told}")

    async def _run_now(self, schedules: Schedules, seen: Timetable, name: str) -> None:
        Schedule.read(name, seen.definitions[name])
        epoch = await schedules.run(name)
        print(f"{name}: tick {epoch} is to be run")
        _say_leader(seen)

    # --- looks

    def _list(self, seen: Timetable, *, as_json: bool) -> None:
        if as_json:
            for name in sorted(seen.definitions):
                print(json.dumps(told(seen, name)))
            return
        console().print(table(seen) if seen.definitions else "No schedules.")
        _say_leader(seen)

    def _show(self, seen: Timetable, name: str, *, as_json: bool) -> None:
        all_of_it = told(seen, name)
        if as_json:
            print(json.dumps(all_of_it))
            return
        print("\n".join(lines(all_of_it)))
        if all_of_it["next"]:
            schedule = Schedule.read(name, seen.definitions[name])
            for epoch in islice(schedule.timing.epochs(int(seen.cursors[name])), 1, SHOWN):
                print(f"{'then':<11} {when(schedule.timing, epoch)}")
        _say_leader(seen)


def _source(given: Sequence[str], opts: argparse.Namespace) -> ScheduleSource:
    is_file = bool(given) and not opts.sitemap and not all(map(sources.is_url, given))
    if opts.column and not is_file:
        raise refused("--column", opts.column, "it with a file")
    if opts.sitemap:
        terms = {"include": tuple(opts.include), "exclude": tuple(opts.exclude), "changed_only": opts.changed_only}
        if ROBOTS in opts.sitemap:
            if wrong := [one for one in given if "://" not in one]:
                raise refused("site", wrong[0], "the URL of a site such as https://shop.example/")
            return ScheduleSource("robots", tuple(given), **terms)
        return ScheduleSource("sitemap", tuple(opts.sitemap), **terms)
    if opts.due:
        return ScheduleSource("due", (str(opts.due),))
    if opts.known:
        return ScheduleSource("known", (opts.known,))
    if not is_file:
        return ScheduleSource("urls", tuple(given))
    if len(given) > 1 or given[0] == sources.STDIN:
        raise refused("source", given[0], "URLs, or one file and nothing else")
    path = given[0] if given[0].startswith(sources.REMOTE) else str(Path(given[0]).absolute())
    return ScheduleSource("file", (path,), opts.column)


def _timing(opts: argparse.Namespace, now: int) -> Timing:
    option, value = ("--every", opts.every) if opts.every else ("--cron", opts.cron)
    try:
        if opts.every:
            return Interval(span(opts.every), now)
        option, value = "--zone", opts.zone or "UTC"
        check_zone(value)
        option, value = "--cron", opts.cron
        return Cron(opts.cron, opts.zone or "UTC")
    except ValueError as error:
        raise refused(option, value, str(error)) from None


def _changed(done: bool) -> None:
    if not done:
        raise ShoalError("that schedule was changed at the same moment: check it and try again")


def _say_leader(seen: Timetable) -> None:
    if not seen.leader:
        print("no `scrapy serve` runs: schedules wait until one does", file=sys.stderr)
