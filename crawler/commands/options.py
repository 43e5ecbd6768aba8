"""What several commands are asked for: a host, a number within bounds, a time."""

from __future__ import annotations

import argparse
import contextlib
import re
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from scrapy.exceptions import UsageError

from crawler.errors import ShoalError

_HOST = re.compile(r"[a-z0-9._-]{1,255}")
_AGO = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def host_name(value: str) -> str:
    """The form in which hosts are stored (lower case, IDNA), nothing for nothing; for an option's `type`."""
    if not value:
        return ""  # the default: any
    host = value.strip().lower().rstrip(".")
    with contextlib.suppress(ValueError):
        return str(ip_address(host.strip("[]")))
    with contextlib.suppress(UnicodeError):
        if _HOST.fullmatch(ascii_host := host.encode("idna").decode("ascii")):
            return ascii_host
    raise argparse.ArgumentTypeError(f"{value!r} is no host name: write shop.example, without scheme, port and path")


def in_range(option: str, value: int, low: int, high: int) -> None:
    """Raise UsageError when *value* of *option* is out of range."""
    if not low <= value <= high:
        raise UsageError(f"{option} {value} is out of range: {low} to {high}", print_help=False)


def parse_since(value: str, now: datetime) -> datetime:
    """`2026-01-31`, `2026-01-31T08:00+01:00` (UTC without a zone), or `12h` before the aware time *now*; in UTC."""
    with contextlib.suppress(ValueError, OverflowError):  # neither an hour 25 nor a year 0 or 10000
        if match := _AGO.fullmatch(value.strip()):
            return now - timedelta(**{_UNITS[match[2]]: int(match[1])})
        moment = datetime.fromisoformat(value.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    raise ShoalError(f"--since {value!r} is no time: write 2026-01-31, 2026-01-31T08:00, 90m, 12h or 7d")
