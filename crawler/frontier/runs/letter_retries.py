"""Dead letters are retried in their run while it lasts and may spend something, and in a new one, "retry of X", after
that."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.frontier.messages import DeadLetter
from crawler.frontier.run_record import Run, is_run_generation, run_id_of
from crawler.frontier.runs.runs import RETRY, Runs
from crawler.frontier.runs.spent_runs import SpentRuns
from crawler.frontier.server.shards import Shards
from crawler.frontier.state.dead_letters import DeadLetters


class Retries:
    """Moves letters, or gone pages, of *box* back into the queue."""

    def __init__(self, shards: Shards, runs: Runs, spent: SpentRuns, box: DeadLetters) -> None:
        self._shards = shards
        self._runs = runs
        self._box = box
        self._spent = spent
        self._known: dict[str, list[Run]] = {}  # the runs of a spider, cached

    async def retry(self, letters: Sequence[DeadLetter]) -> tuple[int, list[Run]]:
        """How many were queued again (invalid start URLs are not), and the runs opened for them.

        Such a run shares the fingerprints of the previous run while these are kept; after FRONTIER_RETENTION_SECONDS
        the links of its pages are not followed.
        """
        _, live = await self._runs.unfinished()
        concerned = [run for run in live if any(_is_of(letter, [run]) for letter in letters)]
        live = [run for run in concerned if not await self._spent.is_spent(run)]
        going_on = [letter for letter in letters if _is_of(letter, live)]
        done = sum(await self._box.retry([letter.id for letter in going_on]))
        ended: dict[tuple[str, str, str], list[DeadLetter]] = {}
        for letter in letters:
            if letter.host and not _is_of(letter, live):
                place = (letter.spider, await self._run_of(letter), letter.shares or letter.generation)
                ended.setdefault(place, []).append(letter)
        opened: list[Run] = []
        for (spider, of, shares), group in ended.items():
            run = await self._open(spider, of, shares)
            opened.append(run)
            try:
                done += sum(await self._box.retry([letter.id for letter in group], generation=run.generation))
            finally:  # also when it is interrupted: the run would never end
                await self._runs.seal_seen(run)
        return done, opened

    async def _open(self, spider: str, of: str, shares: str) -> Run:
        places = self._shards.on_each(f"gen:{spider}:{shares}")
        kept = any([await self._shards.client.hexists(key, "set") for key in places])
        return await self._runs.open(
            spider,
            name=f"retry of {of}",
            producer=RETRY,
            overlap="allow",
            fresh=not kept,
            shares=shares if kept else "",
            links=kept,
        )

    async def _run_of(self, letter: DeadLetter) -> str:
        """The id of its run, or a description of a forgotten one."""
        if is_run_generation(letter.generation):
            return run_id_of(letter.generation)
        if letter.spider not in self._known:
            self._known[letter.spider] = await self._runs.find(letter.spider, limit=self._shards.config.runs_kept)
        runs = self._known[letter.spider]
        within = [run for run in runs if run.generation == letter.generation and run.opened_ms <= letter.at_ms]
        return max(within, key=lambda run: run.opened_ms).id if within else f"crawl {letter.generation}"


def _is_of(letter: DeadLetter, live: Sequence[Run]) -> bool:
    """Whether its run is unfinished."""
    return any(
        (run.spider, run.generation) == (letter.spider, letter.generation)
        and not run.cancelled_ms
        and (not run.is_plain or run.opened_ms <= letter.at_ms)
        for run in live
    )
