"""What `scrapy schedule list` and `show` say of schedules, whatever stands in Redis."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from rich.table import Table

from crawler.commands.views.tables import narrow_table
from crawler.frontier.state.schedules import Tick, Timetable
from crawler.policy.schedules import Cron, Timing, following, spoken, zone_of
from crawler.producers.schedule import Schedule, ScheduleError
from crawler.producers.ticks import Progress


def table(seen: Timetable) -> Table:
    """One row per schedule; what is long goes on below, whole."""
    shown = narrow_table("", ["name", "spider", "source", "when", "next", "last"], [])
    for name in sorted(seen.definitions):
        one = told(seen, name)
        row = (
            one["spider"],
            one["source"],
            one["when"],
            one["next"] or one["state"],
            one["error"] or last_words(one["last"]),
        )
        shown.add_row(*(str(cell) for cell in (name, *row)))
    return shown


def ticks_of(seen: Timetable, name: str) -> list[Tick]:
    """Those that are to be run."""
    return [tick for tick in seen.ticks if tick.name == name]


def told(seen: Timetable, name: str) -> dict[str, Any]:
    """All that is known of a schedule, for people and for scripts."""
    one: dict[str, Any] = {"name": name, "spider": "", "source": "", "when": "", "next": "", "state": ""}
    waiting = {tick.epoch: Progress.read(tick.state) for tick in ticks_of(seen, name)}
    one["error"] = next((progress.error for progress in waiting.values() if progress.error), "")
    try:
        schedule = Schedule.read(name, seen.definitions[name])
        one |= {"spider": schedule.spider, "source": str(schedule.source), "when": _timing_words(schedule.timing)}
        one |= {"missed": schedule.missed, "overlap": schedule.overlap}
        one |= {
            "priority": schedule.priority,
            "tier": schedule.tier,
            "scope": schedule.scope,
            "state": "paused" if schedule.paused else "",
        }
        cursor = seen.cursors.get(name, "")
        if not schedule.paused and cursor.isdecimal():
            one["next"] = when(schedule.timing, following(schedule.timing, int(cursor)))
    except ScheduleError as error:
        one |= {"state": "unreadable", "error": str(error)}
    one["passed_over"] = int(seen.missed.get(name, "0")) if seen.missed.get(name, "0").isdecimal() else 0
    one["waiting"] = [
        {"epoch": epoch, "run": progress.run, "pushed": progress.pushed} for epoch, progress in waiting.items()
    ]
    one["last"] = _outcome(seen.last.get(name, ""))
    return one


def lines(one: dict[str, Any]) -> Iterator[str]:
    """What `show` says of *one*, as `told` tells it, but for what is empty."""
    waiting = (f"tick {each['epoch']} ({each['pushed']} pushed to run {each['run'] or '-'})" for each in one["waiting"])
    last = f"{last_words(one['last'])}, ended {_moment(one['last'].get('ended'))}" if one["last"] else ""
    for key, value in (one | {"waiting": ", ".join(waiting), "last": last}).items():
        if value not in ("", {}, None):
            yield f"{key.replace('_', ' '):<11} {json.dumps(value) if isinstance(value, dict) else value}"


def _moment(text: Any) -> Any:
    """ISO 8601 as a person reads it; what is none, as it stands in Redis."""
    try:
        return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (TypeError, ValueError, OverflowError):
        return text or "-"


def _outcome(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def last_words(outcome: dict[str, Any]) -> str:
    """How a tick ended."""
    if not outcome:
        return "-"
    refused_lines = f", {outcome['refused']} refused" if outcome.get("refused") else ""
    return str(outcome.get("words") or f"run {outcome.get('run')}: {outcome.get('pushed', 0)} pushed{refused_lines}")


def _timing_words(timing: Timing) -> str:
    return f"{timing.expression} {timing.zone}" if isinstance(timing, Cron) else f"every {spoken(timing.seconds)}"


def when(timing: Timing, epoch: int | None) -> str:
    """*epoch* in the time zone of *timing*."""
    zone = zone_of(timing.zone) if isinstance(timing, Cron) else UTC
    try:
        return "never" if epoch is None else f"{datetime.fromtimestamp(epoch, zone):%Y-%m-%d %H:%M:%S %Z}"
    except (OverflowError, ValueError):  # a damaged cursor: the leader starts it anew
        return "never"
