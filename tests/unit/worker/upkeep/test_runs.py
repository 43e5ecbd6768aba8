"""A worker's part in runs."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Coroutine
from typing import Any
from unittest.mock import MagicMock, Mock

import pytest
from scrapy.utils.test import get_crawler

from crawler.frontier.errors import FrontierError
from crawler.frontier.run_record import Run
from crawler.frontier.runs.spent_runs import SpentRun, SpentRuns
from crawler.worker.upkeep import runs as upkeep
from crawler.worker.upkeep.runs import WorkerRuns

WORKER = "one"


class SlowRuns:
    """Ends *run* for the first who asks, and answers once `answer` is set."""

    def __init__(self, run: Run, error: Exception | None = None) -> None:
        self._open = [run]
        self._error = error
        self.answer = asyncio.Event()

    async def settle(self, **_: Any) -> list[Run]:
        ended, self._open = self._open, []
        await self.answer.wait()
        if self._error is not None and ended:
            raise self._error
        return ended


def told_run() -> Run:
    run = Mock(spec=Run)
    run.told.return_value = "run 20261123-1 finished: 3 done"
    return run


def runs_of(runs: SlowRuns, *spent: SpentRun) -> WorkerRuns:
    crawler = get_crawler()
    spent_runs = MagicMock(spec=SpentRuns)
    spent_runs.drop.return_value.__aiter__.return_value = spent
    return WorkerRuns(crawler, runs, spent_runs, None)  # type: ignore[arg-type]


async def close_amidst(runs: SlowRuns) -> None:
    """A worker closes while it looks for finished runs."""
    worker = runs_of(runs)
    await cancelled(worker.look(1.0))
    asyncio.get_running_loop().call_soon(runs.answer.set)
    await worker.last(WORKER)


async def cancelled(duty: Coroutine[Any, Any, None]) -> None:
    """Begin *duty*, and cancel it at its first pause."""
    under_way = asyncio.create_task(duty)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    under_way.cancel()
    with pytest.raises(asyncio.CancelledError):
        await under_way


async def test_a_run_that_ends_as_the_worker_closes_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """The last look ended it, but was cancelled before its answer came: nobody said that it had finished."""
    caplog.set_level("INFO")
    await close_amidst(SlowRuns(told_run()))
    assert caplog.messages.count("run 20261123-1 finished: 3 done") == 1


async def test_a_look_that_failed_keeps_no_worker_from_its_last_one(caplog: pytest.LogCaptureFixture) -> None:
    await close_amidst(SlowRuns(told_run(), FrontierError("the server is away")))
    gc.collect()
    assert not [record for record in caplog.records if record.levelname == "ERROR"], "nothing is left unread"


async def test_what_was_dropped_of_a_spent_run_is_one_line_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    run = Mock(spec=Run, id="20261123-1", spider="s")
    worker = runs_of(SlowRuns(run), SpentRun(run, "requests", 1_200))
    await worker.drop_spent()
    words = "Run 20261123-1 of s: its budget is spent (requests); dropped what was left: 1,200 requests"
    assert caplog.messages == [words]
    assert worker._crawler.stats.get_stats()["frontier/budget_dropped"] == 1_200


async def test_what_was_dropped_as_the_worker_closes_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """It closes as nothing is left, which is so before the answer to the last slice has come."""
    run, answer = Mock(spec=Run, id="20261123-1", spider="s"), asyncio.Event()

    async def slowly() -> AsyncIterator[SpentRun]:
        await answer.wait()
        yield SpentRun(run, "requests", 6)

    runs = SlowRuns(run)
    runs.answer.set()
    worker = runs_of(runs)
    worker._spent.drop = slowly  # type: ignore[method-assign]
    await cancelled(worker.drop_spent())
    asyncio.get_running_loop().call_soon(answer.set)
    await worker.last(WORKER)
    assert [one for one in caplog.messages if "dropped what was left: 6 requests" in one]


async def test_a_worker_that_closes_waits_for_a_long_drop_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async def endlessly() -> AsyncIterator[SpentRun]:
        await asyncio.Event().wait()
        yield Mock()

    monkeypatch.setattr(upkeep, "LAST_SECONDS", 0.01)
    runs = SlowRuns(told_run())
    runs.answer.set()
    worker = runs_of(runs)
    worker._spent.drop = endlessly  # type: ignore[method-assign]
    await cancelled(worker.drop_spent())
    async with asyncio.timeout(60):
        await worker.last(WORKER)
    assert worker._under_way["drop"].cancelled(), "the rest is for others"
