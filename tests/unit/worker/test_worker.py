"""What a worker does when Redis may have lost data, and how it takes its leave of it."""

from __future__ import annotations

import asyncio
from operator import attrgetter
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from crawler.frontier.server.losses import DataLossListeners
from crawler.worker import worker
from crawler.worker.worker import Worker


@pytest.mark.parametrize(
    ("broken", "away", "signed_off"), [(False, False, True), (True, False, False), (False, True, False)]
)
async def test_it_signs_off_for_as_long_as_it_may_close_unless_redis_is_away(
    broken: bool, away: bool, signed_off: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """From far away it takes longer than LEAVE_SECONDS; given up, its run would stay open, and its last counts lost."""
    monkeypatch.setattr(worker, "LEAVE_SECONDS", 0.0)
    done: list[str] = []

    async def last() -> None:
        await asyncio.sleep(0.01)
        done.append("signed off")

    leaving: Any = Worker.__new__(Worker)
    leaving.outbox, leaving.outage = SimpleNamespace(broken=broken), SimpleNamespace(on=away)
    leaving.maintenance = SimpleNamespace(last=last)
    await leaving._sign_off(asyncio.get_running_loop().time() + 60)
    assert bool(done) is signed_off
    assert ("Could not sign off in time" in caplog.text) is not signed_off


@pytest.mark.parametrize(
    ("error", "which", "given_up"),
    [
        (RuntimeError("can't start new thread"), "watchdog", False),
        (OSError(24, "Too many open files"), "sending", True),
        (RuntimeError("unforeseen"), "watchdog", True),
    ],
)
async def test_one_whose_machine_lacks_something_can_still_give_its_leases_back(
    error: Exception, which: str, given_up: bool, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []
    failing: Any = Worker.__new__(Worker)
    failing.outbox = SimpleNamespace(give_up=lambda: told.append("given up"))
    failing._crawler, failing._tasks, failing._sending = SimpleNamespace(engine=None), [], None
    failing._told = set()

    async def fail() -> None:
        raise error

    task = failing._spawn(fail())
    if which == "sending":
        failing._sending = task
    await asyncio.wait([task, failing._spawn(fail())])
    await asyncio.sleep(0)
    assert bool(told) is given_up
    (line,) = caplog.records  # though a second one failed of the same
    assert line.getMessage().startswith("Closing this worker: ")
    assert bool(line.exc_info) is ("unforeseen" in str(error)), "what the machine lacks is a line"


REMEMBERING = (
    *("dupefilter.clear", "tiers.forget", "generation.forget", "frontier.state_anew"),
    *("frontier.runs.forget", "queue.encoder.scopes.forget", "plain_runs.forget"),
)


@pytest.mark.parametrize("part", REMEMBERING)
def test_what_is_remembered_of_redis_is_forgotten_when_it_may_be_lost(part: str) -> None:
    hearing: Any = Worker.__new__(Worker)
    hearing.losses = DataLossListeners()
    for name in ("dupefilter", "tiers", "generation", "frontier", "queue", "plain_runs", "outbox"):
        setattr(hearing, name, Mock())
    hearing._listen()
    name, _, rest = part.partition(".")
    forget = attrgetter(rest)(getattr(hearing, name))
    hearing.losses.forget()
    assert (forget.call_count, hearing.outbox.lose.call_count) == (1, 0)
    hearing.frontier.on_other_data()
    assert (forget.call_count, hearing.outbox.lose.call_count) == (2, 1)
