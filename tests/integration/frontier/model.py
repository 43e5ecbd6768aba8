"""What the frontier is meant to do, in plain Python: no scripts, no indexes, no batches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import floor, inf
from typing import Any, Literal

from crawler.frontier.config import SUSPECT_DELIVERIES, FrontierConfig
from crawler.frontier.messages import Message, PushOutcome, Report

JITTER = 0.5
DAY_MS = 86_400_000
State = Literal["queued", "leased", "delayed", "dead"]


@dataclass
class Host:
    """The politeness state of a host."""

    next: float = 0
    delay: float = 0
    floor: float = 0
    crawl: float = 0
    blocked: float = 0
    hold: float = 0
    hurt: float = 0
    tripped: float = 0
    streak: int = 0  # faults in a row, below 0; since `hurt`, 200s in a row, above 0
    trips: int = 0
    burst: int = 1  # never more here: test_wire.py has bursts
    cap: int = 1
    width: int = 1
    in_flight: int = 0
    latency: float = 0
    ok: int = 0
    bad: int = 0
    known: bool = False

    @property
    def least(self) -> float:
        return max(self.floor, self.crawl)

    @property
    def room(self) -> int:
        return (1 if self.trips else self.width) - self.in_flight


@dataclass
class Held:
    """What is known of a lease, or of a slot alone."""

    token: int
    host: str
    reserved: float
    start_by: float
    expires: float
    started: float = 0
    released: bool = False


@dataclass
class Url:
    """One accepted request."""

    message: Message
    state: State
    at: float  # score, or when it is due
    deliveries: int = 0
    letter_at: float = 0

    @property
    def lane(self) -> str:
        return self.message.stream + ("!" if self.deliveries >= SUSPECT_DELIVERIES else "")

    @property
    def group(self) -> tuple[str, str]:
        return self.message.stream, self.message.generation


@dataclass
class Model:
    """The whole frontier of one shard; `raw` is the server's clock, which tests move at will."""

    config: FrontierConfig
    raw: int
    clock: int | None = None
    offset: int = 0
    resumed: int = 0
    stepped: int = 0
    now: int = 0
    seq: int = 0
    evicted: int = 0
    urls: dict[int, Url] = field(default_factory=dict)
    held: dict[int, Held] = field(default_factory=dict)
    hosts: dict[str, Host] = field(default_factory=lambda: defaultdict(Host))
    seen: dict[tuple[str, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    counters: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    # --- time --------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """A script runs: time never goes backward, and a silence is noticed."""
        if self.clock is None:
            self.clock = self.raw
        offset = 0 if self.raw >= self.clock else max(self.offset, self.clock - self.raw)
        self.now = self.raw + offset
        if self.now - self.clock > self.config.lease_ms / 4 or offset != self.offset:
            self.resumed = self.now
        if self.now - self.clock > min(self.config.lease_ms / 4, 4_500) or offset != self.offset:
            self.stepped = self.now
        self.clock, self.offset = self.now, offset

    # --- places ------------------------------------------------------------------------------------------

    def queued(self, lane: str, host: str) -> list[int]:
        """The ids of a queue in the order in which they are to be leased."""
        found = [
            (url.at, number)
            for number, url in self.urls.items()
            if url.state == "queued" and url.lane == lane and url.message.host == host
        ]
        return [number for _, number in sorted(found)]

    def lanes(self) -> set[tuple[str, str]]:
        """Each lane and host with something queued."""
        return {(url.lane, url.message.host) for url in self.urls.values() if url.state == "queued"}

    def backlog(self) -> int:
        return sum(url.state in {"queued", "delayed"} for url in self.urls.values())

    def is_dead(self, spider: str, fingerprint: int) -> bool:
        return any(
            url.state == "dead" and (url.message.spider, url.message.fingerprint) == (spider, fingerprint)
            for url in self.urls.values()
        )

    def _move(self, number: int, state: State, at: float) -> None:
        url = self.urls[number]
        self.counters[url.group][url.state] -= 1
        self.counters[url.group][state] += 1
        url.state, url.at = state, at
        if state != "leased":
            self.held.pop(number, None)

    def _remove(self, number: int, counter: str) -> None:
        url = self.urls.pop(number)
        self.held.pop(number, None)
        self.counters[url.group][url.state] -= 1
        self.counters[url.group][counter] += 1

    def _score(self, priority: int) -> float:
        return self.now - max(-1000, min(1000, priority)) * self.config.priority_step_ms

    # --- hosts -------------------------------------------------------------------------------------------

    def ready_at(self, name: str) -> float:
        """When a request of the host may be leased; inf while it is at its cap."""
        host = self.hosts[name]
        if host.room <= 0:
            return inf
        return max(self.open_at(host), host.hold)

    def open_at(self, host: Host) -> float:
        """When a request may go out; after a silence the delay starts anew, for the clock may have jumped over it."""
        at = max(host.next, host.blocked)
        if host.delay and 0 < host.next < self.stepped:
            grace = self.config.start_within_ms if host.in_flight else 0
            at = max(at, self.stepped + host.delay + grace)
        return at

    def _configure(self, name: str, spider: str, delay: int, cap: int) -> None:
        host = self.hosts[name]
        if host.known and (delay, cap) == (host.floor, host.cap):
            return
        others = {lane.partition(":")[0].rstrip("!") for lane, at in self.lanes() if at == name} - {spider}
        host.floor = delay if not others else max(host.floor, delay)
        host.cap = cap if not others else min(host.cap, cap)
        host.width = min(host.width, host.cap) if host.hurt else host.cap
        before = host.delay
        if self.config.throttle:
            host.delay = max(host.delay if host.known else self.config.throttle_start_ms, host.least)
        else:
            host.delay = max(host.delay, host.least) if host.hurt else host.least
        if host.next and (host.delay > before or not host.in_flight):  # the next request keeps the new distance
            host.next += host.delay - before

    def _release(self, held: Held, wire: float | None) -> None:
        if held.released:
            return
        held.released = True
        host = self.hosts[held.host]
        host.in_flight -= 1
        if host.next == held.reserved:
            host.next = self.now if wire is None else wire + host.delay
        elif wire is not None:
            host.next = max(host.next, wire + host.delay)

    def _release_unreported(self, held: Held) -> None:
        self._release(held, self.now if held.started else None)

    # --- operations --------------------------------------------------------------------------------------

    def push(self, messages: Sequence[Message], *, forced: bool) -> list[PushOutcome]:
        """Host by host, as the frontier takes a batch; the answers are in the order of the messages."""
        self.tick()
        order = sorted(range(len(messages)), key=lambda at: messages[at].host)
        outcomes = {at: self._push(messages[at], forced=forced) for at in order}
        return [outcomes[at] for at in range(len(messages))]

    def _push(self, message: Message, *, forced: bool) -> PushOutcome:
        group = (message.stream, message.generation)
        known = self.seen[message.spider, message.generation]
        if not forced and self.backlog() >= self.config.queue_limit:
            outcome, event = PushOutcome.REFUSED_FULL, "refused"
        elif message.dedupe and self.is_dead(message.spider, message.fingerprint):
            outcome, event = PushOutcome.DUPLICATE_DEAD, "duplicates_dead"
        elif message.dedupe and message.fingerprint in known:
            outcome, event = PushOutcome.DUPLICATE, "duplicates"
        else:
            outcome, event = PushOutcome.ACCEPTED, "accepted"
            self._accept(message, known)
        self.counters[group][event] += 1
        return outcome

    def _accept(self, message: Message, known: set[int]) -> None:
        if message.dedupe:
            known.add(message.fingerprint)
        self._configure(message.host, message.spider, message.delay_ms, message.cap)
        self.hosts[message.host].known = True
        self.seq += 1
        is_delayed = message.not_before_ms > self.now
        state: State = "delayed" if is_delayed else "queued"
        at = message.not_before_ms if is_delayed else self._score(message.priority)
        self.urls[self.seq] = Url(message, state, at)
        self.counters[message.stream, message.generation][state] += 1

    def before_lease(self) -> None:
        """What each lease call does first: reap, and queue what was delayed until now."""
        self.tick()
        if self.now >= self.resumed + self.config.lease_ms:
            expired = sorted((held.expires, str(number)) for number, held in self.held.items())
            for expires, name in expired[:8]:
                if expires <= self.now:
                    self._reap(int(name))
        for number, url in self.urls.items():
            if url.state == "delayed" and url.at <= self.now:
                self._move(number, "queued", self._score(url.message.priority))

    def _reap(self, number: int) -> None:
        held = self.held[number]
        held.reserved = -1
        self._release(held, None)
        if number not in self.urls:
            del self.held[number]
            return
        url = self.urls[number]
        self.counters[url.group]["reaped"] += 1
        if url.deliveries >= self.config.max_deliveries:
            self._bury(number)
        else:
            self._move(number, "queued", url.at)

    def leased(self, number: int, token: int) -> None:
        """The frontier chose to hand out this request."""
        url = self.urls[number]
        host = self.hosts[url.message.host]
        if host.delay > 0:
            host.next = self.now + self.config.start_within_ms + host.delay
        host.in_flight += 1
        start_by, expires = self.now + self.config.start_within_ms, self.now + self.config.lease_ms
        self._move(number, "leased", url.at)
        self.held[number] = Held(token, url.message.host, host.next, start_by, expires)

    def start(self, number: int, token: int, *, on_wire: bool) -> bool:
        held = self._valid(number, token)
        if held is None:
            return False
        if not held.started:
            held.started = self.now
            if number in self.urls:
                self.urls[number].deliveries += 1
            host = self.hosts[held.host]
            paced = held.reserved > held.start_by
            if on_wire and paced and not held.released and host.next == held.reserved:
                host.next = held.reserved = self.now + host.delay
        return True

    def report(self, report: Report, number: int) -> int:
        held = self._valid(number, report.token)
        if held is None or held.released:
            return 0
        host, wire = self.hosts[held.host], self.now - report.elapsed_ms
        answer = 1 if report.excused else self._adapt(host, wire, report)
        if report.keep:
            spaced = wire + host.delay
            host.next = spaced if host.next == held.reserved else max(host.next, spaced)
            held.reserved = -1
        else:
            self._release(held, wire)
            if number not in self.urls:
                del self.held[number]
        return answer

    def _adapt(self, host: Host, wire: float, report: Report) -> int:
        most = max(self.config.throttle_max_ms, host.least)
        if report.status in {429, 503}:
            if wire >= host.hurt:
                host.delay = min(max(2 * host.delay, self.config.backoff_ms), most)
                host.width = max(1, host.width // 2)
                host.hurt, host.streak = self.now, min(host.streak, 0)
            rest = max(min(report.retry_after_ms, DAY_MS), host.delay)
            host.blocked = max(host.blocked, floor(self.now + rest * (1 + JITTER / 10)))
        else:
            self._forgive(host)
            if host.hurt and report.status == 200 and wire >= host.hurt:
                host.streak = max(host.streak, 0) + 1
                if host.streak == self.config.forgive_after:
                    host.streak = 0
                    self._ease(host)
            if self.config.throttle and report.status:
                target = report.latency_ms / self.config.throttle_target
                delay = floor(min(max(target, (host.delay + target) / 2, host.least), most))
                if delay > host.delay or (report.status == 200 and not host.hurt):
                    host.delay = delay
        if report.status:
            mean = 0.8 * host.latency + 0.2 * report.latency_ms
            host.latency = floor(mean) if host.latency else report.latency_ms
        if 0 < report.status < 500 and report.status != 429:
            host.ok += 1
        else:
            host.bad += 1
        is_fault = report.fault or (report.status >= 500 and not (report.status == 503 and report.retry_after_ms))
        return self._judge(host, wire, report.status, is_fault=is_fault)

    def _judge(self, host: Host, wire: float, status: int, *, is_fault: bool) -> int:
        """What the answer means to the host's breaker."""
        if wire < host.tripped or not (is_fault or status):
            return 1
        if not is_fault:
            closes, host.trips, host.streak = host.trips > 0, 0, max(host.streak, 0)
            return -1 if closes else 1
        host.streak = max(min(host.streak, 0) - 1, -self.config.breaker_faults)
        if not host.trips and -host.streak < self.config.breaker_faults:
            return 1
        rest = min(self.config.breaker_ms * 2**host.trips, self.config.breaker_max_ms) * (1 + JITTER / 10)
        host.trips, host.tripped = host.trips + 1, self.now
        host.blocked = max(host.blocked, floor(self.now + rest))
        return int(host.blocked - self.now)

    def _forgive(self, host: Host) -> None:
        while host.hurt and self.now - host.hurt >= self.config.forgive_ms:
            host.hurt += self.config.forgive_ms
            self._ease(host)

    def _ease(self, host: Host) -> None:
        host.width = min(host.cap, host.width * 2)
        host.delay = max(host.least, host.delay // 2)
        if host.delay <= max(host.least, self.config.backoff_ms / 2) and host.width == host.cap:
            host.delay, host.hurt = host.least, 0

    def ack(self, number: int, token: int) -> bool:
        held = self._valid(number, token)
        if held is None or number not in self.urls:
            return False
        self._release_unreported(held)
        self._remove(number, "done")
        return True

    def nack(self, number: int, token: int, *, delay_ms: int, body: bytes | None, priority: int) -> bool:
        held = self._valid(number, token)
        if held is None or number not in self.urls:
            return False
        self.tick()
        self._release(held, self.now if held.started or delay_ms > 0 else None)
        self._uncharge(number, held)
        url = self.urls[number]
        if body is not None:
            url.message = _changed(url.message, body=body, priority=priority)
        self.counters[url.group]["nacked"] += 1
        at = self.now + delay_ms if delay_ms > 0 else self._score(url.message.priority)
        self._move(number, "delayed" if delay_ms > 0 else "queued", at)
        return True

    def give_back(self, number: int, token: int) -> bool:
        held = self._valid(number, token)
        if held is None:
            return False
        self._release_unreported(held)
        if number in self.urls:
            self._uncharge(number, held)
            self._move(number, "queued", self.urls[number].at)
        else:
            del self.held[number]
        return True

    def move(self, number: int, token: int, *, stream: str, delay_ms: int, body: bytes | None, priority: int) -> bool:
        held = self._valid(number, token)
        if held is None or number not in self.urls:
            return False
        self.tick()
        self._uncharge(number, held)
        self._release_unreported(held)
        url = self.urls[number]
        self.counters[url.group]["leased"] -= 1
        url.message = _changed(url.message, stream=stream)
        self.counters[url.group]["leased"] += 1
        if body is not None:
            url.message = _changed(url.message, body=body, priority=priority)
        if delay_ms > 0:
            self._move(number, "delayed", self.now + delay_ms)
        else:
            self._move(number, "queued", url.at)
        return True

    def bury(self, number: int, token: int) -> bool:
        held = self._valid(number, token)
        if held is None or number not in self.urls:
            return False
        self.tick()
        self._release_unreported(held)
        self._bury(number)
        return True

    def _bury(self, number: int) -> None:
        self._move(number, "dead", 0)
        self.urls[number].letter_at = self.now
        letters = sorted((url.letter_at, str(key)) for key, url in self.urls.items() if url.state == "dead")
        if len(letters) > self.config.dead_limit:
            self.drop(int(letters[0][1]))
            self.evicted += 1

    def retry(self, number: int) -> bool:
        url = self.urls.get(number)
        if url is None or url.state != "dead":
            return False
        url.deliveries = 0
        self._move(number, "queued", self._score(url.message.priority))
        return True

    def drop(self, number: int) -> bool:
        url = self.urls.get(number)
        if url is None or url.state != "dead":
            return False
        self.seen[url.message.spider, url.message.generation].discard(url.message.fingerprint)
        self._remove(number, "dropped")
        return True

    def renew(self, number: int, token: int, *, suspended: bool) -> bool:
        held = self._valid(number, token)
        if held is None:
            return False
        if suspended and held.started:
            renewed = held.expires - self.config.lease_ms
            held.started += max(0, self.now - max(renewed, held.started))
        if held.started and self.now - held.started >= self.config.hard_cap_ms:
            return False
        held.expires = self.now + self.config.lease_ms
        return True

    def take_wait(self, name: str, number: int | None) -> float:
        """How long a request beside the queue has to wait; 0: it may go. With a lease's number: under that lease."""
        held = self.held[number] if number is not None else None
        host = self.hosts[name]
        at = self.open_at(host)
        has_slot = held is not None and not held.released
        if held and has_slot and held.reserved == host.next and self.now <= held.start_by:
            at = host.blocked
        wait = max(0, at - self.now)
        if not wait and not has_slot and host.room <= 0:
            wait = 250
        if wait:
            host.hold = max(host.hold, self.now + wait + 500)
        return wait

    def taken(self, name: str, number: int | None, token: int) -> None:
        """A slot was granted: to the lease of that number, or to a slot alone that the frontier numbered seq + 1."""
        host = self.hosts[name]
        host.hold = 0
        host.next = self.now + self.config.start_within_ms + host.delay if host.delay > 0 else self.now
        if number is None:
            self.seq += 1
            number = self.seq
            self.held[number] = Held(token, name, 0, 0, self.now + self.config.lease_ms, released=True)
        held = self.held[number]
        host.in_flight += held.released
        held.released, held.reserved, held.start_by = False, host.next, self.now + self.config.start_within_ms

    def configure_taker(self, name: str, delay: int, cap: int) -> None:
        self._configure(name, "", delay, cap)
        self.hosts[name].known = True

    def crawl_delay(self, name: str, asked: int) -> None:
        host = self.hosts[name]
        before = host.least
        host.crawl = asked
        if host.delay <= before or host.delay < host.least:
            host.next = host.next + max(0, host.least - host.delay) if host.next else 0
            host.delay = host.least
        host.known = host.known or asked > 0

    def _valid(self, number: int, token: int) -> Held | None:
        held = self.held.get(number)
        return held if held is not None and held.token == token else None

    def _uncharge(self, number: int, held: Held) -> None:
        if held.started:
            self.urls[number].deliveries -= 1


def _changed(message: Message, **changes: Any) -> Message:
    fields = {name: getattr(message, name) for name in Message.__slots__}
    return Message(**fields | changes)
