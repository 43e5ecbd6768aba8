"""Days of schedules under two replicas, the leader killed and frozen over and over, the clock jumping: each epoch once.

The short form spans a change to winter time; SCHEDULE_DAYS=60 simulates as many days.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

import pytest
import redis.asyncio
from scrapy.settings import BaseSettings

from crawler.frontier.config import FrontierConfig
from crawler.policy.schedules import Cron, Interval, Missed, Timing
from crawler.producers.schedule import Schedule, ScheduleSource
from tests.integration.frontier.making import Timed, timed
from tests.integration.serve.replicas import Replica
from tests.shipped import shipped

DAYS = float(os.environ.get("SCHEDULE_DAYS", "0.8"))
TROUBLES = 60  # ten of them jumps of the clock, the others deaths and freezes
START = int(datetime(2026, 10, 24, 15, tzinfo=UTC).timestamp())  # on the 25th clocks are put back
HOUR = 3_600
URLS = tuple(f"https://{host}.example/{number}" for host in "ab" for number in range(2))
TIMINGS: dict[str, tuple[Timing, Missed]] = {
    "every-50m": (Interval(3_000, START), "all"),
    "berlin": (Cron("30 2,3 * * *", "Europe/Berlin"), "all"),
    "hourly": (Cron("5 * * * *", "Europe/Berlin"), "all"),
    "lord-howe": (Cron("*/45 0-4 * * *", "Australia/Lord_Howe"), "all"),
    "once": (Cron("*/40 * * * *", "UTC"), "once"),
    "none": (Interval(2_000, START), "none"),
}


@dataclass
class World:
    """Two replicas on one server, and the server's clock."""

    time: Timed
    settings: BaseSettings
    config: FrontierConfig
    chance: random.Random
    latest: int = START
    made: int = 0
    troubles: Counter[str] = field(default_factory=Counter)
    replicas: list[Replica] = field(default_factory=list)
    frozen: list[Replica] = field(default_factory=list)

    def replica(self) -> Replica:
        self.made += 1
        return Replica(self.time.client, f"r{self.made}", self.settings, self.config)

    async def pass_seconds(self, seconds: int) -> None:
        self.time.now += seconds * 1_000
        await self.time.be_silent(0)
        self.latest = max(self.latest, self.time.now // 1_000)

    async def step(self) -> None:
        """A few minutes pass; whoever can does what there is to do."""
        await self.pass_seconds(self.chance.randrange(20, 900))
        self.chance.shuffle(self.replicas)
        for replica in self.replicas:
            await replica.go()

    async def trouble(self) -> None:
        """The replicas are stopped in the middle of what they do: killed, or frozen while others take over."""
        is_jump = self.troubles.total() % 6 == 5
        kind = self.chance.choice(["forward", "back"] if is_jump else ["kill", "freeze"])
        self.troubles[kind] += 1
        if kind in {"forward", "back"}:
            await self.pass_seconds(HOUR if kind == "forward" else -HOUR)
            return
        victim = self.chance.choice(self.replicas)
        victim.gate.close_after(self.chance.randrange(1, 25))
        for _ in range(20):
            await self.step()
            if victim.gate.is_waiting:
                break
        self.replicas.remove(victim)
        self.replicas.append(self.replica())
        if kind == "kill":
            await victim.kill()
        else:
            self.frozen.append(victim)
        if len(self.frozen) > 2 or (self.frozen and self.chance.random() < 0.5):
            thawed = self.frozen.pop(self.chance.randrange(len(self.frozen)))
            thawed.gate.open()  # it goes on where it was, and believes that it leads
            await thawed.go()


@pytest.mark.parametrize("seed", range(int(os.environ.get("SCHEDULE_SEEDS", "1"))))
async def test_each_epoch_is_run_once_whatever_befalls_the_leader(redis_client: redis.asyncio.Redis, seed: int) -> None:
    config = FrontierConfig(runs_kept=1_000_000)
    time = await timed(redis_client, runs_kept=1_000_000)
    time.now = START * 1_000
    await time.be_silent(0)
    world = World(time, shipped("settings.test"), config, random.Random(seed))
    world.replicas = [world.replica(), world.replica()]
    schedules = time.frontier.schedules
    for name, (timing, missed) in TIMINGS.items():
        made = Schedule(name, "products", ScheduleSource("urls", URLS), timing, missed, overlap="allow")
        assert await schedules.put(name, "", made.text(), cursor=START)
    end, at = START + int(DAYS * 86_400), 0
    while world.latest < end or at < TROUBLES:
        await world.step()
        if at < TROUBLES and world.latest >= START + (end - START) * at // TROUBLES:
            at += 1
            await world.trouble()
    for replica in (*world.frozen, *world.replicas):
        replica.gate.open()
        await replica.go()
    while time.now < world.latest * 1_000:
        await world.step()
    last = world.replica()
    await world.pass_seconds(60)
    await last.round()
    await check(world)
    for replica in (*world.frozen, *world.replicas):
        await replica.kill()


async def check(world: World) -> None:
    """Every epoch that came has its run, with all URLs in it once; nothing else has."""
    time = world.time
    seen = await time.frontier.schedules.look()
    assert seen.ticks == []
    runs: dict[str, list[Any]] = {name: [] for name in TIMINGS}
    for run in await time.frontier.runs.find(limit=1_000_000):
        runs[run.name].append(run)
    for name, (timing, missed) in TIMINGS.items():
        cursor = int(seen.cursors[name])
        expected = list(takewhile(lambda epoch: epoch <= world.latest, timing.epochs(START)))
        assert cursor == expected[-1], name
        found = sorted(int(run.key.partition(":")[2]) for run in runs[name])
        if missed == "all":
            assert found == expected, name
        assert len(found) == len(set(found)), name
        assert set(found) <= set(expected), name
        assert len(found) + int(seen.missed.get(name, "0")) == len(expected), name
        assert {(run.state, run.counts.accepted) for run in runs[name]} <= {("sealed", len(URLS))}, name
    assert world.troubles["kill"] + world.troubles["freeze"] == 50
    assert world.troubles["forward"] + world.troubles["back"] == 10
