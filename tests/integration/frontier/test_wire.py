"""What hosts see: two requests never closer than the delay, never more of them at once than the cap.

Independent of how the scripts do it: a fleet that leases, stalls, freezes, dies, follows redirects and fetches
robots.txt, a server whose clock jumps, and a record of what went out on the wire when, in time that does not jump.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from scrapy.settings import BaseSettings

from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Handle, Message, Report, Slot
from crawler.frontier.state.statement import Statement
from crawler.policy.pace import Pace
from tests.effort import EXAMPLES
from tests.integration.frontier.harness import CLOCK, Harness
from tests.integration.frontier.making import acked, reported, sent

pytestmark = pytest.mark.more
CONFIG = FrontierConfig(lease_ms=100_000, start_within_ms=20_000)
HOST = "a.example"
HOUR_MS = 3_600_000
PACES = ((1_000, 1, 1), (1_000, 2, 1), (500, 8, 1), (1_000, 2, 3), (9_000, 8, 4))  # delay ms, cap, burst
SEEDS = 8 if EXAMPLES >= 100 else 5
CLUSTER_SEEDS = 2  # scripts are the same there; the model, too, calls all of them
EVENTS = 250


@dataclass(eq=False)
class Permit:
    """What a worker holds: it may send once until *deadline*, in time that does not jump."""

    handle: Handle
    deadline: int
    is_lease: bool
    sent_at: int | None = None
    spent: bool = False


class Fleet:
    """Does at random what workers do, and what befalls them."""

    def __init__(self, harness: Harness, seed: int, pace: tuple[int, int, int], replaced: Mapping[str, str]) -> None:
        self.random = Random(seed)
        self.harness = harness
        self.run = harness.run
        self.frontier = Frontier(harness.client, CONFIG, rng=lambda: 0.5, replaced={"lib/clock": CLOCK, **replaced})
        self.delay, self.cap, self.burst = pace
        self.full_at = 0.0  # when the bucket would be full again, its tokens counted in time
        self.time = 1_700_000_000_000
        self.skew = 0
        self.permits: list[Permit] = []
        self.sends: list[int] = []
        self.log: list[str] = []
        self.pushed = 0

    def live(self, events: int) -> None:
        """Let *events* things happen."""
        self.tell_time()
        self.push()
        for _ in range(events):
            actions = self.possible()
            (action,) = self.random.choices(list(actions), list(actions.values()))
            self.log.append(f"{self.time} {action.__name__}")
            action()

    def possible(self) -> dict[Callable[[], None], float]:
        """What may happen next, and how often it does."""
        idle = bool(self.idle())
        return {
            self.time_passes: 8,
            self.lease: 6,
            self.take: 1,
            self.send: 6 * bool(self.may_send()),
            self.charge: bool(self.may_send()),
            self.answer: 6 * bool(self.on_wire()),
            self.take_under_a_lease: 2 * idle,
            self.end: 3 * idle,
            self.server_clock_jumps: 0.15,
            self.push: 0.5,
        }

    def tell_time(self) -> None:
        self.harness.set_clock(self.frontier.shards.key(0, "clock"), self.time + self.skew)

    def push(self) -> None:
        wishes: dict[str, Any] = {
            "host": HOST,
            "delay_ms": self.delay,
            "cap": self.cap,
            "burst": self.burst,
            "dedupe": False,
        }
        self.pushed += 8
        self.run(
            self.frontier.push([Message(stream="s", spider="s", body=b"", fingerprint=1, **wishes) for _ in range(8)])
        )

    def time_passes(self) -> None:
        """Mostly while workers live, which speak every two seconds."""
        usual = [1, self.delay // 2, self.delay - 1, self.delay, self.delay + 1, 2 * self.delay]
        if self.random.random() < 0.97:
            passed = self.random.choice(usual)
            for _ in range(passed // 2_000):
                self.time += 2_000
                self.tell_time()
                self.run(self.frontier.workers.heartbeat("w", {}))
            self.time += passed % 2_000
        else:
            self.time += self.random.choice([19_000, 21_000, 31_000, 101_000])
        self.tell_time()

    def server_clock_jumps(self) -> None:
        step = self.random.randint(5_000, 29_000)
        self.skew = self.random.choice((0, HOUR_MS, -HOUR_MS, self.skew + step, self.skew + step))
        self.tell_time()

    def lease(self) -> None:
        for lease in self.run(self.frontier.lease(["s"], 8, worker="w")).leases:
            permit = Permit((lease.id, lease.token), self.time + lease.start_within_ms, is_lease=True)
            self.permits.append(permit)
            if self.random.random() < 0.8:
                self.put_on_wire(permit)

    def charge(self) -> None:
        self.run(self.frontier.start([self.random.choice(self.may_send()).handle]))

    def send(self) -> None:
        self.put_on_wire(self.random.choice(self.may_send()))

    def put_on_wire(self, permit: Permit) -> None:
        """A worker usually reports at once; one that is killed at that moment never does."""
        early = self.full_at - (self.burst - 1) * self.delay - self.time
        assert early <= 0, f"{early} ms too early; {self.told()}"
        self.full_at = max(self.full_at, self.time) + self.delay
        self.sends.append(self.time)
        permit.sent_at, permit.spent = self.time, True
        # a request left unanswered for longer than a lease belongs to no worker any more
        young = sum(self.time - (other.sent_at or 0) < CONFIG.lease_ms for other in self.on_wire())
        assert young <= self.cap, f"{young} in flight; {self.told()}"
        if self.random.random() < 0.8:
            self.run(sent(self.frontier, [permit.handle]))

    def answer(self) -> None:
        """The slot may be kept for a follow-up, as after robots.txt; the page then takes a turn of its own."""
        permit = self.random.choice(self.on_wire())
        elapsed = self.time - (permit.sent_at or 0)
        keep = permit.is_lease and self.random.random() < 0.3
        self.run(reported(self.frontier, [Report(*permit.handle, elapsed, elapsed, 200, keep=keep)]))
        permit.sent_at = None

    def take(self) -> None:
        slot = self.run(
            self.frontier.reserve_slot(HOST, delay_ms=self.delay, cap=self.cap, burst=self.burst, worker="w")
        )
        if slot.token is not None:
            self.permits.append(permit := Permit(slot.token, self.deadline(slot), is_lease=False))
            if self.random.random() < 0.8:
                self.put_on_wire(permit)

    def take_under_a_lease(self) -> None:
        permit = self.random.choice(self.idle())
        if permit.is_lease:
            slot = self.run(self.frontier.reserve_slot(HOST, lease=permit.handle))
            if slot.token is not None:
                permit.deadline, permit.spent = self.deadline(slot), False

    def deadline(self, slot: Slot) -> int:
        return self.time + slot.start_within_ms

    def end(self) -> None:
        """A lease ends while nothing of it is on the wire, or its worker dies."""
        permit = self.random.choice(self.idle())
        self.permits.remove(permit)
        match self.random.choice(("ack", "give back", "nack", "die")):
            case "ack":
                self.run(acked(self.frontier, [permit.handle]))
            case "give back":
                self.run(self.frontier.give_back([permit.handle]))
            case "nack":
                self.run(self.frontier.nack(*permit.handle, delay_ms=0))

    def may_send(self) -> list[Permit]:
        return [permit for permit in self.permits if not permit.spent and self.time <= permit.deadline]

    def on_wire(self) -> list[Permit]:
        return [permit for permit in self.permits if permit.sent_at is not None]

    def idle(self) -> list[Permit]:
        return [permit for permit in self.permits if permit.sent_at is None]

    def told(self) -> str:
        return f"delay {self.delay}, cap {self.cap}, burst {self.burst}, the last events were\n" + "\n".join(
            self.log[-40:]
        )


@dataclass(eq=False)
class Visitor:
    """A worker with rules of its own, which it states every two seconds while it lives."""

    frontier: Frontier
    delay: int
    stated_at: int
    said: bool = False
    died_at: int | None = None


class Disagreement:
    """Workers of one spider with different rules come and are killed; each sends what it leases, at once."""

    def __init__(self, harness: Harness, seed: int, replaced: Mapping[str, str]) -> None:
        self.replaced = {"lib/clock": CLOCK, **replaced}
        self.random = Random(seed)
        self.harness = harness
        self.time = 1_700_000_000_000
        self.visitors: list[Visitor] = []
        self.sent_at: int | None = None
        self.sends = 0
        self.plain = self.worker()
        self.harness.set_clock(self.plain.shards.key(0, "clock"), self.time)
        self.push()

    def worker(self) -> Frontier:
        return Frontier(self.harness.client, CONFIG, rng=lambda: 0.5, replaced=self.replaced)

    def push(self) -> None:
        """With any delay and cap: these are no rules while a worker states some."""
        wishes: dict[str, Any] = {"delay_ms": self.random.choice((0, 500, 9_000)), "cap": 8, "dedupe": False}
        made = [Message(host=HOST, stream="s", spider="s", body=b"", fingerprint=1, **wishes) for _ in range(2)]
        self.harness.run(self.plain.push(made))

    def live(self, events: int) -> None:
        for _ in range(events):
            self.time += self.random.choice((1, 99, 400, 1_000))
            self.harness.set_clock(self.plain.shards.key(0, "clock"), self.time)
            alive = [one for one in self.visitors if one.died_at is None]
            for one in alive:
                if self.time - one.stated_at >= 2_000:
                    one.stated_at = self.time
                    self.harness.run(one.frontier.rules.state())
                    one.said = True
            if not alive or self.random.random() < 0.05:
                self.come()
            elif self.random.random() < 0.05:
                self.random.choice(alive).died_at = self.time
            else:
                self.visit(self.random.choice(alive))

    def come(self) -> None:
        one = Visitor(self.worker(), self.random.choice((0, 100, 700, 3_000)), self.time)
        one.frontier.rules.statement = Statement("s", Pace(one.delay, self.random.choice((1, 8)), 1), {})
        self.visitors.append(one)
        if self.random.random() < 0.5:  # else with its first lease
            self.harness.run(one.frontier.rules.state())
            one.said = True

    def visit(self, one: Visitor) -> None:
        leases = self.harness.run(one.frontier.lease(["s"], 1, worker="w")).leases
        one.said = True
        if self.sent_at is not None:
            self.judge(self.time - self.sent_at, sent=bool(leases))
        for lease in leases:
            self.sent_at, self.sends = self.time, self.sends + 1
            handle = (lease.id, lease.token)
            self.harness.run(self.plain.settle([handle], [Report(*handle, 0, 0, 200)], [handle]))
            self.push()

    def judge(self, passed: int, *, sent: bool) -> None:
        """Never before the strictest live rule allows it, and never delayed by the rules of a worker that died long
        ago."""
        living = max(one.delay for one in self.visitors if one.said and one.died_at is None)
        of_late = max(
            one.delay for one in self.visitors if one.said and (one.died_at is None or self.time - one.died_at < 15_000)
        )
        if sent:
            assert passed >= living, f"{passed} ms after the last, {living} ms are in force"
        else:
            assert passed < of_late, f"{passed} ms after the last, at most {of_late} ms are in force"


def simulate(settings: BaseSettings, seed: int, pace: tuple[int, int, int], replaced: Mapping[str, str]) -> Fleet:
    """One fleet's life; raises AssertionError where the host was not treated politely."""
    harness = Harness(settings)
    try:
        fleet = Fleet(harness, seed, pace, replaced)
        fleet.live(EVENTS)
        return fleet
    finally:
        harness.close()


@pytest.mark.parametrize("pace", PACES)
def test_no_worker_clock_or_stall_breaks_the_pace(redis_settings: BaseSettings, pace: tuple[int, int, int]) -> None:
    seeds = CLUSTER_SEEDS if redis_settings.getbool("REDIS_CLUSTER") else SEEDS
    fleets = [simulate(redis_settings, seed, pace, {}) for seed in range(seeds)]
    sends = sum(len(fleet.sends) for fleet in fleets)
    assert sends > 10 * seeds, "the fleets did work"


def disagree(settings: BaseSettings, seed: int, replaced: Mapping[str, str]) -> Disagreement:
    """Raises AssertionError if a request was sent too early, or delayed by the rule of a dead worker."""
    harness = Harness(settings)
    try:
        disagreement = Disagreement(harness, seed, replaced)
        disagreement.live(EVENTS)
        return disagreement
    finally:
        harness.close()


@pytest.mark.one_server("scripts are the same on a Cluster, where test_rules.py runs them")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_each_request_goes_out_under_the_strictest_rule_of_the_living(redis_settings: BaseSettings, seed: int) -> None:
    assert disagree(redis_settings, seed, {}).sends > 10
