"""Calls of a kind go to Redis together while one of them is on its way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from crawler.frontier.server.batched_calls import BatchedCalls


class Server:
    """Answers with the entries in capitals once it is let; fails for a call with `bad` in it."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.free = asyncio.Event()
        self.gathered = BatchedCalls(self._send, most=3)

    async def _send(self, entries: list[str]) -> Sequence[str]:
        self.calls.append(entries)
        await self.free.wait()
        if "bad" in entries:
            raise ValueError(entries)
        return [entry.upper() for entry in entries]

    def ask(self, *entries: str) -> list[asyncio.Task[str]]:
        return [asyncio.create_task(self.gathered.ask(entry)) for entry in entries]


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_comes_at_once_goes_at_once_and_each_gets_its_own_answer() -> None:
    server = Server()
    server.free.set()
    assert await asyncio.gather(*server.ask("a", "b", "c", "d")) == ["A", "B", "C", "D"]
    assert server.calls == [["a", "b", "c"], ["d"]]


async def test_what_comes_meanwhile_goes_next() -> None:
    server = Server()
    first = server.ask("a")
    await turns()
    later = server.ask("b", "c")
    await turns()
    assert server.calls == [["a"]]
    server.free.set()
    assert await asyncio.gather(*first, *later) == ["A", "B", "C"]
    assert server.calls == [["a"], ["b", "c"]]


async def test_an_error_reaches_those_of_its_call_alone() -> None:
    server = Server()
    server.free.set()
    found = await asyncio.gather(*server.ask("a", "bad", "b", "c"), return_exceptions=True)
    assert [type(one) for one in found] == [ValueError] * 3 + [str]


async def test_what_nobody_waits_for_is_not_sent() -> None:
    server = Server()
    first = server.ask("a")
    await turns()
    left, stays = server.ask("b", "c")
    await turns()
    left.cancel()
    server.free.set()
    assert await asyncio.gather(*first, stays) == ["A", "C"]
    assert server.calls == [["a"], ["c"]]


async def test_who_waits_is_told_when_the_call_is_cancelled() -> None:
    server = Server()
    [asked] = server.ask("a")
    await turns()
    sending = server.gathered._sending
    assert sending is not None
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    server.free.set()
    assert await server.gathered.ask("b") == "B", "the next one is sent as ever"
