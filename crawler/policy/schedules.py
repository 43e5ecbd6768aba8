"""When a schedule ticks, and which of its ticks are run.

A tick is identified by its epoch: the second (Unix time) at which it is due. A schedule's epochs depend only on its
timing, so that every observer finds the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, islice, takewhile
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

Missed = Literal["once", "all", "none"]
MISSED: Final[tuple[Missed, ...]] = ("once", "all", "none")
SHORTEST_S: Final = 1  # between two ticks
LONGEST_S: Final = 366 * 86_400
LATE_S: Final = 60  # a later tick counts as missed: longer than another replica needs to take over
MOST: Final = 500  # ticks per decision
LAST_S: Final = 32_503_680_000  # the year 3000: nothing ticks after it
_NICKNAMES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_SPAN: Final = re.compile(r"([0-9]{1,9})([smhdw])")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class Interval:
    """Every *seconds* from *anchor* (Unix time) on, independent of time zones."""

    seconds: int
    anchor: int

    def __post_init__(self) -> None:
        if not SHORTEST_S <= self.seconds <= LONGEST_S:
            raise ValueError(f"an interval from {SHORTEST_S} s to {LONGEST_S // 86_400} days")

    def epochs(self, after: int) -> Iterator[int]:
        """All epochs later than *after*, in order."""
        first = max(1, (after - self.anchor) // self.seconds + 1)
        return (self.anchor + number * self.seconds for number in count(first))


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression of five fields in the time zone *zone* (its IANA name).

    When clocks go forward, ticks of the skipped hour come right after it; when they go back, ticks with a fixed hour
    come once and hourly or more frequent ones continue. As in Debian's cron.
    """

    expression: str
    zone: str

    def __post_init__(self) -> None:
        if len(self.fields.split()) != 5:
            raise ValueError("five fields (minute hour day month weekday) such as '0 3 * * *', or @daily")
        try:
            next(self._after(datetime(2000, 1, 1, tzinfo=zone_of(self.zone))))
        except CronSimError as error:
            raise ValueError(f"a cron expression such as '0 3 * * *' ({str(error).lower()})") from None
        except StopIteration:
            raise ValueError("a date that exists") from None

    @property
    def fields(self) -> str:
        """The expression without nicknames."""
        return _NICKNAMES.get(self.expression.strip().lower(), self.expression)

    def epochs(self, after: int) -> Iterator[int]:
        """All epochs later than *after*, in order."""
        if after >= LAST_S:
            return iter(())
        start = datetime.fromtimestamp(after, UTC).astimezone(zone_of(self.zone))
        return (int(moment.timestamp()) for moment in self._after(start))

    def _after(self, start: datetime) -> Iterator[datetime]:
        return CronSim(self.fields, start)


Timing = Interval | Cron


@dataclass(frozen=True, slots=True)
class TickDecision:
    """*run*: epochs whose ticks are to be run. *passed_over*: how many missed ones are not run. *cursor*: the last
    decided epoch. *more*: another decision is due at once."""

    run: tuple[int, ...]
    passed_over: int
    cursor: int
    more: bool = False


def decide(timing: Timing, missed: Missed, cursor: int, now: int, most: int = MOST) -> TickDecision:
    """Decide on the epochs after *cursor* that are due at *now*, at most *most* of them.

    A tick is missed if it is later than LATE_S. Of several due ones "once" runs the last, "all" each of them, "none"
    those that are not missed. A clock that goes back makes nothing due twice: *cursor* stays.
    """
    due = list(islice(takewhile(lambda epoch: epoch <= now, timing.epochs(cursor)), most + 1))
    due, more = due[:most], len(due) > most
    if not due:
        return TickDecision((), 0, cursor)
    match missed:
        case "all":
            run = due
        case "once":
            run = [] if more else due[-1:]
        case "none":
            run = [epoch for epoch in due if epoch > now - LATE_S]
    return TickDecision(tuple(run), len(due) - len(run), due[-1], more)


def following(timing: Timing, after: int) -> int | None:
    """The first epoch after *after*; None if there is none for 50 years."""
    return next(timing.epochs(after), None)


# "posix" and "right" (with leap seconds) are directories that many machines do not have.
_OWN_OF_A_MACHINE: Final = frozenset({"Factory", "localtime", "posix", "posixrules", "right"})


def zone_of(name: str) -> ZoneInfo:
    """The time zone of that IANA name; raises ValueError."""
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # unknown, a directory of zones, or a path outside them
        raise ValueError("the name of a time zone such as Europe/Berlin") from None


def check_zone(name: str) -> None:
    """Raise ValueError for a name that is no time zone, or another one on each machine that may lead."""
    zone_of(name)
    if name.partition("/")[0] in _OWN_OF_A_MACHINE:
        raise ValueError("a zone that is the same on every machine, such as Europe/Berlin")


def span(text: str) -> int:
    """`90s`, `15m`, `12h`, `7d` or `2w` in seconds; raises ValueError."""
    if (match := _SPAN.fullmatch(text.strip())) is None:
        raise ValueError("a number of s, m, h, d or w, such as 15m, 12h or 7d")
    return int(match[1]) * _UNITS[match[2]]


def spoken(seconds: int) -> str:
    """*seconds* in the form that `span` reads, in the largest exact unit."""
    unit, size = next((unit, size) for unit, size in reversed(_UNITS.items()) if seconds % size == 0)
    return f"{seconds // size}{unit}"
