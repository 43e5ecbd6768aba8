"""A run's record and id: a crawl with a name and an end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Literal, Self

from msgpack.exceptions import UnpackException

from crawler.errors import ShoalError, clipped
from crawler.frontier.server.shards import unpack

State = Literal["open", "sealed", "finished", "cancelled"]
Overlap = Literal["refuse", "skip", "queue", "replace", "allow"]

_DAY: Final = 1_000_000  # runs per day
_RUN_GENERATION: Final = re.compile(r"\d{14}")
_ID: Final = re.compile(r"(\d{8})-(\d{1,6})")
_COUNTED: Final = ("accepted", "queued", "leased", "delayed", "done", "gone", "dead", "dropped")
_TEXTS: Final = ("id", "name", "spider", "generation", "producer", "key", "shares")
_REASONS: Final = ("dead:", "dropped:", "cut:")


class RunError(ShoalError):
    """A run cannot be opened, continued or awaited; *run* is the one in the way, if any."""

    def __init__(self, words: str, run: Run | None = None) -> None:
        super().__init__(words)
        self.run = run


class UnknownRunError(RunError):
    """There is no run with that id, or no longer: where it *was_there*, another may have its id by now."""

    def __init__(self, run_id: str, *, was_there: bool = False) -> None:
        unknown = f"there is no run {clipped(run_id)}: `scrapy runs` shows them"
        super().__init__(f"run {run_id} is lost: Redis was emptied, or has older data" if was_there else unknown)


class RunSkippedError(RunError):
    """Nothing was opened, as requested: a run of the same name is unfinished (`--overlap skip`)."""


@dataclass(frozen=True, slots=True)
class RunCounts:
    """The counts of a run's URLs: accepted = queued + leased + delayed + done + dead + dropped.

    *gone*: those of `done` that their site refuses for good (404, 410, ...). *dead_by*, *dropped_by*: how many for
    which reason. *cut_by*: links and pages that were out of scope, by rule; what was accepted before that was known is
    among those that were dropped. None is ever below 0.
    """

    accepted: int = 0
    queued: int = 0
    leased: int = 0
    delayed: int = 0
    done: int = 0
    gone: int = 0
    dead: int = 0
    dropped: int = 0
    dead_by: Mapping[str, int] = field(default_factory=dict)
    dropped_by: Mapping[str, int] = field(default_factory=dict)
    cut_by: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, counters: Mapping[str, int], base: Mapping[str, int]) -> Self:
        """The counts since the counters were *base*.

        Dead letters that went to another run since then are still dead as far as this one is concerned.
        """
        since = {name: counters.get(name, 0) - base.get(name, 0) for name in counters}
        for name in [name for name in since if name.partition(":")[0] == "retried"]:
            of = "dead" + name.removeprefix("retried")
            since[of] = since.get(of, 0) + since[name]
        since["accepted"] = since.get("accepted", 0) + since.get("retried", 0)
        known = {name: max(0, since.get(name, 0)) for name in _COUNTED}
        dead_by, dropped_by, cut_by = (_reasons(since, prefix) for prefix in _REASONS)
        return cls(**known, dead_by=dead_by, dropped_by=dropped_by, cut_by=cut_by)

    @property
    def pending(self) -> int:
        """Unfinished requests."""
        return self.queued + self.leased + self.delayed

    def stored(self) -> dict[str, int]:
        """As counters of a generation, for `of`."""
        reasons = {f"dead:{name}": count for name, count in self.dead_by.items()}
        reasons |= {f"dropped:{name}": count for name, count in self.dropped_by.items()}
        reasons |= {f"cut:{name}": count for name, count in self.cut_by.items()}
        return {name: getattr(self, name) for name in _COUNTED} | reasons


@dataclass(frozen=True, slots=True)
class Run:
    """A crawl with a name; times in ms of the frontier's clock, 0 if not yet.

    *generation* belongs to this run alone, and `Message.generation` makes a push a part of it; but for a run that was
    opened by a plain start or by start URLs in their key (*base* is what its generation's counters were then). *fresh*:
    every URL is crawled once more; else the run *shares* the fingerprints of another generation. *producer*: who opens
    it; *key*: what for, told by nobody else.
    """

    id: str
    name: str
    spider: str
    generation: str
    state: State
    opened_ms: int
    sealed_ms: int = 0
    ended_ms: int = 0
    cancelled_ms: int = 0
    producer: str = ""
    key: str = ""
    fresh: bool = False
    shares: str = ""
    counts: RunCounts = field(default_factory=RunCounts)
    base: Mapping[str, int] = field(default_factory=dict, repr=False)
    quiet_ms: int = field(default=0, compare=False)  # since something was pushed to it or done; 0 once it is over
    asked: int = field(default=0, repr=False, compare=False)  # how often a worker with a lease asked for it

    @property
    def is_over(self) -> bool:
        """Whether it has ended, for good."""
        return self.state in {"finished", "cancelled"}

    @property
    def shown_state(self) -> str:
        """Its state as a person reads it: a cancelled run ends once nothing of it is leased."""
        return "ending" if self.cancelled_ms and not self.is_over else self.state

    @property
    def is_plain(self) -> bool:
        """Whether it uses the generation of plain starts and start URLs."""
        return not is_run_generation(self.generation)

    def counted(self, counters: Mapping[str, int], quiet_ms: int = 0) -> Run:
        """This run with counts from its generation's counters, unless it has ended."""
        return self if self.is_over else replace(self, counts=RunCounts.of(counters, self.base), quiet_ms=quiet_ms)

    def told(self) -> str:
        """Its outcome as one readable line."""
        counts = self.counts
        words = [f"{counts.done:,} done" + (f" ({counts.gone:,} gone)" if counts.gone else "")]
        words += [f"{count:,} {name}" for name in ("dead", "dropped") if (count := getattr(counts, name))]
        if counts.pending:
            words.append(f"{counts.pending:,} to do")
        cut_by = dict(counts.cut_by)
        if cut_by.pop("budget", 0):
            words.append("its budget is spent")
        if cut_by:
            rules = sorted(cut_by.items(), key=lambda one: (-one[1], one[0]))
            words.append("out of scope: " + ", ".join(f"{rule} {count:,}" for rule, count in rules))
        return f"run {self.id} {self.state}: {', '.join(words)} ({' '.join(filter(None, (self.spider, self.name)))})"


def read_run(raw: bytes) -> Run | None:
    """Decode a script's record; None for anything else."""
    try:
        row: dict[bytes, Any] = unpack(raw)
        state: Any = row[b"state"].decode()
        texts: dict[str, Any] = {name: row[name.encode()].decode() for name in _TEXTS}
        return Run(
            state=state,
            opened_ms=int(row[b"opened"]),
            sealed_ms=int(row[b"sealed"]),
            ended_ms=int(row[b"ended"]),
            cancelled_ms=int(row.get(b"cancelled", 0)),
            fresh=bool(row[b"fresh"]),
            counts=RunCounts.of(_counters(row[b"counts"]), {}),
            base=_counters(row[b"base"]),
            asked=int(row.get(b"asked", 0)),
            **texts,
        )
    except (ValueError, KeyError, AttributeError, TypeError, OverflowError, UnpackException):
        return None


def is_run_generation(generation: str) -> bool:
    """Whether *generation* belongs to one run alone."""
    return _RUN_GENERATION.fullmatch(generation) is not None


@lru_cache(maxsize=1_000)  # asked for each lease
def run_id_of(generation: str) -> str:
    """The id of the run that owns the generation; "" for a shared one."""
    if not is_run_generation(generation):
        return ""
    day, number = divmod(int(generation), _DAY)
    return f"{day}-{number}"


def generation_of(run_id: str) -> str:
    """The generation of a run that owns one; raises RunError for an invalid id."""
    if (match := _ID.fullmatch(run_id)) is None:
        raise RunError(f"{run_id!r:.80} is not a run: expected an id like 20261122-1, `scrapy runs` shows them")
    return str(int(match[1]) * _DAY + int(match[2]))


def is_counted(name: str) -> bool:
    """Whether a generation's field is a counter of runs."""
    return name in _COUNTED or name == "retried" or name.startswith((*_REASONS, "retried:"))


def _counters(row: object) -> dict[str, int]:
    if not isinstance(row, dict):
        return {}
    return {str(name, "utf-8", "replace"): int(count) for name, count in row.items()}


def _reasons(counters: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): count for name, count in counters.items() if name.startswith(prefix) and count > 0
    }
