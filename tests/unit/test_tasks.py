"""Background tasks and their end."""

from __future__ import annotations

import asyncio

import pytest

from crawler import tasks


async def test_a_task_that_swallows_its_first_cancellation_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "AGAIN_SECONDS", 0.01)
    swallowed = 0

    async def loop() -> None:
        nonlocal swallowed
        while True:
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                if swallowed == 2:
                    raise
                swallowed += 1

    one = asyncio.create_task(loop())
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await tasks.end(one)
    assert one.cancelled()
    assert swallowed == 2


async def test_what_has_ended_is_left_as_it_is() -> None:
    async def fails() -> None:
        raise ValueError("of its own")

    failed = asyncio.create_task(fails())
    await asyncio.wait({failed})
    await tasks.end(failed)
    await tasks.end()
    assert isinstance(failed.exception(), ValueError)


async def test_what_the_client_swallows_is_cancelled_again() -> None:
    """The fault itself: on Python 3.11 a loop around wait_for survives a cancellation in the tick in which it ends."""
    answered: list[asyncio.Future[None]] = []

    async def loop() -> None:
        while True:
            answered.append(asyncio.get_running_loop().create_future())
            await asyncio.wait_for(answered[-1], 10)

    one = asyncio.create_task(loop())
    await asyncio.sleep(0)
    answered[-1].set_result(None)
    async with asyncio.timeout(5):
        await tasks.end(one)
    assert one.cancelled()
