"""The run of a push: opened or continued when the push starts, sealed when everything is pushed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from secrets import token_hex
from types import TracebackType
from typing import Final, Self

from crawler.frontier.run_record import Overlap, Run, RunError
from crawler.frontier.runs.runs import Runs

PUSH: Final = "push"  # name of a push without run options: any number may run at once
RECRAWL: Final = "recrawl"
CONTINUED_MS: Final = 12 * 3_600_000  # the same push is taken for one that goes on, and no more for the next day's


@dataclass(frozen=True, slots=True)
class WantedRun:
    """Which run a push wants: *run_id* continues that one, else it opens one.

    *overlap* None: "refuse" for a push with a *name* and for a recrawl, which would silently repeat another one's URLs,
    "allow" for others. *same*: what tells the same push from others; one that was cut short not long ago is continued.
    "" for a push that cannot be told.
    """

    name: str = ""
    fresh: bool = False
    run_id: str = ""
    overlap: Overlap | None = None
    same: str = ""

    def __post_init__(self) -> None:
        if self.run_id and (self.name or self.fresh or self.overlap):
            raise RunError("--run continues a run as it was opened: leave out --name, --recrawl and --overlap")


class PushedRun:
    """The run is open within `async with`; it stays open after an error, or if `incomplete`."""

    def __init__(self, runs: Runs, spider: str, wanted: WantedRun) -> None:
        self._runs = runs
        self._spider = spider
        self._wanted = wanted
        self._run: Run | None = None
        self._is_sealed = False
        self._is_lost = False
        self.incomplete = False  # something found no room: push it again
        self.left_to = ""  # what seals it later

    @property
    def generation(self) -> str:
        """The generation of the push's messages."""
        assert self._run is not None
        return self._run.generation

    async def __aenter__(self) -> Self:
        """Raises RunError if the run cannot be opened or continued."""
        wanted = self._wanted
        if wanted.run_id:
            self._run = await self._resumed(wanted.run_id)
            return self
        if (cut_short := await self._cut_short()) is not None:
            self._run = await self._runs.resume(cut_short.id)
            return self
        named = bool(wanted.name or wanted.fresh)
        self._run = await self._runs.open(
            self._spider,
            name=self._name,
            fresh=wanted.fresh,
            producer=PUSH,
            key=f"{wanted.same} {token_hex(4)}" if wanted.same else "",
            overlap=wanted.overlap or ("refuse" if named else "allow"),
        )
        return self

    @property
    def _name(self) -> str:
        return self._wanted.name or (RECRAWL if self._wanted.fresh else PUSH)

    async def _cut_short(self) -> Run | None:
        """The run of the same push that nobody has sealed; of one that is still under way, too: both push the same."""
        if not self._wanted.same or self._wanted.overlap:
            return None
        _, live = await self._runs.unfinished()
        since = time.time() * 1000 - CONTINUED_MS
        same = (self._spider, PUSH, self._name, self._wanted.fresh, self._wanted.same, "open")
        found = [run for run in live if (run.spider, run.producer, *_told(run), run.state) == same]
        return max((run for run in found if run.opened_ms > since), key=lambda run: run.opened_ms, default=None)

    async def _resumed(self, run_id: str) -> Run:
        run = await self._runs.get(run_id)
        if run is not None and run.spider != self._spider:
            raise RunError(f"run {run_id} is of {run.spider}, not of {self._spider}", run)
        if run is not None and run.is_plain:
            raise RunError(f"run {run_id} takes its URLs from {self._spider}'s start requests or start-URLs key", run)
        return await self._runs.resume(run_id)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._run is not None
        if kind is None and not self.incomplete and not self.left_to:
            await self._seal(self._run)
            await self._runs.settle()  # if nothing was new it has finished

    async def _seal(self, run: Run) -> None:
        if await self._runs.seal_seen(run) is None:
            self._is_lost = True
            raise RunError(
                f"Redis has lost run {run.id} since this push began, and what was pushed to it: push the same again"
            )
        self._is_sealed = True

    def told(self) -> str:
        """The run, for the push's summary; "" if none was opened."""
        if self._run is None:
            return ""
        name = f"run {self._run.id}"
        if self._is_sealed or self._is_lost:
            return name
        if self.left_to and not self.incomplete:
            return f"{name}, which ends after {self.left_to}"
        return (
            f"{name}, still open: push the same again, with --run {self._run.id}, or `scrapy runs seal {self._run.id}`"
        )


def _told(run: Run) -> tuple[str, bool, str]:
    return run.name, run.fresh, run.key.partition(" ")[0]
