"""Schedules and their ticks in Redis; definitions and ticks are opaque here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from crawler.frontier.script_constants import REMOVED
from crawler.frontier.server.shards import Shards
from crawler.frontier.state.leader import DeposedError

MOST: Final = 1_000  # schedules: a leader reads all of them every second
_TOLD_BACK: Final = "surrogateescape"  # what is no UTF-8 stays what it is
OUT_OF_TURN: Final = "now-"  # prefix of such ticks' epochs


class TooManyError(Exception):
    """There are MOST schedules already."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick to be run, of the schedule *name*, identified by its *epoch*."""

    name: str
    epoch: str
    state: str = field(default="{}", compare=False)  # its progress

    @property
    def order(self) -> tuple[str, bool, int]:
        """Sort key: by schedule, earliest first, manual ones last."""
        number = self.epoch.removeprefix(OUT_OF_TURN)
        return self.name, number != self.epoch, int(number) if number.isdecimal() else 0

    @property
    def due_s(self) -> int:
        """When it is due, in Unix seconds."""
        _, is_out_of_turn, number = self.order
        return number // 1_000 if is_out_of_turn else number

    @property
    def id(self) -> str:
        """The key of its run, which it keeps where its schedule is removed."""
        return f"{self.name.removesuffix(REMOVED)}:{self.epoch}"


@dataclass(frozen=True, slots=True)
class Timetable:
    """A snapshot of all schedules, by name. *clock_ms*: the server's own clock, which may go back. *leader*: the
    leading replica of `scrapy serve`, "" for none."""

    clock_ms: int
    leader: str
    definitions: dict[str, str]
    cursors: dict[str, str]
    missed: dict[str, str]
    last: dict[str, str]
    ticks: list[Tick]


class Schedules:
    """Each change is one script; a leader's changes carry its token and raise DeposedError if another leads now."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def look(self) -> Timetable:
        """Everything known of schedules."""
        clock, leader, *hashes, ticks = await self._shards.run("schedules", 0)
        definitions, cursors, missed, last = map(_texts, hashes)
        ids = [(id_.split(":"), state) for id_, state in _texts(ticks, _TOLD_BACK).items()]
        found = [Tick(parts[0], parts[1], state) for parts, state in ids if len(parts) == 2]
        holder = leader.decode(errors="replace")
        return Timetable(int(clock), holder, definitions, cursors, missed, last, found)

    async def put(self, name: str, before: str, after: str, *, cursor: int | None = None) -> bool:
        """Replace the definition *before* ("": none) by *after* ("": none); False if it has changed meanwhile.

        With *cursor*, epochs up to it never tick. Raises TooManyError.
        """
        done = await self._shards.run("schedule_put", 0, name, before, after, "" if cursor is None else cursor, MOST)
        if done < 0:
            raise TooManyError
        return bool(done)

    async def claim(
        self, token: int, name: str, definition: str, before: str, cursor: int, passed_over: int, run: Sequence[int]
    ) -> bool:
        """Decide on a schedule's epochs from cursor *before* up to *cursor*: those in *run* become ticks.

        False, without a change, if another one decided or the schedule was changed. Raises DeposedError.
        """
        row: tuple[str | int, ...] = (token, name, definition, before, cursor, passed_over, *run)
        return _unless_deposed(await self._shards.run("schedule_claim", 0, *row))

    async def run(self, name: str) -> str | None:
        """Add a manual tick; returns its epoch, or None without such a schedule."""
        epoch = await self._shards.run("schedule_run", 0, name)
        return epoch.decode() if epoch else None

    async def save(self, token: int, tick: Tick, state: str) -> Tick | None:
        """Save a tick's progress; the tick as it is then, None if it has ended. Raises DeposedError, also where Redis
        has another progress than *tick*."""
        return replace(tick, state=state) if await self._save(token, tick, state, "") else None

    async def end(self, token: int, tick: Tick, outcome: str) -> bool:
        """End a tick with *outcome*; False if it had ended. Raises DeposedError, as `save`."""
        return await self._save(token, tick, "", outcome)

    async def _save(self, token: int, tick: Tick, state: str, outcome: str) -> bool:
        row = (token, tick.name, tick.epoch, tick.state.encode(errors=_TOLD_BACK), state, outcome)
        return _unless_deposed(await self._shards.run("tick_save", 0, *row))


def _unless_deposed(answer: int) -> bool:
    if answer < 0:
        raise DeposedError
    return bool(answer)


def _texts(flat: Sequence[bytes], errors: str = "replace") -> dict[str, str]:
    names = [part.decode(errors="replace") for part in flat[::2]]
    return dict(zip(names, [part.decode(errors=errors) for part in flat[1::2]], strict=True))
