"""Leading: under a lease that others see end, whatever Redis answers, and whatever the work does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.frontier.errors import FrontierRefusedError, FrontierUnavailableError
from crawler.frontier.state.leader import DeposedError, Lead, LeaderLease
from crawler.serve import leadership as module
from crawler.serve.config import ServeConfig
from crawler.serve.leadership import Leadership, LeaderTask
from crawler.serve.service import FleetService
from crawler.utils import tasks

LEASE = 15.0
OURS = LeaderLease(is_ours=True, token=1, holder="us", left_ms=15_000)
THEIRS = LeaderLease(is_ours=False, token=2, holder="them", left_ms=9_000)


class Redis:
    """A lease in the test's hands."""

    def __init__(self) -> None:
        self.answer: LeaderLease | Exception = OURS
        self.resigned = 0

    async def ask(self) -> LeaderLease:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def resign(self) -> bool:
        self.resigned += 1
        return True


def replica() -> FleetService:
    frontier: Any = SimpleNamespace(shards=None)
    return FleetService(frontier, ServeConfig("127.0.0.1", 0, LEASE, 1), [])


class World:
    """One replica, whose clock and sleep are the test's."""

    def __init__(self, *calls: Callable[[Lead], Awaitable[None]]) -> None:
        self.now = 0.0
        self.redis = Redis()
        leader: Any = self.redis
        work = [LeaderTask(f"task {number}", 1.0, call) for number, call in enumerate(calls)]
        self.leadership = Leadership(leader, LEASE, work, clock=lambda: self.now)

    def leads(self) -> bool:
        return self.leadership.lead is not None

    async def ask(self, answer: LeaderLease | Exception = OURS) -> float:
        self.redis.answer = answer
        seconds = await self.leadership._ask()
        for _ in range(10):
            await asyncio.sleep(0)
        return seconds


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    sleep = asyncio.sleep
    monkeypatch.setattr("crawler.serve.leadership.asyncio.sleep", lambda _: sleep(0))


async def test_that_redis_was_emptied_is_told_as_schedules_are_gone(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    for answer in (OURS, replace(OURS, lost_data=True), OURS, THEIRS):
        await world.ask(answer)
    (told,) = (record for record in caplog.records if record.levelname == "ERROR")
    assert told.getMessage() == "Redis has lost its data, and with it all schedules: add them again"


async def test_how_long_redis_was_away_does_not_count_from_when_a_task_began(caplog: pytest.LogCaptureFixture) -> None:
    """Schedules are one task for as long as the replica leads."""
    away = asyncio.Event()

    async def work(_: Lead) -> None:
        await away.wait()
        raise FrontierUnavailableError("silent")

    world = World(work)
    await world.ask()
    world.now += 1_000
    await world.ask()
    away.set()
    await world.ask(FrontierUnavailableError("silent"))
    world.now += 2
    await world.ask()
    assert caplog.messages[-1] == "Redis answers again after 2.0 s"


async def test_the_leader_works_and_asks_three_times_in_a_lease() -> None:
    begun: list[Lead] = []

    async def work(lead: Lead) -> None:
        begun.append(lead)
        await asyncio.Event().wait()

    world = World(work)
    assert await world.ask() == LEASE / 3
    assert await world.ask() == LEASE / 3
    assert [(lead.token, lead.holds()) for lead in begun] == [(1, True)], "prolonging begins nothing anew"
    assert await world.ask(THEIRS) == LEASE / 3
    assert (world.leads(), begun[0].holds()) == (False, False)
    with pytest.raises(DeposedError):
        begun[0].check()
    await world.leadership._stop()


async def test_the_lease_counts_from_before_redis_was_asked() -> None:
    world = World()

    async def slow() -> LeaderLease:
        world.now = 4
        return OURS

    world.redis.ask = slow  # type: ignore[method-assign]
    await world.leadership._ask()
    world.now = LEASE
    assert not world.leadership.holds(), "Redis may have begun to count when it was asked"
    await world.leadership._stop()


async def test_one_that_follows_asks_when_the_lease_is_over() -> None:
    soon = LeaderLease(is_ours=False, token=2, holder="them", left_ms=200)
    world = World()
    assert await world.ask(soon) == pytest.approx(0.25)
    await world.leadership.resign()
    assert world.redis.resigned == 0, "who does not lead has nothing to give up"


async def test_a_new_token_is_a_new_beginning() -> None:
    tokens: list[int] = []

    async def work(lead: Lead) -> None:
        tokens.append(lead.token)
        await asyncio.Event().wait()

    world = World(work)
    await world.ask()
    await world.ask(LeaderLease(is_ours=True, token=3, holder="us", left_ms=15_000))
    assert tokens == [1, 3]
    await world.leadership._stop()


@pytest.mark.parametrize("frozen", [LEASE + 1, 0], ids=["frozen beyond its lease", "Redis was emptied"])
async def test_a_leader_that_nobody_replaced_works_on(frozen: float) -> None:
    begun: list[int] = []
    woken = asyncio.Event()

    async def work(lead: Lead) -> None:
        begun.append(lead.token)
        await woken.wait()
        woken.clear()
        if frozen:
            lead.check()
        raise DeposedError

    world = World(work)
    await world.ask()
    world.now = frozen
    woken.set()
    for _ in range(10):
        await asyncio.sleep(0)
    await world.ask()
    assert begun == [1, 1]
    assert world.leads()
    await world.leadership._stop()


async def test_while_redis_is_away_it_leads_no_longer_than_its_lease(caplog: pytest.LogCaptureFixture) -> None:
    async def work(lead: Lead) -> None:
        await asyncio.Event().wait()

    world = World(work)
    await world.ask()
    world.now = LEASE - 1
    assert await world.ask(FrontierUnavailableError("gone")) == 1.0
    assert world.leads()
    assert world.leadership.silence == LEASE - 1
    world.now = LEASE
    await world.ask(FrontierUnavailableError("gone"))
    assert not world.leads()
    assert caplog.text.count("Redis does not answer (gone)") == 1, "said once"
    await world.ask(OURS)
    assert world.leads()
    assert world.leadership._outage.on is False
    await world.leadership._stop()


async def test_an_outage_is_as_long_as_it_was_on_a_machine_that_has_slept(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock that goes on meanwhile is ahead of the other, by which such outages had a length below 0."""
    monkeypatch.setattr("crawler.serve.leadership.time.clock_gettime", lambda _: time.monotonic() + 3_600)
    leadership = replica().leadership
    leader: Any = Redis()
    leadership._leader, leader.answer = leader, FrontierUnavailableError("gone")
    await leadership._ask()
    leader.answer = THEIRS
    await leadership._ask()
    assert "Redis answers again after 0.0 s" in caplog.text


async def test_what_redis_refuses_is_said_and_asked_again_later(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    assert await world.ask(FrontierRefusedError("NOPERM")) == module.REFUSED_SECONDS
    assert "No leader's lease; asking again in 5 s: NOPERM" in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.usefixtures("no_waiting")
async def test_a_task_that_fails_is_called_again_and_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[str] = []
    refused = FrontierRefusedError("NOPERM")
    errors = [refused, ValueError("a bug"), FrontierUnavailableError("gone"), DeposedError(), ValueError("never comes")]

    async def failing(lead: Lead) -> None:
        calls.append("failing")
        raise errors[calls.count("failing") - 1]

    async def other(lead: Lead) -> None:
        calls.append("other")

    world = World(failing, other)
    await world.ask()
    assert calls.count("failing") == 4, "another replica leads: it ends"
    assert calls.count("other") > 3
    assert "task 0 failed; retrying: NOPERM" in caplog.text
    assert caplog.text.count("Traceback") == 1, "of the bug"
    await world.leadership._stop()


async def test_at_its_end_the_work_is_ended_and_the_lease_given_up() -> None:
    ended = asyncio.Event()

    async def work(lead: Lead) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    world = World(work)
    running = asyncio.create_task(world.leadership.run())
    for _ in range(10):
        await asyncio.sleep(0)
    assert world.leads()
    await tasks.end(running)
    assert ended.is_set()
    await world.leadership.resign()
    assert world.redis.resigned == 1


async def test_a_lease_that_redis_does_not_take_back_delays_no_exit(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.serve.service.RESIGN_SECONDS", 0.01)
    service = replica()
    monkeypatch.setattr(service.leadership, "resign", asyncio.Event().wait)
    await service._resign()
    assert "The lease could not be released (TimeoutError)" in caplog.text


async def test_a_replica_whose_leading_fails_ends_with_that_error(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken() -> None:
        raise ValueError("a bug")

    service = replica()
    monkeypatch.setattr(service.leadership, "run", broken)
    with pytest.raises(ValueError, match="a bug"):
        await service.run()
