"""Laws of control, runs, budgets and page limits: what must hold whatever is done, in any order.

`test_model.py` says exactly what becomes of each request; here is what operators and limits may never lead to.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import pytest
from scrapy.settings import BaseSettings

from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Handle, Lease, Message, PushOutcome, Report
from crawler.frontier.run_record import Run
from crawler.frontier.runs.control import Target, run_target
from crawler.frontier.runs.spent_runs import SpentRun
from crawler.frontier.state.budgets import Terms
from tests.integration.frontier.harness import CLOCK, Harness
from tests.integration.frontier.making import acked, reported
from tests.integration.frontier.observation import DUMP, Observation, Place, observe

CONFIG: dict[str, Any] = {
    "lease_ms": 100_000,
    "start_within_ms": 20_000,
    "max_deliveries": 3,
    "queue_limit": 60,
    "dead_limit": 4,
    "gone_limit": 3,
    "breaker_faults": 0,
}
START_MS = 1_700_000_000_000
LASTS = (START_MS, START_MS + 10 * 86_400_000)
FOREVER = (0, 0)
HOSTS = ("a.example", "b.example", "c.example")
STREAMS = ("s", "s:browser", "t", "t:browser")
LIMITS = ((0, 0), (0, 0), (6, 0), (0, 3), (7, 3))  # pages of a run, pages per host
BUDGETS = {"d:a.example": 9, "*": 12, "s:s": 16}
STEPS = 60
OPERATIONS = {
    "push": 9,
    "lease": 9,
    "work_on": 12,
    "hand_back": 10,
    "time_passes": 5,
    "workers_die": 2,
    "settle_letters": 4,
    "pause_or_resume": 4,
    "cancel": 1,
    "clear": 1,
    "drop_spent": 3,
    "sift": 3,
    "recall": 1,
    "open_run": 1,
    "seal_and_settle": 3,
}


class Lawful:
    """Does anything to a frontier, one call after the other, and reads all that is stored after each."""

    def __init__(self, settings: BaseSettings, seed: int, replaced: Mapping[str, str]) -> None:
        self.rng = random.Random(seed)
        self.harness = Harness(settings)
        self.call = self.harness.run
        config = FrontierConfig("k", **CONFIG, dedupe=self.rng.choice(("compact", "exact", "window")))
        self.frontier = Frontier(
            self.harness.client, config, rng=lambda: 0.5, replaced={**replaced, "lib/clock": CLOCK}
        )
        self.raw = START_MS
        self.runs: list[Run] = []
        self.limits: dict[tuple[str, str], tuple[int, int]] = {}  # by spider and generation
        self.cancelled: set[tuple[str, str]] = set()
        self.paused: set[str] = set()
        self.given: list[Lease] = []
        self.most: dict[str, float] = {}  # requests, by budget
        self.used = Counter[str]()
        self.gone_again = Counter[tuple[str, str]]()
        self.seen = Observation()
        self.pass_ms(0)
        for name in self.rng.sample(sorted(BUDGETS), self.rng.randrange(3)):
            self.state_budget(name, BUDGETS[name], LASTS)
        for _ in range(2):
            self.open_run()

    def state_budget(self, name: str, requests: float, day: tuple[int, int] = FOREVER) -> None:
        self.most[name] = requests
        self.call(self.frontier.budgets.state([Terms(name, day, requests=requests, lasting=True)]))

    def step(self) -> str:
        """One operation; returns its name."""
        name = self.rng.choices(list(OPERATIONS), list(OPERATIONS.values()))[0]
        getattr(self, name)()
        self.check()
        return name

    # --- the world ---------------------------------------------------------------------------------------

    def time_passes(self) -> None:
        self.pass_ms(self.rng.choice((100, 2_000, 6_000, 24_000, 24_000, 110_000, 1_000_000)))

    def pass_ms(self, ms: int) -> None:
        self.raw += ms
        self.harness.set_clock(self.frontier.shards.key(0, "clock"), self.raw)

    def workers_die(self) -> None:
        before = len(self.given)
        self.lease(self.rng.randrange(1, 5))
        if held := [(lease.id, lease.token) for lease in self.given[before:] if self.rng.random() < 0.7]:
            self.call(self.frontier.start(held))
        for _ in range(6):
            self.pass_ms(20_000)
            self.reap()

    def reap(self) -> None:
        """Takes all expired leases back; what was never started costs no budget."""
        before, left = self.look(), -1
        while left != len(now := self.look().records):
            left = len(now)
            self.call(self.frontier.shards.run_all("reap"))
        for number in before.records.keys() - now.keys():
            if not before.records[number].started:
                self.used.subtract(self.governing(before.places[number]))

    def open_run(self) -> None:
        if len(self.runs) < 5:
            spider = self.rng.choice("sst")
            run = self.call(self.frontier.runs.open(spider, fresh=self.rng.random() < 0.5))
            self.runs.append(run)
            self.limits[spider, run.generation] = self.rng.choice(LIMITS)
            if self.rng.random() < 0.5:
                self.state_budget(f"r:{spider}:{run.generation}", self.rng.choice((1, 2, 5)))

    def generation(self, spider: str) -> str:
        return self.rng.choice(["0", *(run.generation for run in self.runs if run.spider == spider)])

    # --- the life of a request ---------------------------------------------------------------------------

    def push(self) -> None:
        stream, rng = self.rng.choice(STREAMS), self.rng
        spider, host = stream[0], rng.choice(HOSTS)
        generation = self.generation(spider)
        pages, per_host = self.limits.get((spider, generation), (0, 0))
        later = self.raw + 9_000 if rng.random() < 0.3 else 0
        priority, delay_ms = rng.choice((0, 0, 5, -3)), rng.choice((0, 0, 0, 1_000))
        messages = [
            Message(
                stream=stream,
                spider=spider,
                host=host,
                body=b"\x81\xa1u\xa5ab/%02d" % number,
                fingerprint=number,
                generation=generation,
                not_before_ms=later,
                priority=priority,
                delay_ms=delay_ms,
                cap=8,
                pages=pages,
                pages_per_host=per_host,
            )
            for number in rng.sample(range(1, 40), rng.randrange(1, 8))
        ]
        outcomes = self.call(self.frontier.push(messages, forced=rng.random() < 0.5))
        if (spider, generation) in self.cancelled:
            assert outcomes == [PushOutcome.CANCELLED] * len(messages)

    def lease(self, limit: int = 0) -> None:
        self.reap()
        limit, suspects = limit or self.rng.randrange(1, 10), self.rng.random() < 0.5
        for lease in self.call(self.frontier.lease(STREAMS, limit, worker="w", suspects_ok=suspects)).leases:
            spider = lease.stream[0]
            assert (spider, lease.generation) not in self.cancelled, "what is cancelled is not leased"
            said = {f"spider {spider}", f"host {lease.host}", f"run {spider}:{lease.generation}"}
            assert not said & self.paused, "what is paused is not leased"
            for name in self.governing(lease):
                self.used[name] += 1
                assert not self.most[name] or self.used[name] <= self.most[name], f"{name} is overrun"
            self.given.append(lease)

    def governing(self, lease: Lease | Place) -> list[str]:
        """The budgets of a request."""
        spider, own = lease.stream[0], f"*:{lease.host}"
        if lease.host == "a.example" and "d:a.example" in self.most:
            own = "d:a.example"
        elif "*" in self.most:
            self.most[own] = self.most["*"]
        return [name for name in (own, f"s:{spider}", f"r:{spider}:{lease.generation}") if name in self.most]

    def some_lease(self) -> tuple[Handle, Lease] | None:
        """One of the last, which may be stale; for the caller to do nothing if there is none."""
        if not self.given:
            return None
        lease = self.rng.choice(self.given[-8:])
        return (lease.id, lease.token), lease

    def hand_back(self) -> None:
        """What was never started is returned, or ends."""
        if (found := self.some_lease()) is None:
            return
        handle, lease = found
        self.note_returned(lease)
        delay_ms, stream = self.rng.choice((0, 0, 5_000)), lease.stream[0] + self.rng.choice(("", ":browser"))
        ways: tuple[Callable[[], Awaitable[Any]], ...] = (
            lambda: self.frontier.give_back([handle]),
            lambda: self.frontier.nack(*handle, delay_ms=delay_ms),
            lambda: self.frontier.move(*handle, stream=stream, delay_ms=delay_ms),
            lambda: self.frontier.put_off([handle], delay_ms=5_000),
            lambda: self.frontier.bury(*handle, reason="test"),
            lambda: self.frontier.skip([handle]),
        )
        self.call(self.rng.choice(ways)())

    def note_returned(self, lease: Lease) -> None:
        """It goes back, if it is still ours; what its budgets had reserved is returned if it was never started."""
        record = self.seen.records.get(int(lease.id.partition(":")[2]))
        if record is not None and record.token == lease.token and not record.started:
            self.used.subtract(self.governing(lease))

    def work_on(self) -> None:
        if (found := self.some_lease()) is None:
            return
        handle, frontier = found[0], self.frontier
        ways: tuple[Callable[[], Awaitable[Any]], ...] = (
            lambda: frontier.start([handle]),
            lambda: reported(frontier, [Report(*handle, 0, 10, 200)]),
            lambda: acked(frontier, [handle]),
            lambda: frontier.end_gone(*handle, reason="http_404", detail={}),
            lambda: frontier.renew([handle], for_room=True),
        )
        self.call(self.rng.choice(ways)())

    def recall(self) -> None:
        self.call(self.frontier.recall())

    def settle_letters(self) -> None:
        """Within their run, as another one's, or dropped."""
        is_gone = self.rng.random() < 0.5
        box = self.frontier.gone if is_gone else self.frontier.dead
        if not (letters := self.call(box.find())):
            self.write_letter(is_gone=is_gone)
            letters = self.call(box.find())
        if not letters:
            return
        letter = self.rng.choice(letters)
        if self.rng.random() < 0.3:
            self.call(box.drop([letter.id]))
            return
        target = self.generation(letter.spider) if self.rng.random() < 0.5 else ""
        if target not in {run.partition(":")[2] for run, _ in self.seen.pages}:  # a push sets limits, not a retry
            target = "0" if target else ""
        [done] = self.call(box.retry([letter.id], generation=target))
        assert done == ((letter.spider, target or letter.generation) not in self.cancelled)
        if done and is_gone and target in {"", letter.generation}:
            self.gone_again[letter.spider, letter.generation] += 1

    def write_letter(self, *, is_gone: bool) -> None:
        if (found := self.some_lease()) is None:
            return
        handle, lease = found
        if is_gone:
            self.call(self.frontier.end_gone(*handle, reason="http_404", detail={}))
            return
        self.note_returned(lease)
        self.call(self.frontier.bury(*handle, reason="test"))

    # --- control -----------------------------------------------------------------------------------------

    def pause_or_resume(self) -> None:
        subject = self.rng.choice(("spider s", "spider t", *(f"host {name}" for name in HOSTS), "run", "run", "run"))
        if subject == "run":
            subject = run_target(self.rng.choice(self.runs))
        if self.paused and self.rng.random() < 0.6:
            subject = self.rng.choice(sorted(self.paused))
        verb, change = ("resume", self.paused.discard) if subject in self.paused else ("pause", self.paused.add)
        self.call(self.frontier.control.say(verb, subject))  # type: ignore[arg-type]
        change(subject)

    def cancel(self) -> None:
        run = self.rng.choice(self.runs)
        if not self.call(self.frontier.runs.cancel(run.id)).is_over:
            self.cancelled.add((run.spider, run.generation))

    def clear(self) -> None:
        self.call(self.frontier.runs.clear())

    def drop_spent(self) -> None:
        """Only what is left of runs that have spent their own budget for good, and all of it."""
        if self.rng.random() < 0.7:
            self.call(acked(self.frontier, [(lease.id, lease.token) for lease in self.given]))
        before, live = self.look(), self.call(self.frontier.runs.unfinished())[1]
        dropped = {(one.run.spider, one.run.generation): one for one in self.call(_all(self.frontier.spent.drop()))}
        self.call(self.harness.client.delete(self.frontier.shards.key(0, "spent:turn")))
        for spider, generation in [(run.spider, run.generation) for run in live]:
            name, run = f"r:{spider}:{generation}", (spider, generation)
            mine = [place for place in before.places.values() if _run(place) == run and place.state != "dead"]
            is_spent = 0 < self.most.get(name, 0) <= self.used[name]
            is_over = is_spent and all(place.state != "leased" for place in mine)
            assert (dropped.pop(run).requests if run in dropped else 0) == (len(mine) if is_over else 0), name
        assert not dropped, "no other run"

    def sift(self) -> None:
        rng, actions = (
            self.rng,
            (("drop", "purged"), ("priority", "7"), ("priority", "-2"), ("stream", ":browser"), ("stream", "")),
        )
        does, value = rng.choice(actions)
        spider = rng.choice(("s", "t", "") if does != "stream" else ("s", "t"))
        target = Target(
            spider,
            rng.choice(("", self.generation(spider or "s"))),
            rng.choice(("", *HOSTS)),
            rng.choice(("", "^ab/1.$", "^ab/.[3-6]$")),
        )
        value = spider + value if does == "stream" else value
        self.call(self.frontier.control.sift(target, does, value))  # type: ignore[arg-type]

    def seal_and_settle(self) -> None:
        if self.rng.random() < 0.5:
            self.call(self.frontier.runs.seal(self.rng.choice(self.runs).id))
        for run in self.call(self.frontier.runs.settle()):
            counts = run.counts
            assert counts.accepted == counts.done + counts.dead + counts.dropped, "a run ends when all it took in has"
            assert (run.state == "cancelled") == ((run.spider, run.generation) in self.cancelled)
            self.paused.discard(run_target(run))

    # --- laws --------------------------------------------------------------------------------------------

    def look(self) -> Observation:
        keys = self.call(self.harness.client.eval(DUMP, 1, self.frontier.shards.key(0, "")))
        return observe([row for row in keys if not row[0].endswith(b":clock")])

    def check(self) -> None:
        seen = self.look()
        assert not seen.twice
        self.check_counters(seen)
        self.check_cancelled(seen)
        self.check_budgets_and_pages(seen)
        filed = [(lane, host) for kind in (seen.due, seen.wait, seen.park) for lane in kind for host in kind[lane]]
        queued = {(place.stream, place.host) for place in seen.places.values() if place.state == "queued"}
        assert sorted(filed) == sorted(queued), "each host with work is found, and no other"
        self.seen = seen

    def check_counters(self, seen: Observation) -> None:
        """None is below 0, each is what a recount gives, and accepted requests are somewhere or have ended."""
        for group, counters in seen.counters.items():
            mine = [place for place in seen.places.values() if (place.stream.rstrip("!"), place.generation) == group]
            for state in ("queued", "leased", "delayed", "dead"):
                assert counters[state] == sum(place.state == state for place in mine), (group, state)
            assert counters["accepted"] == len(mine) + counters["done"] + counters["dropped"], group
            assert all(count >= 0 for count in counters.values()), (group, counters)
            for state in ("dead", "dropped", "retried"):
                assert counters[state] == sum(counters[why] for why in counters if why.startswith(f"{state}:")), state
            assert group not in seen.seen or counters["seen"] == len(seen.seen[group])
        states = Counter(place.state for place in seen.places.values())
        suspects = sum(place.stream.endswith("!") for place in seen.places.values())
        assert (seen.state["backlog"], seen.state["suspects"]) == (states["queued"] + states["delayed"], suspects)
        assert seen.state["early"] == seen.early
        for name, stored in seen.hosts.items():
            held = sum(record.host == name and not record.released for record in seen.records.values())
            assert stored["in_flight"] == held

    def check_cancelled(self, seen: Observation) -> None:
        def queued(one: Observation, run: tuple[str, str]) -> set[int]:
            return {number for number, place in one.places.items() if place.state == "queued" and _run(place) == run}

        for run in self.cancelled:
            assert queued(seen, run) <= queued(self.seen, run), "what is cancelled is never queued again"

    def check_budgets_and_pages(self, seen: Observation) -> None:
        for name, used in seen.used.items():
            assert used == self.used[name], f"{name} has spent what was leased and not handed back"
        for (spider, generation), (pages, per_host) in self.limits.items():
            if (spider, generation) in self.cancelled or not pages + per_host:
                continue
            stored = {host: used for (run, host), (used, _) in seen.pages.items() if run == f"{spider}:{generation}"}
            total = Counter[str]()
            for (stream, of), counters in seen.counters.items():
                total += counters if (stream[0], of) == (spider, generation) else Counter()
            ended = total["done"] + total["dead"] + total["retried"] + total["dropped:dead letter"]
            used = total["leased"] + ended - self.gone_again[spider, generation]
            assert stored.get("", 0) == used, (
                f"pages of {spider}:{generation}, limits {pages, per_host}: {total}, stored {stored}"
            )
            assert not pages or used <= pages
            assert not per_host or all(stored.get(host, 0) <= per_host for host in HOSTS)

    # --- the end -----------------------------------------------------------------------------------------

    def end(self) -> None:
        """Once nothing is held back, all that was accepted ends, and so does each run."""
        self.paused.clear()
        for subject in self.call(self.frontier.control.said()).fields:
            self.call(self.frontier.control.say("resume", subject.partition(" ")[2]))
        for name in [name for name in self.most if name[:2] != "*:"]:
            self.state_budget(name, 0, FOREVER if name[:2] == "r:" else LASTS)
        self.most = dict.fromkeys(self.most, 0.0)
        for run in self.runs:
            self.call(self.frontier.runs.seal(run.id))
        self.pass_ms(1_000_000)
        left, stalls = self.pending(), 0
        while left and stalls < 15:
            self.pass_ms(20_000)
            self.call(self.frontier.runs.clear())
            self.pass_ms(4_000)  # after a longer silence each delay begins anew
            before = len(self.given)
            self.lease(32)
            self.call(acked(self.frontier, [(lease.id, lease.token) for lease in self.given[before:]]))
            self.check()
            left, stalls = self.pending(), 0 if self.pending() != left else stalls + 1
        assert not left, "nothing is stuck"
        self.call(self.frontier.runs.settle())
        assert all(self.call(self.frontier.runs.get(run.id)).is_over for run in self.runs)

    def pending(self) -> list[int]:
        return sorted(number for number, place in self.seen.places.items() if place.state != "dead")


async def _all(told: AsyncIterator[SpentRun]) -> list[SpentRun]:
    return [one async for one in told]


def _run(place: Place) -> tuple[str, str]:
    return place.stream[0], place.generation


def obey(settings: BaseSettings, seed: int, replaced: Mapping[str, str]) -> list[str]:
    """What was done; raises AssertionError, with that, when a law is broken."""
    lawful, done = Lawful(settings, seed, replaced), list[str]()
    try:
        for _ in range(STEPS):
            done.append(lawful.step())
        done.append("end")
        lawful.end()
    except AssertionError as error:
        error.add_note(f"seed {seed}, after {', '.join(done)}")
        raise
    finally:
        lawful.harness.close()
    return done


@pytest.mark.one_server("scripts are the same on a Cluster")
@pytest.mark.parametrize("seed", range(12))
def test_laws_hold_whatever_is_done(redis_settings: BaseSettings, seed: int) -> None:
    assert len(obey(redis_settings, seed, {})) == STEPS + 1, "every step, and the end"
