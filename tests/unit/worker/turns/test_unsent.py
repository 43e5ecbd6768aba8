"""What a closing worker does not wait for."""

from __future__ import annotations

import asyncio

import pytest

from crawler.worker.turns.unsent import MissedError, UnsentRequests


async def never() -> str:
    await asyncio.Event().wait()
    return "connected"


async def quick() -> str:
    return "connected"


async def test_requests_that_are_not_on_the_wire_are_not_waited_for() -> None:
    unsent = UnsentRequests()
    asked = [asyncio.ensure_future(unsent.wait(never())) for _ in range(3)]
    await asyncio.sleep(0)
    unsent.end()
    errors = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(error) for error in errors] == [MissedError] * 3
    assert not any(task.cancelling() for task in asked)  # each may go on and give its lease back
    with pytest.raises(MissedError):
        await unsent.wait(quick())


async def test_until_then_a_step_is_awaited_and_its_own_cancellation_stays_one() -> None:
    unsent = UnsentRequests()
    assert await unsent.wait(quick()) == "connected"
    asked = asyncio.ensure_future(unsent.wait(never()))
    await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert asked.cancelled()
