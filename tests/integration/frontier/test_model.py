"""The whole Lua API against the plain model: any sequence of calls, any clock, stale tokens, a full server.

`tests/mutants.py` shows that the faults it plants are found here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from math import ceil, inf
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from scrapy.settings import BaseSettings

from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Handle, Message, PushOutcome, Report
from crawler.frontier.server.scripts import source
from crawler.frontier.state.backpressure import Backpressure
from tests.effort import EXAMPLES
from tests.integration.frontier.harness import CLOCK, Harness
from tests.integration.frontier.making import acked, asks_for, reported, sent
from tests.integration.frontier.model import JITTER, Held, Model
from tests.integration.frontier.observation import DUMP, HOST_FIELDS, PACE_FIELDS, Observation, observe, order_on

SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=40,
    deadline=None,
    database=None,
    phases=[Phase.generate],  # shrinking a failure takes minutes: add Phase.shrink by hand
    suppress_health_check=list(HealthCheck),
)
CONFIG = {
    "lease_ms": 100_000,
    "start_within_ms": 20_000,
    "hard_cap_ms": 250_000,
    "max_deliveries": 3,
    "queue_limit": 14,
    "dead_limit": 2,
    "gone_limit": 3,
    "give_up_ms": 9_000,
    "breaker_faults": 2,
    "breaker_ms": 5_000,
    "breaker_max_ms": 12_000,
}
HOSTS = ("a.example", "b.example", "c.example")
KEYS = ("red", "three", "k")  # on a Cluster their shards are on different nodes
STREAMS = ("s", "s:browser", "t")
WORKER = "worker"
HOUR_MS = 3_600_000

few = st.integers(0, 3)
picks = st.integers(0, 10_000)
handles = st.lists(
    st.tuples(picks, st.booleans()), min_size=1, max_size=4
)  # which lease; and whether its token is right
maybe_a_host = st.sampled_from((None, None, *HOSTS))
wishes: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    stream=st.sampled_from(STREAMS),
    host=st.sampled_from(HOSTS),
    fingerprint=st.integers(1, 12),
    priority=st.sampled_from((0, 0, 0, 1, -3, 5, 2_000)),
    dedupe=st.sampled_from((True, True, True, False)),
    generation=st.sampled_from(("0", "0", "1")),
    in_ms=st.sampled_from((0, 0, 0, -5, 40, 30_000, 200_000)),
    delay_ms=st.sampled_from((0, 0, 0, 1_000, 1_000, 2_500)),
    cap=st.sampled_from((1, 1, 2, 8)),
)


class FrontierMachine(RuleBasedStateMachine):
    """Each rule makes one call and compares its answer; the invariant compares all that is stored."""

    settings: ClassVar[BaseSettings]
    replaced: ClassVar[Mapping[str, str]] = {}
    compared: ClassVar[int] = 0  # states of the store

    def __init__(self) -> None:
        super().__init__()
        self.harness = Harness(self.settings)
        self.client, self.run = self.harness.client, self.harness.run
        self.given: list[Handle] = []  # every handle ever given out: stale ones are tried too
        self.pushed = 0
        self.full = False

    def teardown(self) -> None:
        self.harness.set_maxmemory(0)
        self.harness.close()

    @initialize(key=st.sampled_from(KEYS), throttle=st.booleans())
    def fresh(self, key: str, throttle: bool) -> None:
        config = FrontierConfig(key, **CONFIG, throttle=throttle)  # type: ignore[arg-type]
        seen = self.replaced.get("lib/seen") or source("lib/seen")
        crowded = seen.replace("compact = 192", "compact = 2")  # so that buckets split
        replaced = {**self.replaced, "lib/clock": CLOCK, "lib/seen": crowded}
        self.frontier = Frontier(self.client, config, rng=lambda: JITTER, replaced=replaced)
        self.frontier.gauge = Backpressure(self.client, self.frontier.shards, clock=lambda: 0.0)
        self.run(self.frontier.gauge.full())  # looks once: the server itself refuses
        self.model = Model(config, raw=1_700_000_000_000)
        self.set_clock()

    def set_clock(self) -> None:
        self.harness.set_clock(self.frontier.shards.key(0, "clock"), self.model.raw)

    # --- the world ---------------------------------------------------------------------------------------

    @rule(ms=st.sampled_from((10, 250, 1_000, 4_000, 21_000, 26_000, 99_000, 101_000, HOUR_MS, -HOUR_MS)))
    def time_passes(self, ms: int) -> None:
        self.model.raw += ms
        self.set_clock()

    @rule(steps=st.integers(4, 12))
    def time_passes_while_the_fleet_works(self, steps: int) -> None:
        """Without a silence, so that nothing keeps expired leases from being reaped."""
        for _ in range(steps):
            self.time_passes(20_000)
            assert self.run(acked(self.frontier, [("0:0", 0)])) == [False]
            self.model.tick()

    @rule(limit=st.integers(1, 3), rounds=st.integers(1, 2))
    def workers_die_with_what_they_sent(self, limit: int, rounds: int) -> None:
        """Poison pages: each such round counts as a delivery."""
        for _ in range(rounds):
            before = len(self.given)
            self.lease(list(STREAMS), limit, True, [])
            for at in range(before, len(self.given)):
                self.send([self.given[at]], on_wire=True)
            self.time_passes_while_the_fleet_works(6)
            self.lease(["t"], 1, False, [])
        self.lease(list(STREAMS), limit, True, [])

    @rule(chosen=handles, steps=st.integers(1, 5))
    def pages_stay_on_the_wire(self, chosen: list[tuple[int, bool]], steps: int) -> None:
        """Renewed as long as that is allowed."""
        batch = self.pick(chosen)
        self.send(batch)
        for _ in range(steps):
            self.time_passes(80_000)
            self.settle_handles(batch, self.frontier.renew, partial(self.model.renew, suspended=False))

    def crowd(self, host: str | None) -> None:
        """More requests of a host that takes many at once."""
        if host:
            wish = {"stream": "s", "host": host, "priority": 0, "dedupe": False, "generation": "0", "in_ms": 0}
            self.push([{**wish, "fingerprint": at, "delay_ms": 0, "cap": 8} for at in range(1, 4)], forced=True)

    @rule(elapsed=st.sampled_from((0, 30, 700)), latency=st.sampled_from((0, 100)), crowded=maybe_a_host)
    def hosts_refuse_a_burst(self, elapsed: int, latency: int, crowded: str | None) -> None:
        self.crowd(crowded)
        before = len(self.given)
        self.lease(list(STREAMS), 6, False, [])
        self.report_handles(self.given[before:], lambda handle: Report(*handle, elapsed, latency, 429))

    @rule(
        statuses=st.lists(st.sampled_from((200, 0, 0, 500, 503)), min_size=1, max_size=4),
        late=st.booleans(),
        crowded=maybe_a_host,
    )
    def hosts_break_down_and_recover(self, statuses: list[int], late: bool, crowded: str | None) -> None:
        """Answer after answer from all hosts, each as soon as it may be visited; some come late."""
        self.crowd(crowded)
        for status in statuses:
            self.time_passes(6_000)
            before = len(self.given)
            self.lease(list(STREAMS), 6, False, [])
            made = self.given[before:]
            self.report_handles(made[: len(made) - late], partial(_answer, status))
            self.report_handles(made, partial(_answer, 200))
            self.settle_handles(made, self.frontier.give_back, self.model.give_back)

    @precondition(lambda self: self.pushed > 0)
    @rule(full=st.booleans())
    def memory_fills_or_is_freed(self, full: bool) -> None:
        self.full = full
        self.harness.set_maxmemory(1 if full else 0)

    # --- calls -------------------------------------------------------------------------------------------

    @rule(batch=st.lists(wishes, min_size=1, max_size=5), forced=st.booleans())
    def push(self, batch: list[dict[str, Any]], forced: bool) -> None:
        messages = [self.message(**wish) for wish in batch]
        outcomes = self.run(self.frontier.push(messages, forced=forced))
        if self.full:
            assert outcomes == [PushOutcome.REFUSED_MEMORY] * len(messages)
        else:
            assert outcomes == self.model.push(messages, forced=forced)

    def message(self, *, stream: str, in_ms: int, **fields: Any) -> Message:
        self.pushed += 1
        not_before = self.model.now + in_ms if in_ms else 0
        body = b"body %d" % self.pushed
        return Message(stream=stream, spider=stream[0], body=body, not_before_ms=max(0, not_before), **fields)

    @rule(
        streams=st.lists(st.sampled_from(STREAMS), min_size=1, unique=True),
        limit=st.integers(1, 6),
        suspects_ok=st.booleans(),
        excluded=st.lists(st.sampled_from(HOSTS), max_size=1),
    )
    def lease(self, streams: list[str], limit: int, suspects_ok: bool, excluded: list[str]) -> None:
        batch = self.run(
            self.frontier.lease(streams, limit, worker=WORKER, suspects_ok=suspects_ok, exclude_hosts=excluded)
        )
        model = self.model
        model.before_lease()
        suspects = [f"{stream}!" for stream in streams] if suspects_ok else []
        has_suspect = bool(self.eligible(suspects, excluded))
        lanes, most = (suspects, 1) if has_suspect else (streams, limit)
        for lease in batch.leases:
            number = number_of(lease.id)
            url = model.urls[number]
            assert (url.lane, url.message.host) in self.eligible(lanes, excluded)
            assert model.queued(url.lane, url.message.host)[0] == number, (
                "the most urgent, then the oldest, comes first"
            )
            assert (lease.body, lease.deliveries) == (url.message.body, url.deliveries)
            assert (lease.host, lease.stream) == (url.message.host, url.message.stream)
            assert (lease.generation, lease.fingerprint) == (url.message.generation, url.message.fingerprint)
            model.leased(number, lease.token)
            self.given.append((lease.id, lease.token))
        assert len(batch.leases) <= most
        if len(batch.leases) < most:
            assert not self.eligible(lanes, excluded), "nothing that may go is held back"
            self.check_next_due(batch.next_due_ms, streams, excluded)
        assert batch.queued == model.backlog()

    def eligible(self, lanes: list[str], excluded: list[str]) -> set[tuple[str, str]]:
        found = {(lane, host) for lane, host in self.model.lanes() if lane in lanes and host not in excluded}
        return {place for place in found if self.model.ready_at(place[1]) <= self.model.now}

    def check_next_due(self, next_due_ms: int | None, streams: list[str], excluded: list[str]) -> None:
        model = self.model
        times = [url.at for url in model.urls.values() if url.state == "delayed"]
        for lane, host in model.lanes():
            if lane in streams and host not in excluded and model.ready_at(host) < inf:
                times.append(model.ready_at(host))
        if times:
            assert next_due_ms is not None
            assert next_due_ms <= max(0, min(times) - model.now)

    @rule(chosen=handles, on_wire=st.booleans())
    def start(self, chosen: list[tuple[int, bool]], on_wire: bool) -> None:
        self.send(self.pick(chosen), on_wire=on_wire)

    def send(self, batch: list[Handle], *, on_wire: bool = False) -> None:
        self.settle_handles(
            batch,
            partial(sent, self.frontier) if on_wire else self.frontier.start,
            partial(self.model.start, on_wire=on_wire),
        )

    @rule(
        chosen=handles,
        elapsed=st.sampled_from((0, 30, 700, 9_000)),
        latency=st.sampled_from((0, 100, 5_000)),
        status=st.sampled_from((200, 200, 200, 404, 429, 503, 500, 0)),
        retry_after=st.sampled_from((0, 0, 1_500, 90_000, 10**8)),
        keep=st.sampled_from((False, False, False, True)),
        excused=st.sampled_from((False, False, False, True)),
        fault=st.booleans(),
    )
    def report(
        self,
        chosen: list[tuple[int, bool]],
        elapsed: int,
        latency: int,
        status: int,
        retry_after: int,
        keep: bool,
        excused: bool,
        fault: bool,
    ) -> None:
        fault = fault and not status
        self.report_handles(
            self.pick(chosen),
            lambda handle: Report(*handle, elapsed, latency, status, retry_after, keep, excused, fault),
        )

    def report_handles(self, batch: list[Handle], made: Callable[[Handle], Report]) -> None:
        self.settle_handles(
            batch,
            lambda batch: reported(self.frontier, [made(handle) for handle in batch]),
            lambda number, token: self.model.report(made(("", token)), number),
        )

    @rule(
        host=st.sampled_from(HOSTS),
        elapsed=st.sampled_from((0, 30, 9_000)),
        status=st.sampled_from((403, 200, 503)),
        again=st.booleans(),
    )
    def back_off(self, host: str, elapsed: int, status: int, again: bool) -> None:
        answer = self.run(self.frontier.back_off(host, elapsed, status=status, again=again))
        self.model.tick()
        assert answer == self.model.back_off(host, elapsed, status, again=again)

    @rule(chosen=handles)
    def ack(self, chosen: list[tuple[int, bool]]) -> None:
        self.settle(chosen, partial(acked, self.frontier), self.model.ack)

    @rule(started=handles, reported=handles, acked=handles, status=st.sampled_from((200, 429, 500)))
    def settle_at_once(
        self,
        started: list[tuple[int, bool]],
        reported: list[tuple[int, bool]],
        acked: list[tuple[int, bool]],
        status: int,
    ) -> None:
        starts, ended, acks = self.pick(started), self.pick(reported), self.pick(acked)
        if not starts:
            return
        reports = [Report(*handle, 30, 100, status) for handle in ended]
        answers = self.run(self.frontier.settle(starts, reports, acks))
        self.model.tick()
        model = self.model
        assert answers == (
            [model.start(number_of(handle[0]), handle[1], on_wire=True) for handle in starts],
            [model.report(report, number_of(report.id)) for report in reports],
            [model.ack(number_of(handle[0]), handle[1]) for handle in acks],
        )

    @rule(chosen=handles)
    def give_back(self, chosen: list[tuple[int, bool]]) -> None:
        self.settle(chosen, self.frontier.give_back, self.model.give_back)

    @rule(chosen=handles, how=st.sampled_from(({}, {"suspended": True}, {"for_room": True})))
    def renew(self, chosen: list[tuple[int, bool]], how: dict[str, bool]) -> None:
        self.settle(
            chosen,
            lambda batch: self.frontier.renew(batch, **how),
            lambda number, token: self.model.renew(number, token, **{"suspended": False} | how),
        )

    @rule(chosen=handles, delay_ms=st.sampled_from((0, 1, 5_000, 150_000)), sent=st.booleans())
    def put_off(self, chosen: list[tuple[int, bool]], delay_ms: int, sent: bool) -> None:
        for handle in self.pick(chosen[:1]):
            if sent:
                self.send([handle])
            answer = self.run(self.frontier.put_off([handle], delay_ms=delay_ms))
            assert answer == [self.model.put_off(number_of(handle[0]), handle[1], delay_ms=delay_ms)]

    @rule(times=st.integers(2, 4), delay_ms=st.sampled_from((1_000, 400_000)))
    def pages_find_no_room_again_and_again(self, times: int, delay_ms: int) -> None:
        for _ in range(times):
            self.recall()
            before = len(self.given)
            self.lease(list(STREAMS), 2, False, [])
            for handle in self.given[before:]:
                answer = self.run(self.frontier.put_off([handle], delay_ms=delay_ms))
                assert answer == [self.model.put_off(number_of(handle[0]), handle[1], delay_ms=delay_ms)]

    @rule()
    def recall(self) -> None:
        assert self.run(self.frontier.recall()) == self.model.recall()

    @rule(
        chosen=handles,
        delay_ms=st.sampled_from((0, 1, 5_000, 150_000)),
        body=st.sampled_from((None, b"", b"new body")),
        priority=st.sampled_from((0, -1, 2, 5_000)),
        sent=st.booleans(),
    )
    def nack(
        self, chosen: list[tuple[int, bool]], delay_ms: int, body: bytes | None, priority: int, sent: bool
    ) -> None:
        again: dict[str, Any] = {"delay_ms": delay_ms, "body": body, "priority": priority}
        for handle in self.pick(chosen[:1]):
            if sent:
                self.send([handle])
            answer = self.run(self.frontier.nack(*handle, **again))
            assert answer == self.model.nack(number_of(handle[0]), handle[1], **again)

    @rule(
        chosen=handles,
        tier=st.sampled_from(("", ":browser", ":api")),
        delay_ms=st.sampled_from((0, 0, 1_000)),
        body=st.sampled_from((None, b"new body")),
        priority=st.sampled_from((0, 3)),
        sent=st.booleans(),
        fresh=st.booleans(),
    )
    def move(
        self,
        chosen: list[tuple[int, bool]],
        tier: str,
        delay_ms: int,
        body: bytes | None,
        priority: int,
        sent: bool,
        fresh: bool,
    ) -> None:
        if fresh:
            self.lease(list(STREAMS), 1, False, [])
        for handle in self.given[-1:] if fresh else self.pick(chosen[:1]):
            number = number_of(handle[0])
            if sent:
                self.send([handle])
            url = self.model.urls.get(number)
            stream = (url.message.spider if url else "s") + tier
            how: dict[str, Any] = {"stream": stream, "delay_ms": delay_ms, "body": body, "priority": priority}
            answer = self.run(self.frontier.move(*handle, **how))
            assert answer == self.model.move(number, handle[1], **how)

    @rule(
        chosen=handles, body=st.sampled_from((None, None, b"", b"new body")), priority=st.sampled_from((0, -1, 5_000))
    )
    def bury(self, chosen: list[tuple[int, bool]], body: bytes | None, priority: int) -> None:
        changed: dict[str, Any] = {"body": body, "priority": priority}
        for handle in self.pick(chosen[:1]):
            answer = self.run(self.frontier.bury(*handle, reason="test", detail={"why": "because"}, **changed))
            assert answer == self.model.bury(number_of(handle[0]), handle[1], **changed)

    @rule(chosen=handles, sent=st.booleans())
    def pages_are_gone(self, chosen: list[tuple[int, bool]], sent: bool) -> None:
        for handle in self.pick(chosen):
            if sent:
                self.send([handle])
            answer = self.run(self.frontier.end_gone(*handle, reason="http_404", detail={}))
            assert answer == self.model.end_gone(number_of(handle[0]), handle[1])

    @rule(pick=picks, retried=st.booleans())
    def settle_what_is_gone(self, pick: int, retried: bool) -> None:
        kept = sorted(self.model.gone)
        number = kept[pick % len(kept)] if kept and pick % 5 else pick % (self.model.seq + 2)
        gone = self.frontier.gone
        answer = self.run((gone.retry if retried else gone.drop)([f"0:{number}"]))
        self.model.tick()
        assert answer == [(self.model.retry_gone if retried else self.model.drop_gone)(number)]

    @rule(host=st.sampled_from(HOSTS))
    def a_host_is_said_to_be_down(self, host: str) -> None:
        order = order_on(self.observed(), host) if self.model.clock is not None else []
        assert self.run(self.frontier.breakers.host_down(host)) == self.model.host_down(host, order)

    @rule(host=st.sampled_from(HOSTS), times=st.integers(1, 4), nacked=st.booleans())
    def a_host_stays_down(self, host: str, times: int, nacked: bool) -> None:
        """Probe after probe fails, and its worker reports each opening; the probe is retried later, or at once."""
        self.crowd(host)
        for _ in range(times):
            before = len(self.given)
            self.lease(list(STREAMS), 6, False, [])
            made = self.given[before:]
            self.report_handles(made, partial(_answer, 0))
            self.a_host_is_said_to_be_down(host)
            for handle in made:
                answer = self.run(self.frontier.nack(*handle, delay_ms=100 * nacked))
                again: dict[str, Any] = {"delay_ms": 100 * nacked, "body": None, "priority": 0}
                assert answer == self.model.nack(number_of(handle[0]), handle[1], **again)
            self.time_passes(4_000)

    @rule(host=st.sampled_from(HOSTS), delay_ms=st.sampled_from((0, 1_000)), cap=st.sampled_from((1, 2)))
    def take(self, host: str, delay_ms: int, cap: int) -> None:
        slot = self.run(self.frontier.reserve_slot(host, delay_ms=delay_ms, cap=cap, worker=WORKER))
        self.model.tick()
        self.model.configure_taker(host, delay_ms, cap)
        self.check_take(slot.wait_ms, slot.token, host, None)

    @rule(chosen=handles)
    def take_under_a_lease(self, chosen: list[tuple[int, bool]]) -> None:
        for handle in self.pick(chosen[:1]):
            slot = self.run(self.frontier.reserve_slot("ignored.example", worker=WORKER, lease=handle))
            held = self.valid(handle)
            assert slot.lost == (held is None)
            if held is not None:
                self.model.tick()
                self.check_take(slot.wait_ms, slot.token, held.host, number_of(handle[0]))

    def check_take(self, wait_ms: int, token: Handle | None, host: str, number: int | None) -> None:
        assert wait_ms == self.model.take_wait(host, number)
        assert (token is None) == (wait_ms > 0)
        if token is not None:
            self.model.taken(host, number, token[1])
            assert number_of(token[0]) == (self.model.seq if number is None else number)
            self.given.append(token)

    @rule(host=st.sampled_from(HOSTS), asked=st.sampled_from((0, 400, 3_000)))
    def crawl_delay(self, host: str, asked: int) -> None:
        answer = self.run(asks_for(self.frontier, host, f"http://{host}", asked))
        self.model.tick()
        self.model.crawl_delay(host, asked)
        known = self.model.hosts[host]
        assert answer == ceil(max(known.delay, known.blocked - self.model.now))

    @rule(pick=picks, retried=st.booleans())
    def settle_a_dead_letter(self, pick: int, retried: bool) -> None:
        number = pick % (self.model.seq + 2)
        dead = self.frontier.dead
        answer = self.run((dead.retry if retried else dead.drop)([f"0:{number}"]))
        self.model.tick()
        assert answer == [(self.model.retry if retried else self.model.drop)(number)]

    # --- handles -----------------------------------------------------------------------------------------

    def pick(self, chosen: list[tuple[int, bool]]) -> list[Handle]:
        """Mostly handles of the latest leases, some of them long stale, some with a wrong token."""
        picked: list[Handle] = []
        for index, right in chosen:
            if self.given:
                recent = self.given[-8:] if index % 4 else self.given
                lease_id, token = recent[index // 4 % len(recent)]
                picked.append((lease_id, token if right or index % 5 else token + 1))
        return picked

    def settle(
        self,
        chosen: list[tuple[int, bool]],
        call: Callable[[list[Handle]], Awaitable[list[bool]]],
        expected: Callable[[int, int], bool],
    ) -> None:
        self.settle_handles(self.pick(chosen), call, expected)

    def settle_handles(
        self,
        batch: list[Handle],
        call: Callable[[list[Handle]], Awaitable[list[bool] | list[int]]],
        expected: Callable[[int, int], int],
    ) -> None:
        if batch:
            answers = self.run(call(batch))
            self.model.tick()
            assert answers == [expected(number_of(handle[0]), handle[1]) for handle in batch]

    def valid(self, handle: Handle) -> Held | None:
        held = self.model.held.get(number_of(handle[0]))
        return held if held is not None and held.token == handle[1] else None

    # --- what is stored ----------------------------------------------------------------------------------

    def observed(self) -> Observation:
        keys = self.run(self.client.eval(DUMP, 1, self.frontier.shards.key(0, "")))
        return observe([row for row in keys if not row[0].endswith(b":clock")])

    @invariant()
    def stored_is_what_the_model_says(self) -> None:
        if not hasattr(self, "model") or self.model.clock is None:
            return
        type(self).compared += 1
        seen = self.observed()
        check_requests(seen, self.model)
        check_counters(seen, self.model)
        check_leases(seen, self.model)
        check_alarm(seen, self.model)
        check_hosts(seen, self.model)
        check_filing(seen, self.model)


def _answer(status: int, handle: Handle) -> Report:
    return Report(*handle, 30, 30, status, fault=not status)


def number_of(lease_id: str) -> int:
    return int(lease_id.partition(":")[2])


def check_requests(seen: Observation, model: Model) -> None:
    """Nothing lost, nothing twice, each in its one place with all that belongs to it."""
    assert not seen.twice
    assert set(seen.places) == set(model.urls)
    assert set(seen.gone) == set(model.gone)
    for number, url in model.urls.items():
        place, message = seen.places[number], url.message
        lane = url.lane if url.state == "queued" else message.stream
        assert (place.state, place.stream, place.host) == (url.state, lane, message.host)
        assert (place.body, place.fingerprint, place.generation) == (
            message.body,
            message.fingerprint,
            message.generation,
        )
        assert (place.priority, place.deliveries) == (max(-1000, min(1000, message.priority)), url.deliveries)
        if url.state in {"queued", "delayed"}:
            assert place.at == url.at
    assert {key: value for key, value in seen.seen.items() if value} == {
        key: value for key, value in model.seen.items() if value
    }


def check_counters(seen: Observation, model: Model) -> None:
    """accepted = queued + leased + delayed + dead + done + dropped, and each is what a recount gives."""
    for group, counters in seen.counters.items():
        mine = [place for place in seen.places.values() if (place.stream.rstrip("!"), place.generation) == group]
        for state in ("queued", "leased", "delayed", "dead"):
            assert counters[state] == sum(place.state == state for place in mine), (group, state)
        ended = counters["done"] + counters["dropped"]
        assert counters["accepted"] == len(mine) + ended
        assert all(count >= 0 for count in counters.values()), (group, counters)
        for state in ("dead", "dropped"):
            assert counters[state] == sum(counters[why] for why in counters if why.startswith(f"{state}:")), state
        assert counters["gone"] <= counters["done"]
        for name in ("done", "gone", "dropped", "duplicates", "duplicates_dead", "refused", "nacked", "reaped"):
            assert counters[name] == model.counters[group][name], (group, name)
    assert seen.state["backlog"] == model.backlog()
    assert seen.state["evicted"] == model.evicted
    assert seen.state["suspects"] == sum(lane.endswith("!") for lane in lanes_of(model))
    assert {group for group, counters in model.counters.items() if any(counters.values())} <= set(seen.counters)
    dead = [url.message for url in model.urls.values() if url.state == "dead"]
    assert seen.dead_fingerprints.total() == len(dead)
    assert seen.again == model.again
    assert set(seen.dead_fingerprints) == {(message.spider, message.fingerprint) for message in dead}


def lanes_of(model: Model) -> list[str]:
    return [url.lane for url in model.urls.values() if url.state == "queued"]


def check_alarm(seen: Observation, model: Model) -> None:
    """Reaping is never forgotten: the alarm is set no later than something is due."""
    due = [held.expires for held in model.held.values()]
    due += [url.at for url in model.urls.values() if url.state == "delayed"]
    if due:
        latest = max(min(due), model.resumed + model.config.lease_ms)
        assert 0 < seen.state["alarm"] <= latest


def check_leases(seen: Observation, model: Model) -> None:
    assert set(seen.records) == set(model.held)
    for number, held in model.held.items():
        record = seen.records[number]
        assert (record.host, record.token) == (held.host, held.token)
        assert (record.released, record.started, record.expires) == (held.released, held.started, held.expires)
        assert record.reserved == held.reserved
        assert record.start_by == held.start_by


def check_hosts(seen: Observation, model: Model) -> None:
    assert seen.down == {name: host.down for name, host in model.hosts.items() if host.down is not None}
    names = set(HOST_FIELDS) - {"lead"}  # an ordering hint, which has tests of its own
    for name, stored in seen.hosts.items():
        expected = model.hosts[name]
        assert {field: stored[field] for field in names} == pytest.approx(
            {field: getattr(expected, field) for field in names}, rel=1e-12
        ), name
        slots = sum(record.host == name and not record.released for record in seen.records.values())
        assert stored["in_flight"] == slots
        memory = {field: getattr(expected, field) for field in PACE_FIELDS}
        assert seen.paces.get(name, dict.fromkeys(PACE_FIELDS, 0)) == pytest.approx(memory), name
        assert sorted(stored["streams"]) == sorted(lane for lane, host in model.lanes() if host == name)


def check_filing(seen: Observation, model: Model) -> None:
    """No host is stranded: with work it is in one of the three sets, in `wait` never for longer than it has to, and in
    `park` only while it is at its cap."""
    lanes = model.lanes()
    kinds = (seen.due, seen.wait, seen.park)
    filed = [(lane, host) for kind in kinds for lane, hosts in kind.items() for host in hosts]
    assert sorted(filed) == sorted(lanes)
    for lane, host in lanes:
        if host in seen.park[lane]:
            assert model.ready_at(host) == inf, f"{host} is parked on {lane} with room left"
        elif host in seen.wait[lane]:
            assert seen.wait[lane][host] <= max(model.now, latest(model, host)), f"{host} waits too long on {lane}"
    assert seen.state["early"] == seen.early


def latest(model: Model, host: str) -> float:
    """The latest time at which a waiting host is checked again; if it has reached its cap since, after a lease's
    time."""
    at = model.ready_at(host)
    return at if at < inf else model.now + model.config.lease_ms


@pytest.mark.more
def test_any_sequence_of_calls_agrees_with_the_model(redis_settings: BaseSettings) -> None:
    """The scripts are the same on a Cluster, where a third shows that each finds its keys."""
    machine: type[FrontierMachine] = type("Machine", (FrontierMachine,), {"settings": redis_settings})
    tried = settings(SETTINGS, max_examples=EXAMPLES // 3) if redis_settings["REDIS_CLUSTER"] else SETTINGS
    run_state_machine_as_test(machine, settings=tried)
    assert machine.compared >= tried.max_examples, "each example ends with one"
