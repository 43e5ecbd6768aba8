"""What the leader claims of schedules."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from crawler.frontier.state.leader import Lead
from crawler.frontier.state.schedules import Tick, Timetable
from crawler.policy.schedules import Interval
from crawler.producers.schedule import Schedule, ScheduleSource
from crawler.serve.schedules import WAITING, ScheduleDispatcher


async def test_a_schedule_of_which_many_ticks_wait_gets_no_more_until_some_have_run() -> None:
    claimed: list[str] = []

    async def claim(token: int, name: str, *_: object) -> bool:
        claimed.append(name)
        return True

    frontier, runner = SimpleNamespace(schedules=SimpleNamespace(claim=claim)), SimpleNamespace()
    dispatcher = ScheduleDispatcher(*[frontier, runner])  # type: ignore[arg-type]
    source = ScheduleSource("urls", ("https://a.example/",))
    text = Schedule("s", "products", source, Interval(60, 0), missed="all", overlap="queue").text()
    ticks = [Tick("s", str(60 * number)) for number in range(WAITING)]
    seen = Timetable(10_000_000, "us", {"s": text, "t": text}, {"s": "6000", "t": "6000"}, {}, {}, ticks)
    lead: Any = Lead(1, lambda: True)
    await dispatcher.claim(seen, lead)
    assert claimed == ["t"]
    await dispatcher.claim(replace(seen, ticks=ticks[1:]), lead)
    assert claimed == ["t", "s", "t"]
