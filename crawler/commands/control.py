"""`scrapy control`: pause, resume, cancel, purge; change the priority or tier of queued requests."""

from __future__ import annotations

import argparse
import re
from typing import Final

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.base import FleetCommand, check_known
from crawler.commands.options import host_name
from crawler.commands.terminal import agreed, answering
from crawler.errors import ConfigError
from crawler.frontier.command_session import session
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import MAX_PRIORITY
from crawler.frontier.run_record import Run, RunError
from crawler.frontier.runs.control import Action, Target, lua_pattern, run_target
from crawler.frontier.streams import stream_of
from crawler.policy.tiers import TIERS
from crawler.utils import tasks
from crawler.utils.plural import several

VERBS: Final = ("pause", "resume", "cancel", "purge", "priority", "tier")
SYNTAX: Final = (
    "pause|resume|cancel|purge|priority N|tier NAME (--run ID | --spider NAME | --host HOST) [--url GLOB] [--yes]"
)

_INTEGER: Final = re.compile(r"-?[0-9]{1,9}")
_ACTIONS: Final[dict[str, tuple[Action, str, str]]] = {
    "purge": ("drop", "purged", "dropped"),
    "priority": ("priority", "", "reprioritised"),
    "tier": ("stream", "", "moved"),
}


class Command(FleetCommand, ScrapyCommand):
    """Controls queued requests. Workers obey within two seconds, also for leased requests that are not sent.

    `pause` and `resume` take a run, a spider or a host; `cancel` a run; the others also a URL pattern.
    """

    def syntax(self) -> str:
        return SYNTAX

    def short_desc(self) -> str:
        return "Pause, resume or cancel crawls; drop or move queued requests"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--run", default="", metavar="ID", help="a run, as `scrapy runs` names it")
        parser.add_argument("--spider", default="", metavar="NAME", help="all requests of a spider")
        parser.add_argument("--host", type=host_name, default="", help="all requests of a politeness group")
        parser.add_argument("--url", default="", metavar="GLOB", help="only URLs that match; * stands for anything")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 1 if nothing matched, or nobody agreed."""
        with answering(args):
            verb, value = _checked(args, opts)
            self.follow(opts.spider)
            self.exitcode = 0 if tasks.run(self._carry_out(verb, value, opts)) else 1

    async def _carry_out(self, verb: str, value: str, opts: argparse.Namespace) -> bool:
        async with session(self.settings) as frontier:
            if opts.spider:
                await check_known(self.settings, frontier, opts.spider)
            if verb != "resume":  # of what was paused under another name
                await self.check_group(frontier, opts.host)
            run = await _run(frontier, opts.run, verb) if opts.run else None
            if verb in {"pause", "resume"}:
                await _say(frontier, verb == "pause", run, opts)
                return True
            if verb == "cancel":
                assert run is not None
                return await _cancel(frontier, run, yes=opts.yes)
            return await _sift(frontier, verb, value, _target(run, opts), yes=opts.yes)


def _checked(args: list[str], opts: argparse.Namespace) -> tuple[str, str]:
    """Verb and value; raises UsageError, ConfigError."""
    verb = args[0] if args else ""
    takes_value = verb in {"priority", "tier"}
    if verb not in VERBS or len(args) != 1 + takes_value:
        raise UsageError(f"expected scrapy control {SYNTAX}")
    picks = verb in _ACTIONS
    if bool(opts.run) + bool(opts.spider) + bool(opts.host) != 1 and not (picks and opts.spider and opts.host):
        raise UsageError(
            "name one of --run, --spider and --host; purge, priority and tier take the last two together, too"
        )
    if opts.url and not picks:
        raise UsageError(f"--url is for {', '.join(_ACTIONS)}: {verb} takes a run, a spider or a host")
    if verb == "cancel" and not opts.run:
        raise UsageError("`cancel` takes --run; of a spider or a host `purge` drops what is queued")
    value = args[1] if takes_value else ""
    if verb == "priority" and not (_INTEGER.fullmatch(value) and -MAX_PRIORITY <= int(value) <= MAX_PRIORITY):
        raise ConfigError("priority", value, f"an integer from -{MAX_PRIORITY} to {MAX_PRIORITY}")
    if verb == "tier" and value not in TIERS:
        raise ConfigError("tier", value, f"one of {', '.join(TIERS)}")
    if verb == "tier" and opts.host and not opts.spider:
        raise UsageError("`tier` with --host takes --spider, too: a queue is a spider's")
    return verb, value


async def _run(frontier: Frontier, run_id: str, verb: str) -> Run:
    run = await frontier.runs.known(run_id)
    if run.is_over and verb != "resume":  # whoever ended it may have been killed before it took back its pause
        raise RunError(f"run {run_id} is {run.state}: there is nothing left to control")
    return run


async def _say(frontier: Frontier, pauses: bool, run: Run | None, opts: argparse.Namespace) -> None:
    what = run_target(run) if run else f"spider {opts.spider}" if opts.spider else f"host {opts.host}"
    named = f"run {run.id}" if run else what
    news = await frontier.control.say("pause" if pauses else "resume", what)
    if not pauses:
        await frontier.control.sort_aside()
    if not news:
        print(f"{named} was {'paused' if pauses else 'not paused'} before")
        return
    told = f"{named} is {'paused' if pauses else 'resumed'}: workers obey within 2 s"
    is_unknown = pauses and opts.host and not await frontier.inspection.knows(opts.host)
    print(f"{told}; it has had no request of late" if is_unknown else told)


async def _cancel(frontier: Frontier, run: Run, *, yes: bool) -> bool:
    counts = run.counts
    told = f"{counts.queued:,} queued, {counts.delayed:,} delayed, {counts.leased:,} leased"
    if not yes and not agreed(f"Cancel run {run.id} of {run.spider} ({told})?"):
        return False
    await frontier.runs.cancel(run.id, run.opened_ms)
    dropped = await frontier.runs.clear()
    await frontier.runs.settle()
    print(f"run {run.id} is cancelled: {several(dropped, 'request')} dropped; requests on the wire finish")
    return True


async def _sift(frontier: Frontier, verb: str, value: str, target: Target, *, yes: bool) -> bool:
    about = await frontier.control.sift(target, "count")
    words = {"purge": "Drop", "priority": f"Set priority {value} on", "tier": f"Move to tier {value}"}[verb]
    if not yes and not agreed(f"{words} about {several(about, 'queued request')}?"):
        return False
    action, argument, done = _ACTIONS[verb]
    if verb != "purge":
        argument = stream_of(target.spider, value) if verb == "tier" else value  # type: ignore[arg-type]
    total = await frontier.control.sift(target, action, argument)
    print(f"{several(total, 'request')} {done}")
    if aside := await frontier.control.aside():
        print(
            f"{several(aside, 'request')} of paused runs not met: `scrapy control resume` such a run, then repeat this"
        )
    return total > 0


def _target(run: Run | None, opts: argparse.Namespace) -> Target:
    try:
        pattern = lua_pattern(opts.url) if opts.url else ""
    except ValueError as error:
        raise ConfigError("--url", opts.url, str(error).removeprefix("expected ")) from None
    spider = run.spider if run else opts.spider
    return Target(spider, run.generation if run else "", opts.host, pattern)
