"""The definition of a schedule, and its stored form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, Self, get_args

from crawler.errors import ShoalError, shown
from crawler.frontier.messages import MAX_PRIORITY
from crawler.frontier.run_record import Overlap
from crawler.policy.schedules import MISSED, Cron, Interval, Missed, Timing
from crawler.policy.tiers import TIERS
from crawler.urls import without_credentials

VERSION: Final = 1
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
MAX_URLS: Final = 100
SourceKind = Literal["urls", "file", "known", "sitemap", "robots", "due"]
_SOURCE_WORDS: Final[Mapping[SourceKind, str]] = {
    "urls": "",
    "file": "file ",
    "known": "known documents of ",
    "sitemap": "sitemap ",
    "robots": "sitemaps of ",
    "due": "documents that are due, visits a day: ",
}
_OF_URLS: Final = frozenset({"urls", "sitemap", "robots"})
SOURCES: Final[tuple[SourceKind, ...]] = get_args(SourceKind)
OVERLAPS: Final[tuple[Overlap, ...]] = ("skip", "queue", "replace", "allow")


class ScheduleError(ShoalError):
    """An invalid schedule: names the field, its value and what is expected."""


@dataclass(frozen=True, slots=True)
class ScheduleSource:
    """Where the URLs of each run come from: *values* are URLs, one file or s3:// URL (CSV with a *column*), a host
    whose stored documents are crawled again, sitemaps, or sites whose robots.txt names some.

    User and password are cut off the URLs. *include* and *exclude* are patterns for pages of sitemaps; *changed_only*
    skips sitemaps with the same lastmod as before.
    """

    kind: SourceKind
    values: tuple[str, ...]
    column: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    changed_only: bool = False

    def __post_init__(self) -> None:
        if self.kind in _OF_URLS:
            object.__setattr__(self, "values", tuple(map(without_credentials, self.values)))

    @property
    def is_sitemaps(self) -> bool:
        """Whether workers read the sources, and seal the run when they have."""
        return self.kind in {"sitemap", "robots"}

    def __str__(self) -> str:
        words = _SOURCE_WORDS[self.kind] + ", ".join(self.values)
        return words + (f", column {self.column}" if self.column else "")

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Self:
        """Decode the stored form; raises KeyError, TypeError or ValueError for anything else."""
        texts = {name: tuple(map(str, fields.get(name, ()))) for name in ("values", "include", "exclude")}
        column, changed_only = str(fields.get("column", "")), bool(fields.get("changed_only"))
        return cls(fields["kind"], column=column, changed_only=changed_only, **texts)


@dataclass(frozen=True, slots=True)
class Schedule:
    """What to crawl and when; *scope*: that of its runs, as JSON. Raises ScheduleError for invalid values."""

    name: str
    spider: str
    source: ScheduleSource
    timing: Timing
    missed: Missed = "once"
    overlap: Overlap = "skip"
    priority: int = 0
    tier: str = ""
    scope: str = ""
    paused: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.spider, str) or not self.spider:
            raise refused("spider", self.spider, "its name")
        if not NAME.fullmatch(self.name):
            raise refused("name", self.name, "1 to 64 of a-z, 0-9, - and _, the first a letter or digit")
        for what, value, allowed in (
            ("missed", self.missed, MISSED),
            ("overlap", self.overlap, OVERLAPS),
            ("source", self.source.kind, SOURCES),
            ("tier", self.tier or TIERS[0], TIERS),
        ):
            if value not in allowed:
                raise refused(what, value, f"one of {', '.join(allowed)}")
        if not -MAX_PRIORITY <= self.priority <= MAX_PRIORITY:
            raise refused("priority", self.priority, f"an integer from -{MAX_PRIORITY} to {MAX_PRIORITY}")
        if self.source.kind == "due" and not all(value.isdecimal() for value in self.source.values):
            raise refused("source", self.source.values, "visits a day")
        if not 1 <= len(self.source.values) <= (1 if self.source.kind in {"file", "known", "due"} else MAX_URLS):
            raise refused("source", len(self.source.values), f"1 to {MAX_URLS} URLs, or one file or host")

    def text(self) -> str:
        """The stored form."""
        fields = asdict(self) | {"timing": _timing_fields(self.timing), "version": VERSION}
        del fields["name"]
        return json.dumps(fields, sort_keys=True)

    @classmethod
    def read(cls, name: str, text: str) -> Self:
        """Decode the schedule stored under *name*; raises ScheduleError for anything that Shoal did not write."""
        try:
            fields = json.loads(text)
            if fields.pop("version") > VERSION:
                raise ScheduleError(f"schedule {name} was written by a newer release: upgrade this one, or remove it")
            source = ScheduleSource.read(fields["source"])
            return cls(**fields | {"name": name, "source": source, "timing": _timing(fields["timing"])})
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            words = f"schedule {name} cannot be read ({type(error).__name__}): `scrapy schedule remove {name}`"
            raise ScheduleError(words) from None


def refused(what: str, value: object, expected: str) -> ScheduleError:
    """The error for an invalid *value*."""
    return ScheduleError(f"{what} = {shown(value)} is invalid: expected {expected}")


def _timing_fields(timing: Timing) -> dict[str, Any]:
    return {"kind": "cron" if isinstance(timing, Cron) else "interval"} | asdict(timing)


def _timing(fields: Mapping[str, Any]) -> Timing:
    if fields["kind"] == "cron":
        return Cron(str(fields["expression"]), str(fields["zone"]))
    return Interval(int(fields["seconds"]), int(fields["anchor"]))
