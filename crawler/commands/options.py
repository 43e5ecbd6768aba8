"""Options that several commands share: none is empty or given twice; a host, an integer in a range, a time; a verb."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Any

from scrapy.exceptions import UsageError

from crawler.errors import ConfigError, clipped, shown

_HOST = re.compile(r"[a-z0-9._-]{1,255}")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_AGO = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class OneValue(argparse.Action):
    """Stores an option's value, but not an empty one: of a variable that is not set, say, it would mean any host or
    spider, and drop more than was asked for. Nor a second one: of two runs the first would be left out in silence."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if values == "":
            raise argparse.ArgumentError(self, f"'' is invalid: expected a value, or no {option} at all")
        if getattr(namespace, self.dest) != self.default:
            raise argparse.ArgumentError(
                self, f"{shown(values)} is invalid: expected one value, {option} is given twice"
            )
        setattr(namespace, self.dest, values)


def host_name(value: str) -> str:
    """For an option's `type`: the host as it is stored (lower case, IDNA); empty stays empty."""
    if not value:
        return ""  # the default: any
    host = value.strip().lower().rstrip(".")
    with contextlib.suppress(ValueError):
        return str(ip_address(host.strip("[]")))
    with contextlib.suppress(UnicodeError):
        if _HOST.fullmatch(ascii_host := host.encode("idna").decode("ascii")):
            return ascii_host
    raise argparse.ArgumentTypeError(
        f"{shown(value)} is invalid: expected a host name such as shop.example, without scheme, port or path"
    )


def integer(low: int, high: int) -> Callable[[str], int]:
    """For an option's `type`: an integer from *low* to *high*."""

    def number(text: str) -> int:
        if not _INTEGER.fullmatch(text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{shown(text)} is invalid: expected an integer from {low} to {high}")
        return int(text)

    return number


def named(text: str) -> tuple[str, str]:
    """For an option's `type`: NAME=VALUE."""
    name, mark, value = text.partition("=")
    if not mark:
        raise argparse.ArgumentTypeError(f"{shown(text)} is invalid: expected NAME=VALUE")
    return name, value


def one_of(args: Sequence[str], verbs: Sequence[str]) -> str:
    """The one argument, which is one of *verbs*; raises UsageError for anything else."""
    if len(args) != 1 or args[0] not in verbs:
        raise UsageError(f"expected one of {', '.join(verbs)}, got: {clipped(' '.join(args)) or 'nothing'}")
    return args[0]


def parse_since(value: str, now: datetime) -> datetime:
    """`2026-01-31`, `2026-01-31T08:00+01:00` (UTC without a zone), or `12h` before the aware time *now*; in UTC."""
    with contextlib.suppress(ValueError, OverflowError):  # an hour 25, a year 0 or 10000
        if match := _AGO.fullmatch(value.strip()):
            return now - timedelta(**{_UNITS[match[2]]: int(match[1])})
        moment = datetime.fromisoformat(value.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    raise ConfigError("--since", value, "a time such as 2026-01-31, 2026-01-31T08:00, 90m, 12h or 7d")
