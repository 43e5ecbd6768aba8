"""What a background task that fails does to its worker."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.worker.background import BackgroundTasks


@pytest.mark.parametrize(
    ("error", "sends", "given_up"),
    [
        (RuntimeError("can't start new thread"), False, False),
        (OSError(24, "Too many open files"), True, True),
        (RuntimeError("unforeseen"), False, True),
    ],
)
async def test_one_whose_machine_lacks_something_can_still_give_its_leases_back(
    error: Exception, sends: bool, given_up: bool, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []
    crawler: Any = SimpleNamespace(engine=SimpleNamespace(_slot=None))
    tasks = BackgroundTasks(crawler, lambda: told.append("given up"))

    async def fail() -> None:
        raise error

    await asyncio.wait([tasks.spawn(fail(), sends=sends), tasks.spawn(fail())])
    await asyncio.sleep(0)
    assert bool(told) is given_up
    (line,) = caplog.records  # though a second one failed of the same
    assert line.getMessage().startswith("Closing this worker: ")
    assert bool(line.exc_info) is ("unforeseen" in str(error)), "what the machine lacks is a line"
