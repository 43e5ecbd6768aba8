"""What the frontier is meant to do, in plain Python: no scripts, no indexes, no batches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, floor, inf
from typing import Any, Literal

from crawler.frontier.config import FrontierConfig
from crawler.frontier.messages import Message, PushOutcome, Report
from crawler.frontier.script_constants import SUSPECT_DELIVERIES
from tests.integration.frontier.pace_model import Pace, Rule

JITTER = 0.5
State = Literal["queued", "leased", "delayed", "dead"]


@dataclass
class Host(Pace):
    """The politeness state of a host."""

    hold: float = 0
    tripped: float = 0
    streak: int = 0  # faults in a row, below 0
    trips: int = 0
    down: float | None = None  # since when its breaker has been open
    burst: int = 1  # never more here: test_wire.py has bursts
    cap: int = 1
    width: int = 1
    known: bool = False

    @property
    def least(self) -> float:
        return max(self.floor, self.crawl)

    @property
    def room(self) -> int:
        return (1 if self.trips else self.cap) - self.in_flight


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
    status: int = 0


@dataclass
class Url:
    """One accepted request."""

    message: Message
    state: State
    at: float  # score, or when it is due
    deliveries: int = 0
    status: int = 0  # of its last answer
    letter_at: float = 0
    reason: str = ""  # of its letter
    put_off: int = 0  # how often its requests found no room

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
    gone: dict[int, tuple[float, Url]] = field(default_factory=dict)  # when, and what
    again: dict[tuple[str, int], set[int]] = field(default_factory=dict)  # letters whose pages are tried again
    roomless: set[int] = field(default_factory=set)  # put off, and recalled once there is room
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

    def letters(self, message: Message) -> set[int]:
        """The dead letters of its page."""
        page = _page(message)
        return {number for number, url in self.urls.items() if url.state == "dead" and _page(url.message) == page}

    def _supersede(self, message: Message) -> None:
        """Its page was tried again: what was said of it before is no longer so."""
        for number in self.again.pop(_page(message), ()):
            self._remove(number, "retried")

    def _forget_letter(self, number: int) -> None:
        page = _page(self.urls[number].message)
        self.again.get(page, set()).discard(number)
        if not self.again.get(page):
            self.again.pop(page, None)

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
        """When a request may be sent; after a silence the delay starts again, as the clock may have jumped over it or a
        part of it."""
        at = max(host.next, host.blocked)
        if host.delay and host.next > 0:
            unsent = host.in_flight and host.prior < self.stepped
            anew = self.stepped + host.delay + (self.config.start_within_ms if unsent else 0)
            if host.next < anew:
                at = max(at, anew)
        return at

    def _configure(self, name: str, spider: str, delay: int, cap: int) -> None:
        host = self.hosts[name]
        if host.known and (delay, cap) == (host.floor, host.cap):
            return
        others = {lane.partition(":")[0].rstrip("!") for lane, at in self.lanes() if at == name} - {spider}
        host.floor = delay if not others else max(host.floor, delay)
        host.cap = cap if not others else min(host.cap, cap)
        host.width, before = host.cap, host.delay
        least = self._rule.least(host)
        if self.config.throttle:
            host.delay = max(host.delay if host.known else self.config.throttle_start_ms, least)
        else:
            host.delay = max(host.delay, least) if host.hurt else least
        if host.delay < before:
            host.hold = 0
        if host.next and (host.delay > before or not host.in_flight):  # the next request keeps the new distance
            host.next += host.delay - before

    @property
    def _rule(self) -> Rule:
        return Rule(self.config, self.now, JITTER)

    def _release(self, held: Held, wire: float | None) -> None:
        if held.released:
            return
        held.released = True
        host = self.hosts[held.host]
        host.in_flight -= 1
        if host.next == held.reserved:
            host.next = self.now if wire is None else self._rule.spaced(host, wire)
        elif wire is not None:
            host.next = max(host.next, self._rule.spaced(host, wire))

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
        letters = set() if _page(message) in self.again else self.letters(message)
        is_ours = any(self.urls[number].message.generation == message.generation for number in letters)
        if not forced and self.backlog() >= self.config.queue_limit:
            outcome, event = PushOutcome.REFUSED_FULL, "refused"
        elif message.dedupe and is_ours:
            outcome, event = PushOutcome.DUPLICATE_DEAD, "duplicates_dead"
        elif message.dedupe and message.fingerprint in known:
            outcome, event = PushOutcome.DUPLICATE, "duplicates"
        else:
            outcome, event = PushOutcome.ACCEPTED, "accepted"
            self._accept(message, known)
            if letters and not is_ours:
                self.again[_page(message)] = letters
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
        """What each lease call does first: reap, and queue due requests."""
        self.tick()
        if self.now >= self.resumed + self.config.lease_ms:
            expired = sorted((held.expires, str(number)) for number, held in self.held.items())
            for expires, name in expired[:8]:
                if expires <= self.now:
                    self._reap(int(name))
        due = [number for number, url in self.urls.items() if url.state == "delayed" and url.at <= self.now]
        for number in sorted(due, key=self._in_turn):
            self.roomless.discard(number)
            self._move_to_queue(number)

    def _in_turn(self, number: int) -> tuple[bool, float, bytes]:
        """The order in which delayed requests are queued: where one belongs may depend on those before it."""
        stream, host = (name.encode() for name in (self.urls[number].message.stream, self.urls[number].message.host))
        entry = bytes([len(stream)]) + stream + bytes([len(host)]) + host + number.to_bytes(6, "big")
        return number in self.roomless, self.urls[number].at, entry

    def _move_to_queue(self, number: int) -> None:
        url = self.urls[number]
        self._move(number, "queued", self._again(number) if url.status else self._score(url.message.priority))

    def _again(self, number: int) -> float:
        """Where a retry belongs: beside the first in its host's queue."""
        url = self.urls[number]
        waiting = self.queued(url.lane, url.message.host)
        if not waiting:
            return self._score(url.message.priority)
        step, head = self.config.priority_step_ms, self.urls[waiting[0]]
        queued = head.at + max(-1000, min(1000, head.message.priority)) * step
        return min(self.now, queued) - max(-1000, min(1000, url.message.priority)) * step

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
            host.prior, host.next = host.next, self.now + self.config.start_within_ms + host.delay
        host.in_flight += 1
        start_by, expires = self.now + self.config.start_within_ms, self.now + self.config.lease_ms
        self._move(number, "leased", url.at)
        self.held[number] = Held(token, url.message.host, host.next, start_by, expires, status=url.status)

    def start(self, number: int, token: int, *, on_wire: bool) -> bool:
        held = self._valid(number, token)
        if held is None:
            return False
        host = self.hosts[held.host]
        if not held.started:
            if not on_wire and host.blocked > self.now:
                return False
            held.started = self.now
            if number in self.urls:
                self.urls[number].deliveries += 1
        paced = held.reserved > held.start_by
        if on_wire and paced and not held.released and host.next == held.reserved:
            host.next = held.reserved = self._rule.spaced(host, self.now)
        return True

    def report(self, report: Report, number: int) -> int:
        held = self._valid(number, report.token)
        if held is None or held.released:
            return 0
        host, wire = self.hosts[held.host], self.now - report.elapsed_ms
        again = report.again or held.status in {429, 503}
        granted = held.start_by - self.config.start_within_ms
        answer = 1 if report.excused else self._adapt(host, wire, granted, report, again=again)
        held.status = report.status
        if number in self.urls:
            self.urls[number].status = report.status
        if report.keep:
            spaced = self._rule.spaced(host, wire)
            host.next = spaced if host.next == held.reserved else max(host.next, spaced)
            held.reserved = -1
        else:
            self._release(held, wire)
            if report.status in {429, 503} and not report.excused:
                self._rule.hasten(host, wire)
            elif 0 < report.status < 400 and not report.excused:
                self._rule.send_second(host, wire)
            if number not in self.urls:
                del self.held[number]
        return answer

    def _adapt(self, host: Host, wire: float, granted: float, report: Report, *, again: bool) -> int:
        complains = report.status in {429, 503}
        self._rule.note_pair(host)
        if report.status:
            mean = 0.8 * host.latency + 0.2 * report.latency_ms
            host.latency = floor(mean) if host.latency else report.latency_ms
        if complains:
            self._rule.complain(host, wire, report.retry_after_ms, again=again)
        elif 0 < report.status < 500 and report.status not in {401, 403}:
            self._rule.praise(host, wire, again=again)
        if 0 < report.status < 500 and report.status != 429:
            host.ok += 1
        else:
            host.bad += 1
        is_fault = report.fault or (report.status >= 500 and not (report.status == 503 and report.retry_after_ms))
        is_fault = is_fault and not (complains and self._rule.takes_turns(host))
        wire, asked = min(wire, granted), report.retry_after_ms
        return self._judge(host, wire, report.status, is_fault=is_fault, complains=complains, retry_after=asked)

    def back_off(self, name: str, elapsed: int, status: int, *, again: bool) -> int:
        """A block page under a status that was reported."""
        host, wire = self.hosts[name], self.now - elapsed
        if status not in {429, 503}:
            host.known = True
            if status < 500:
                host.ok, host.bad = max(0, host.ok - 1), host.bad + 1
            self._rule.complain(host, wire, 0, again=again, denied=True)
        opened = self._judge(host, wire, 0, is_fault=False, complains=True)
        return -opened if opened > 1 else int(max(0, host.blocked - self.now))

    def _judge(
        self, host: Host, wire: float, status: int, *, is_fault: bool, complains: bool, retry_after: float = 0
    ) -> int:
        """What the answer means to the host's breaker."""
        faults = self.config.breaker_faults
        refuses = self._rule.refuses(host, retry_after)
        if wire < host.tripped or not (is_fault or status or (complains and refuses)):
            return 1
        if not is_fault and not (complains and refuses):
            closes, host.streak = host.trips > 0 and not refuses, 0
            host.trips = 0 if closes else host.trips
            return -1 if closes else 1
        if is_fault:
            host.streak = max(min(host.streak, 0) - 1, -faults)
        if not host.trips and -host.streak < faults and not (complains and refuses):
            return 1
        rest = min(self.config.breaker_ms * 2**host.trips, self.config.breaker_max_ms) * (1 + JITTER / 10)
        host.trips, host.tripped = host.trips + 1, self.now
        host.blocked = max(host.blocked, floor(self.now + rest))
        return int(host.blocked - self.now)

    def ack(self, number: int, token: int) -> bool:
        held = self._valid(number, token)
        if held is None or number not in self.urls:
            return False
        self._release_unreported(held)
        self._supersede(self.urls[number].message)
        self._remove(number, "done")
        return True

    def nack(self, number: int, token: int, *, delay_ms: int, body: bytes | None, priority: int) -> int:
        held = self._valid(number, token)
        if held is None or number not in self.urls:
            return 0
        self.tick()
        self._release(held, self.now if held.started or delay_ms > 0 else None)
        self._uncharge(number, held)
        url = self.urls[number]
        if body is not None:
            url.message = _changed(url.message, body=body, priority=priority)
        if self._down_for(url.message.host) >= self.config.give_up_ms:
            self._bury(number, "host_down")
            return 2
        self.counters[url.group]["nacked"] += 1
        at = self.now + delay_ms if delay_ms > 0 else self._again(number)
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

    def bury(self, number: int, token: int, *, body: bytes | None = None, priority: int = 0) -> bool:
        held = self._valid(number, token)
        if held is None or number not in self.urls:
            return False
        self.tick()
        self._release_unreported(held)
        if body is not None:
            self.urls[number].message = _changed(self.urls[number].message, body=body, priority=priority)
        self._bury(number)
        return True

    def end_gone(self, number: int, token: int) -> bool:
        """Done, and listed; only the newest are kept."""
        held = self._valid(number, token)
        if held is None or number not in self.urls:
            return False
        self.tick()
        self._release_unreported(held)
        url = self.urls[number]
        self._supersede(url.message)
        self._remove(number, "done")
        self.counters[url.group]["gone"] += 1
        url.put_off = 0
        self.gone[number] = (self.now, url)
        if len(self.gone) > self.config.gone_limit:
            del self.gone[min(self.gone, key=lambda one: (self.gone[one][0], str(one)))]
        return True

    def retry_gone(self, number: int) -> bool:
        """It counts as another request that was accepted."""
        if number not in self.gone:
            return False
        _, url = self.gone.pop(number)
        url.deliveries = 0
        self.urls[number] = url
        self.counters[url.group]["accepted"] += 1
        self.counters[url.group]["queued"] += 1
        url.state, url.at = "queued", self._score(url.message.priority)
        return True

    def drop_gone(self, number: int) -> bool:
        """It may be found again."""
        if number not in self.gone:
            return False
        _, url = self.gone.pop(number)
        self.seen[url.message.spider, url.message.generation].discard(url.message.fingerprint)
        return True

    def _down_for(self, name: str) -> float:
        host = self.hosts[name]
        return self.now - host.down if host.trips and host.down is not None else 0

    def host_down(self, name: str, order: list[int]) -> tuple[float, int]:
        """Its breaker opened, or so one says: what is queued there is given up after a term.

        In the order of its queues, on which it depends whether a letter makes room for others before its page, tried
        again, replaces it.
        """
        self.tick()
        host = self.hosts[name]
        if not host.trips:
            host.down = None
        elif host.trips == 1 or host.down is None:
            host.down = self.now
        down = self._down_for(name)
        queued = {number for number, url in self.urls.items() if url.state == "queued" and url.message.host == name}
        assert queued == set(order)
        given_up = order if down >= self.config.give_up_ms else []
        for number in given_up:
            self._bury(number, "host_down")
        return down, len(given_up)

    def _bury(self, number: int, reason: str = "") -> None:
        self._supersede(self.urls[number].message)
        self._move(number, "dead", 0)
        self.urls[number].letter_at, self.urls[number].reason, self.urls[number].put_off = self.now, reason, 0
        letters = sorted((url.letter_at, str(key)) for key, url in self.urls.items() if url.state == "dead")
        if len(letters) > self.config.dead_limit:
            self.drop(int(letters[0][1]))
            self.evicted += 1

    def retry(self, number: int) -> bool:
        url = self.urls.get(number)
        if url is None or url.state != "dead":
            return False
        url.deliveries = 0
        if url.reason == "host_down":
            self.hosts[url.message.host].down = None
        self._forget_letter(number)
        self._move(number, "queued", self._score(url.message.priority))
        return True

    def drop(self, number: int) -> bool:
        url = self.urls.get(number)
        if url is None or url.state != "dead":
            return False
        self._forget_letter(number)
        self.seen[url.message.spider, url.message.generation].discard(url.message.fingerprint)
        self._remove(number, "dropped")
        return True

    def put_off(self, number: int, token: int, *, delay_ms: int) -> bool:
        self.tick()  # a stale handle, too: others may stand beside it
        held = self._valid(number, token)
        if held is None or number not in self.urls:
            return False
        self._release_unreported(held)
        self._uncharge(number, held)
        url = self.urls[number]
        self._move(number, "delayed", self.now + min(delay_ms * 2**url.put_off, 900_000))
        url.put_off += 1
        self.roomless.add(number)
        return True

    def recall(self) -> int:
        """All that was put off and has not come back by itself, in the order of its time."""
        self.tick()
        waiting = [number for number in self.roomless if number in self.urls and self.urls[number].state == "delayed"]
        for number in sorted(waiting, key=self._in_turn):
            self._move_to_queue(number)
        self.roomless.clear()
        return len(waiting)

    def renew(self, number: int, token: int, *, suspended: bool, for_room: bool = False) -> bool:
        held = self._valid(number, token)
        if held is None:
            return False
        if for_room and held.started and held.released:
            if number in self.urls:
                self.urls[number].deliveries -= 1
            held.started = 0
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
        wait = max(0, ceil(at - self.now))
        if not wait and not has_slot and host.room <= 0:
            wait = 250
        if wait:
            host.hold = max(host.hold, self.now + wait + 500)
        return wait

    def taken(self, name: str, number: int | None, token: int) -> None:
        """A slot was granted: to the lease of that number, or to a slot alone that the frontier numbered seq + 1."""
        host = self.hosts[name]
        host.hold = 0
        if host.delay > 0 and (number is None or self.held[number].reserved != host.next):
            host.prior = host.next
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
            if host.delay == 0 and asked > 0:
                host.next = max(host.next, self.now + host.least)
            host.delay = host.least
        host.known = host.known or asked > 0

    def _valid(self, number: int, token: int) -> Held | None:
        held = self.held.get(number)
        return held if held is not None and held.token == token else None

    def _uncharge(self, number: int, held: Held) -> None:
        if held.started:
            self.urls[number].deliveries -= 1


def _page(message: Message) -> tuple[str, int]:
    return message.spider, message.fingerprint


def _changed(message: Message, **changes: Any) -> Message:
    fields = {name: getattr(message, name) for name in Message.__slots__}
    return Message(**fields | changes)
