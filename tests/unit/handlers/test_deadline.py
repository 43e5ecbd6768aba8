"""A time limit, with a running loop and with a blocked one."""

from __future__ import annotations

import asyncio
import socket
import threading
import time

import pytest

from crawler.engine.event_loop import Loop
from crawler.handlers.deadline import Deadline

SIZE = 1 << 23


async def _answered(reader: asyncio.StreamReader, seconds: float) -> bytes:
    async with Deadline(seconds):
        return await reader.readexactly(SIZE)


async def test_what_takes_too_long_is_cut_off() -> None:
    before = time.monotonic()
    with pytest.raises(TimeoutError):
        async with Deadline(0.05):
            await asyncio.sleep(30)
    assert time.monotonic() - before >= 0.05


async def test_what_is_done_in_time_is_left_alone() -> None:
    async with Deadline(0.02):
        pass
    await asyncio.sleep(0.05)
    with pytest.raises(ValueError, match="mine"):
        async with Deadline(0.02):
            raise ValueError("mine")


async def test_a_cancelled_task_stays_cancelled() -> None:
    task = asyncio.create_task(asyncio.wait_for(_forever(), 30))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def _forever() -> None:
    async with Deadline(20):
        await asyncio.sleep(30)


async def _read(sent: bytes, held_up: float) -> bytes:
    """The result of an exchange of 1 s whose loop is blocked after the response, if any, has arrived."""
    ours, theirs = socket.socketpair()
    with theirs:
        reader, writer = await asyncio.open_connection(sock=ours)
        try:
            answer = asyncio.create_task(_answered(reader, 1))
            await asyncio.sleep(0)  # it has begun
            sending = threading.Thread(target=theirs.sendall, args=(sent,))
            sending.start()  # more than fits on the way: the rest can only come once the loop reads
            time.sleep(held_up)  # noqa: ASYNC251 - what no callback should do
            return await answer
        finally:
            writer.close()
            theirs.shutdown(socket.SHUT_RDWR)
            sending.join()


def test_an_answer_that_came_while_the_loop_was_held_up_counts() -> None:
    """The project's loop runs its timers before it reads."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        assert len(runner.run(_read(bytes(SIZE), 2))) == SIZE


def test_a_host_that_stays_silent_is_cut_off_also_after_the_loop_was_held_up() -> None:
    with asyncio.Runner(loop_factory=Loop) as runner, pytest.raises(TimeoutError):
        runner.run(_read(b"", 2))
