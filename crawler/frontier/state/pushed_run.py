"""The run that a push belongs to: opened or continued when it begins, sealed when it has pushed everything."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from crawler.frontier.state.runs import Overlap, Run, RunError, Runs

PUSH: Final = "push"  # name of a push that says nothing of runs: any number of them may be under way
RECRAWL: Final = "recrawl"


@dataclass(frozen=True, slots=True)
class WantedRun:
    """Which run a push wants: *run_id* continues that one, else it opens one.

    *overlap* None: "refuse" for a push with a *name* and for a recrawl, which would go over the URLs of another one
    unnoticed, "allow" for others.
    """

    name: str = ""
    fresh: bool = False
    run_id: str = ""
    overlap: Overlap | None = None

    def __post_init__(self) -> None:
        if self.run_id and (self.name or self.fresh or self.overlap):
            raise RunError("--run continues a run as it was opened: leave out --name, --recrawl and --overlap")


class PushedRun:
    """Within `async with` the run is open; one that an error, or `incomplete`, cuts short stays so."""

    def __init__(self, runs: Runs, spider: str, wanted: WantedRun) -> None:
        self._runs = runs
        self._spider = spider
        self._wanted = wanted
        self._run: Run | None = None
        self._is_sealed = False
        self.incomplete = False  # something found no room: it is to be pushed once more

    @property
    def generation(self) -> str:
        """What each message of the push is to carry."""
        assert self._run is not None
        return self._run.generation

    async def __aenter__(self) -> Self:
        """Raises RunError when the run cannot be opened or continued."""
        wanted = self._wanted
        if wanted.run_id:
            self._run = await self._resumed(wanted.run_id)
            return self
        named = bool(wanted.name or wanted.fresh)
        self._run = await self._runs.open(
            self._spider,
            name=wanted.name or (RECRAWL if wanted.fresh else PUSH),
            fresh=wanted.fresh,
            producer=PUSH,
            overlap=wanted.overlap or ("refuse" if named else "allow"),
        )
        return self

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
        if kind is None and not self.incomplete:
            await self._runs.seal(self._run.id)
            self._is_sealed = True
            await self._runs.settle()  # where nothing was new it is over

    def told(self) -> str:
        """Which run it is, for the line that sums a push up; "" when none was opened."""
        if self._run is None:
            return ""
        name = f"run {self._run.id}"
        if self._is_sealed:
            return name
        return f"{name}, still open: push the same with --run {self._run.id}, or `scrapy runs seal {self._run.id}`"
