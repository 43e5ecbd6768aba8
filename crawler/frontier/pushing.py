"""One push of many messages: to the shards of their hosts, in calls that hold Redis for a moment, and less and less at
maxmemory. What a message states about its host is the Frontier's matter."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final

from crawler.frontier.errors import FrontierFullError
from crawler.frontier.messages import PushOutcome
from crawler.frontier.server.shards import Shards

PUSH_MOST: Final = 96  # per call: twice 48 saves a third of the CPU of a long push, and is still some 2 ms of Redis
_OUTCOMES: Final = tuple(PushOutcome)  # as push.lua numbers them

Row = tuple[str, bytes]  # a message packed by wire_format, behind its host


async def push_rows(shards: Shards, rows: Sequence[Row], *, forced: bool, full: Container[int]) -> list[PushOutcome]:
    """The outcome of each of *rows*. *forced*: never refused for fullness, except at maxmemory; *full*: the shards that
    refuse what is not forced."""

    async def run(shard: int, group: list[Row]) -> list[PushOutcome]:
        hosts = list(dict.fromkeys(host for host, _ in group))
        packed = [row for _, row in group]
        answers = await shards.run("push", shard, int(forced), int(shard in full), len(hosts), *hosts, *packed)
        return [_OUTCOMES[answer] for answer in answers]

    async def run_what_fits(shard: int, group: list[Row]) -> list[PushOutcome]:
        """At maxmemory send less and less at once: the call itself takes memory too."""
        done: list[PushOutcome] = []
        most = len(group)
        while most and len(done) < len(group):
            try:
                done += await run(shard, group[len(done) : len(done) + most])
            except FrontierFullError:
                most //= 2
        return done + [PushOutcome.REFUSED_MEMORY] * (len(group) - len(done))

    order = sorted(range(len(rows)), key=lambda at: rows[at][0])  # a host's requests are written together
    answers = await shards.scatter(
        [rows[at] for at in order], lambda row: shards.of_host(row[0]), run_what_fits, PUSH_MOST
    )
    outcomes = [PushOutcome.ACCEPTED] * len(rows)
    for at, outcome in zip(order, answers, strict=True):
        outcomes[at] = outcome
    return outcomes
