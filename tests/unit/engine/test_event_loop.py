"""The project's event loop: timers that are never early, so that periodic work runs once per period, and look-ups."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Coroutine
from threading import Event
from time import monotonic
from typing import Any, TypeVar

import pytest
from scrapy.utils.asyncio import AsyncioLoopingCall
from scrapy.utils.misc import load_object
from twisted.internet.asyncioreactor import AsyncioSelectorReactor
from twisted.internet.task import LoopingCall

from crawler import defaults

T = TypeVar("T")

INTERVAL = 0.02


def _run(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=load_object(defaults.ASYNCIO_EVENT_LOOP)) as runner:
        return runner.run(work)


async def _busy() -> None:
    """Rounds of up to 2 ms: the loop's own clock is that old when timers are set."""
    while True:
        until = monotonic() + 0.002 * (monotonic() % 1)
        while monotonic() < until:
            pass
        await asyncio.sleep(0)


async def _early() -> list[float]:
    found: list[float] = []

    async def slept(seconds: float) -> None:
        before = monotonic()
        await asyncio.sleep(seconds)
        found.append(seconds - (monotonic() - before))

    busy = asyncio.create_task(_busy())
    await asyncio.gather(*(slept(number / 3_001) for number in range(1, 600)))
    busy.cancel()
    return [seconds for seconds in found if seconds > 0]


def test_no_timer_fires_early() -> None:
    assert _run(_early()) == []


def test_no_time_is_no_time() -> None:
    async def rounds() -> list[str]:
        loop, seen = asyncio.get_running_loop(), list[str]()
        loop.call_later(0, seen.append, "at once")
        loop.call_later(-1, seen.append, "over")
        loop.call_later(float("inf"), seen.append, "never").cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return seen

    assert _run(rounds()) == ["at once", "over"]


async def _calls(make: Any) -> tuple[int, float]:
    """How often a periodic call ran, and how many periods there were."""
    seen: list[float] = []
    call = make(lambda: seen.append(monotonic()))
    before = monotonic()
    call.start(INTERVAL)
    busy = asyncio.create_task(_busy())
    await asyncio.sleep(50 * INTERVAL)
    call.stop()
    busy.cancel()
    return len(seen), (monotonic() - before) / INTERVAL


def test_scrapys_periodic_call_runs_once_per_period() -> None:
    calls, periods = _run(_calls(AsyncioLoopingCall))
    assert 2 <= calls <= periods + 1  # one at the start


def test_twisteds_periodic_call_runs_once_per_period() -> None:
    async def on_reactor() -> tuple[int, float]:
        reactor = AsyncioSelectorReactor(asyncio.get_running_loop())

        def make(function: Any) -> LoopingCall:
            call = LoopingCall(function)
            call.clock = reactor  # type: ignore[assignment]
            return call

        return await _calls(make)

    calls, periods = _run(on_reactor())
    assert 2 <= calls <= periods + 2  # one at the start, and its clock ticks in whole milliseconds


def test_a_name_that_hangs_holds_up_no_other_and_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the wire, with libuv's four threads taken by four names."""
    answers, ended = Event(), []

    def look_up(host: str, port: int, **_: Any) -> list[Any]:
        if host == "here.example":
            dead, there = ("127.0.0.2", port), ("127.0.0.1", port)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in (dead, there)]
        ended.append(answers.wait(30))
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    async def connect() -> bytes:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Greeting, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        hanging = [asyncio.ensure_future(asyncio.open_connection(f"{name}.example", 1)) for name in "abcd"]
        await asyncio.sleep(0)
        reader, writer = await asyncio.open_connection("here.example", port)
        said = await reader.read()
        writer.close()
        server.close()
        for one in hanging:
            one.cancel()
        return said

    assert _run(connect()) == b"hello"
    assert ended == []
    answers.set()


class Greeting(asyncio.Protocol):
    def connection_made(self, transport: Any) -> None:
        transport.write(b"hello")
        transport.close()
