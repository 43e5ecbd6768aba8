"""Budgets and opening hours: workers state them, Redis counts what is spent."""

from __future__ import annotations

import struct
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from crawler.frontier.run_record import run_id_of
from crawler.frontier.script_constants import STATED_MS
from crawler.frontier.server.shards import Shards, groups
from crawler.utils.durations import in_words

_TERMS: Final = struct.Struct("<7d")  # same layout as in lua/lib/limits/budgets.lua
_USED: Final = struct.Struct("<4d")
_SPAN: Final = struct.Struct("<2d")
MILLION: Final = 1_000_000
AT_ONCE: Final = 200  # budgets per call
KINDS: Final = {"requests": "requests", "bytes": "bytes", "browser": "browser seconds", "cost": "cost"}


@dataclass(frozen=True, slots=True)
class Terms:
    """A budget of one day: *name* is `d:<domain>`, `*` (each other host), `s:<spider>`, `r:<spider>:<generation>`, or
    `v:<host>`: the hours of its robots.txt.

    0 is unlimited; a *day* of (0, 0) never renews. A *lasting* budget holds without being stated again, others for
    *holds_ms*.
    """

    name: str
    day: tuple[int, int] = (0, 0)
    requests: float = 0
    size: float = 0  # bytes
    browser_ms: float = 0
    cost: float = 0
    windows: tuple[tuple[int, int], ...] = ()
    lasting: bool = False
    holds_ms: int = STATED_MS

    @property
    def is_shared(self) -> bool:
        """Whether hosts on several shards have it in common."""
        return self.name != "*" and any((self.requests, self.size, self.browser_ms, self.cost))

    def packed(self) -> bytes:
        """As the scripts read it."""
        most = (self.requests, self.size, self.browser_ms, self.cost * MILLION)
        return _TERMS.pack(0 if self.lasting else self.holds_ms, *self.day, *most) + b"".join(
            _SPAN.pack(*span) for span in self.windows
        )


class Closed(NamedTuple):
    """A budget that holds requests back: *what* is spent, or `hours`."""

    name: str
    what: str
    until_ms: int  # from now

    def concerns(self, spiders: Container[str]) -> bool:
        """Whether it may hold back requests of one of *spiders*: it is theirs, or that of hosts."""
        kind, _, whose = self.name.partition(":")
        return kind not in {"s", "r"} or whose.partition(":")[0] in spiders

    def governs(self, host: str, spider: str) -> bool:
        """Whether it holds back requests of *spider*, or of one of its runs, to *host*."""
        kind, _, whose = self.name.partition(":")
        if kind == "d":
            return f".{host}".endswith(f".{whose}")
        return {"*": host, "v": host, "s": spider, "r": spider}.get(kind) == (
            whose.partition(":")[0] if kind == "r" else whose
        )

    @property
    def is_of_run(self) -> bool:
        """Whether it is a run's own."""
        return self.name.startswith("r:")

    @property
    def told(self) -> str:
        """A description, without the time for which it lasts."""
        kind, _, whose = self.name.partition(":")
        if kind == "v":
            return f"the robots.txt of {whose} names the hours in which it may be visited"
        of = {"d": whose, "*": whose, "s": f"spider {whose}"}.get(kind, f"run {run_id_of(whose.rpartition(':')[2])}")
        if self.what == "hours":
            return f"{of} is outside the hours in which it may be visited"
        return f"the budget of {of} is spent ({KINDS.get(self.what, self.what)})"

    @property
    def lasts(self) -> str:
        """For how long: that of a run never renews (runs/spent_runs.py)."""
        if self.is_of_run:
            return "for good: what is left is dropped once its last pages have ended"
        return f"for {in_words(self.until_ms / 1000)} more"


class Share(NamedTuple):
    """The share of *what* that is spent, and the share of its day that has passed; both 0 to 1, or slightly more."""

    name: str
    what: str
    spent: float
    day: float


class Budgets:
    """The limits, what is spent, and which budgets hold requests back."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._stated: Sequence[Terms] = ()

    async def state(self, terms: Sequence[Terms]) -> None:
        """Set budgets; they hold for five minutes unless lasting."""
        self._stated = terms
        for rows in _rows(terms):
            await self._shards.run_all("budgets", *rows)

    async def state_again(self, shard: int) -> None:
        """Set what was set last on a shard that may have lost it."""
        for rows in _rows(self._stated):
            await self._shards.run("budgets", shard, *rows)

    async def charge(self, spent: Mapping[tuple[str, str, str], tuple[float, float, float]]) -> None:
        """Add bytes, browser ms and cost by host, spider and generation."""
        by_shard: dict[int, list[str | float]] = {}
        for (host, spider, generation), (size, browser_ms, cost) in spent.items():
            row = (host, spider, generation, size, browser_ms, round(cost * MILLION))
            by_shard.setdefault(self._shards.of_host(host), []).extend(row)
        for shard, rows in by_shard.items():
            await self._shards.run("charge", shard, *rows)

    async def closed(self, now_ms: int) -> list[Closed]:
        """The budgets that recently held a request back and still do, the first to renew first."""
        found: dict[str, Closed] = {}
        for key in self._shards.on_each("closed"):
            for name, raw in (await self._shards.client.hgetall(key)).items():
                at, _, what = raw.decode(errors="replace").partition(":")
                if at.isdecimal() and int(at) > now_ms:
                    text = name.decode(errors="replace")
                    found[text] = Closed(text, what, int(at) - now_ms)
        return sorted(found.values(), key=lambda one: (one.until_ms, one.name))

    async def shares(self, now_ms: int) -> list[Share]:
        """The shares of every budget in force, on all shards together, most spent first.

        The budget of every other host (`*`) is left out: each host has its own.
        """
        found: dict[tuple[str, str], Share] = {}
        for shard in range(self._shards.count):
            for one in await self._shares_of(shard, now_ms):
                before = found.get(one[:2])
                found[one[:2]] = one if before is None else one._replace(spent=before.spent + one.spent)
        return sorted(found.values(), key=lambda one: (-one.spent, one.name, one.what))

    async def _shares_of(self, shard: int, now_ms: int) -> list[Share]:
        client, days = self._shards.client, dict[float, dict[bytes, tuple[float, ...]]]()
        for name, raw in (await client.hgetall(self._shards.key(shard, "budgets"))).items():
            if len(raw) < _TERMS.size or name == b"*":
                continue
            until, begin, *terms = _TERMS.unpack_from(raw)
            if until == 0 or until > now_ms:
                days.setdefault(begin, {})[name] = tuple(terms)
        found: list[Share] = []
        for begin, stated in days.items():
            raws = await client.hmget(self._shards.key(shard, f"used:{begin:.0f}"), list(stated))
            for (name, (stop, *most)), raw in zip(stated.items(), raws, strict=True):
                used = _USED.unpack(raw) if raw and len(raw) == _USED.size else (0.0,) * 4
                day = (now_ms - begin) / (stop - begin) if stop > begin else 1.0
                text = name.decode(errors="replace")
                found += [
                    Share(text, what, spent / limit, day)
                    for what, spent, limit in zip(KINDS, used, most, strict=True)
                    if limit > 0
                ]
        return found


def _rows(terms: Sequence[Terms]) -> Iterator[list[str | bytes]]:
    """*terms* as lua/limits/budgets.lua takes them, some at a time."""
    for some in groups(terms, AT_ONCE):
        yield [part for one in some for part in (one.name, one.packed())]
