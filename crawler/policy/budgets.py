"""Daily budgets and opening hours: what they allow, and when they renew. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from crawler.policy.toml_values import BadValueError, integer, number, table

DAYS_AHEAD: Final = 3  # of opening hours, stated in advance
MOST: Final = 10**12
_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)")

Span = tuple[int, int]  # Unix ms, end excluded


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent per day in *time_zone*; 0 is unlimited. *hours* are minutes of the day; none means any time."""

    requests: int = 0
    mb: float = 0.0  # received, in units of 1,000,000 bytes
    browser_seconds: float = 0.0
    cost: float = 0.0  # of proxies and APIs, in the currency of their prices
    hours: tuple[tuple[int, int], ...] = ()
    time_zone: str = "UTC"

    def day(self, now_ms: int) -> Span:
        """The day that contains *now_ms*, midnight to midnight: 23 or 25 hours long when clocks change."""
        today = self._local(now_ms).date()
        return self._at(today, 0), self._at(today + timedelta(days=1), 0)

    def windows(self, now_ms: int) -> tuple[Span, ...]:
        """The opening hours from yesterday on, since an evening's may extend past midnight."""
        if not self.hours:
            return ()
        today = self._local(now_ms).date()
        spans = [
            (self._at(today + timedelta(days=day), opens), self._at(today + timedelta(days=day), closes))
            for day in range(-1, DAYS_AHEAD)
            for opens, closes in self.hours
        ]
        return tuple(sorted((opens, closes) for opens, closes in spans if opens < closes))

    def _local(self, now_ms: int) -> datetime:
        return datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(ZoneInfo(self.time_zone))

    def _at(self, day: date, minutes: int) -> int:
        """A time that clocks skip counts as the next one, a time that they show twice as the first."""
        days, minutes = divmod(minutes, 1440)
        local = datetime.combine(
            day + timedelta(days=days), time(minutes // 60, minutes % 60), ZoneInfo(self.time_zone)
        )
        return round(local.timestamp() * 1000)


def read_budget(raw: Any) -> Budget:
    """A table of budgets; raises BadValueError."""
    return Budget(**table(raw, _READERS))


def _hours(raw: Any) -> tuple[tuple[int, int], ...]:
    return tuple(_span(one) for one in (raw if isinstance(raw, list | tuple) else [raw]))


def _span(raw: Any) -> tuple[int, int]:
    match = _HOURS.fullmatch(raw) if isinstance(raw, str) else None
    minutes = [int(part) for part in match.groups()] if match else [0, 0, 0, 0]
    opens, closes = 60 * minutes[0] + minutes[1], 60 * minutes[2] + minutes[3]
    if opens == closes or closes > 1440:
        raise BadValueError(raw, 'hours such as "22:00-06:00" or ["00:00-07:30", "20:00-24:00"]')
    return opens, closes if closes > opens else closes + 1440


def _zone(raw: Any) -> str:
    wrong = BadValueError(raw, 'a time zone such as "Europe/Berlin"')
    if not isinstance(raw, str) or not raw:
        raise wrong
    try:
        ZoneInfo(raw)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise wrong from None
    return raw


_READERS: Final[MappingProxyType[str, Callable[[Any], Any]]] = MappingProxyType(
    {
        "requests": integer(0, MOST),
        "mb": number(0, MOST),
        "browser_seconds": number(0, MOST),
        "cost": number(0, MOST),
        "hours": _hours,
        "time_zone": _zone,
    }
)
