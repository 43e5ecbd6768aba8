"""Rows on their way: several batches at once, all of them at the end, and an end where the frontier takes none."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from crawler.frontier.errors import FrontierError
from crawler.frontier.messages import PushOutcome
from crawler.frontier.pushing import Row
from crawler.producers.sender import IN_FLIGHT, Sender


class Slow:
    """A frontier that answers when it is told to."""

    def __init__(self, outcome: PushOutcome = PushOutcome.ACCEPTED) -> None:
        self.outcome = outcome
        self.most = self.now = 0
        self.go = asyncio.Event()

    async def push_rows(self, rows: Sequence[Row]) -> list[PushOutcome]:
        self.now += 1
        self.most = max(self.most, self.now)
        await self.go.wait()
        self.now -= 1
        if rows[0][0] == "bad":
            raise FrontierError("away")
        return [self.outcome] * len(rows)


async def test_so_many_batches_and_no_more_are_on_the_way() -> None:
    frontier = Slow()
    asyncio.get_running_loop().call_later(0.05, frontier.go.set)
    async with Sender(frontier) as sender:  # type: ignore[arg-type]
        for number in range(10):
            await sender.send([(f"{number}", b"row")] * 2)
    assert (frontier.most, frontier.now, sender.outcomes[PushOutcome.ACCEPTED]) == (IN_FLIGHT, 0, 20)
    assert not sender.stopped


@pytest.mark.parametrize(
    ("outcome", "full"),
    [(PushOutcome.REFUSED_FULL, True), (PushOutcome.REFUSED_MEMORY, True), (PushOutcome.CANCELLED, False)],
)
async def test_what_takes_none_stops_it(outcome: PushOutcome, full: bool) -> None:
    frontier = Slow(outcome)
    frontier.go.set()
    async with Sender(frontier) as sender:  # type: ignore[arg-type]
        await sender.send([("a", b"row")])
        await sender.flush()
        assert (sender.full, sender.stopped) == (full, True)


async def test_an_error_is_raised_and_leaves_nothing_behind() -> None:
    frontier = Slow()
    frontier.go.set()

    async def push() -> None:
        async with Sender(frontier) as sender:  # type: ignore[arg-type]
            for host in ("a", "bad", "b", "c", "d"):
                await sender.send([(host, b"row")])

    with pytest.raises(FrontierError):
        await push()
    assert len(asyncio.all_tasks()) == 1
