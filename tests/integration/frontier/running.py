"""Short words for what the tests of runs make again and again."""

from __future__ import annotations

from typing import Any

from crawler.frontier.messages import PushOutcome
from crawler.frontier.run_record import Run, RunCounts
from tests.integration.frontier.making import Timed, message

DAY_MS = 86_400_000
BEGUN = "20231114"  # the day of START_MS


async def push(world: Timed, run: Run, *numbers: int, **fields: Any) -> list[PushOutcome]:
    given = {"cap": 8, **fields}
    return await world.frontier.push([message(number, generation=run.generation, **given) for number in numbers])


async def over(world: Timed) -> list[str]:
    return [run.id for run in await world.frontier.runs.settle()]


async def counts(world: Timed, run: Run) -> RunCounts:
    found = await world.frontier.runs.get(run.id)
    assert found is not None
    return found.counts


async def events(world: Timed) -> list[tuple[bytes, bytes]]:
    rows: Any = await world.client.xrange(world.frontier.shards.key(0, "runs:events"))
    return [(fields[b"event"], fields[b"run"]) for _, fields in rows]
