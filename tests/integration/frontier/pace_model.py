"""What lua/lib/adapt.lua is meant to do to a host's pace, in plain Python."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from crawler.frontier.config import FrontierConfig

DAY_MS = 86_400_000


@dataclass
class Pace:
    """The politeness state of a host, as far as its answers change it."""

    next: float = 0
    prior: float = 0
    delay: float = 0
    floor: float = 0
    crawl: float = 0
    blocked: float = 0
    hurt: float = 0
    in_flight: int = 0
    latency: float = 0
    peak: float = 0
    grown: float = 0
    noise: float = 0
    debt: float = 0
    row: float = 0
    ref: float = 0
    trying: float = 0
    events: float = 0
    answers: float = 0

    MEMORY = ("peak", "grown", "noise", "debt", "row", "ref", "trying", "events", "answers")


class Rule:
    """The rule at one moment."""

    def __init__(self, config: FrontierConfig, now: float, jitter: float) -> None:
        self.config, self.now, self.jitter = config, now, jitter

    def least(self, h: Pace) -> float:
        least = max(h.floor, h.crawl)
        if not self.config.throttle:
            return least
        return max(least, min(h.latency / self.config.throttle_target, self.config.throttle_max_ms))

    def complain(self, h: Pace, wire: float, retry_after: float, *, again: bool, denied: bool = False) -> None:
        if wire >= h.hurt:
            h.row = min(abs(h.row) + 1, 255)
            if not again:
                self._blame(h, asked=retry_after > 0, denied=denied)
            h.hurt = h.hurt or 1
        pause = min(h.delay * 2.0 ** min(h.row - 1, 30), max(self.config.breaker_max_ms, h.delay))
        h.blocked = max(h.blocked, wire + pause)
        if retry_after > 0:
            h.blocked = max(h.blocked, self.now + min(retry_after, DAY_MS) * (1 + self.jitter / 10))
        h.blocked = floor(h.blocked)

    def praise(self, h: Pace, wire: float) -> None:
        if wire < h.hurt:
            return
        if h.peak == 0:
            self._start_slowly(h)
        if h.hurt == 0:
            return
        h.row = -h.row if h.row > 0 else 0
        h.answers, h.debt = h.answers + 1, max(0.0, h.debt - 1.6 * h.noise)
        h.noise = 0 if h.noise < 0.01 else h.noise * (1 - 1 / 512)
        if self._is_paced(h) and h.delay > self.least(h) and not h.trying:
            h.grown += min(h.delay / 35_000, 1 / 12)
        if h.peak > 0:
            self._settle(h)
        self._try_noise(h)
        if h.delay <= self.least(h) and not h.noise and not h.row and self.now - h.hurt >= 60_000:
            h.hurt = 0
            for name in Pace.MEMORY:
                setattr(h, name, 0)

    def _start_slowly(self, h: Pace) -> None:
        least = self.least(h)
        delay = (h.delay + least) / 2 if self._is_paced(h) else max(h.delay, least)
        h.delay = least if not self.config.throttle or delay - least < 0.5 else delay

    def _lateness(self, h: Pace) -> float:
        if not h.prior:
            return 0
        sent = h.next - h.delay
        if sent > self.now:
            sent -= self.config.start_within_ms
        return max(0, sent - h.prior)

    def _is_paced(self, h: Pace) -> bool:
        return self._lateness(h) <= h.delay + 20

    def _gap(self, h: Pace) -> float:
        if h.delay == 0:
            return max(20, h.latency / max(1, h.in_flight))
        late = self._lateness(h)
        return h.delay if late <= h.delay else h.delay + min(late, max(h.delay, 1_000))

    def _settle(self, h: Pace) -> None:
        least = self.least(h)
        most = max(self.config.throttle_max_ms, h.floor, h.crawl)
        h.peak = min(max(h.peak, least), most)
        delay = h.peak / (1 - (1 - 0.8) * (1 - h.grown) ** 3)
        h.delay = least if delay - least < 0.5 else min(delay, most)

    def _slow_down(self, h: Pace, before: float, share: float) -> None:
        known = h.hurt > 0 and h.peak > 0
        h.peak = before * 2 / (1 + share) if share == 0.8 and known and before > h.peak else before
        away = (1 - share * h.peak / before) / (1 - 0.8)
        h.grown, h.debt, h.hurt = 1 - away ** (1 / 3), 0, self.now
        self._settle(h)

    def _begin_trial(self, h: Pace) -> None:
        h.trying, h.events, h.answers, h.debt = 1, 0, 0, 0

    def _try_noise(self, h: Pace) -> None:
        if not h.trying:
            if h.noise > 0 and h.answers >= 3000:
                h.ref = h.delay
                self._slow_down(h, h.delay, 0.5)
                self._begin_trial(h)
        elif h.answers >= (120 if h.events == 1 else 60) or (h.events >= 4 and h.answers >= 20):
            share = h.events / h.answers
            noisy = h.events >= (1 if h.noise > 0 else 2) and share <= 0.34
            if noisy or h.noise > 0:
                h.peak, h.grown = h.ref, int(noisy)
            h.noise = min((3 * h.noise + share) / 4 if h.noise > 0 else share, 0.1) if noisy else 0
            self._settle(h)
            h.ref = h.trying = h.events = h.answers = h.debt = 0

    def _blame(self, h: Pace, *, asked: bool, denied: bool) -> None:
        if h.row > 2:
            h.ref = h.trying = 0
        if h.row > 1 and not self._is_paced(h):
            return
        if asked:
            h.noise = h.ref = h.trying = 0
        before = self._gap(h)
        if denied and not h.noise:
            h.noise = 0.05
        if h.row > 2 or (not h.peak and (h.delay > self.least(h) or h.delay == 0) and not denied):
            self._slow_down(h, before, 0.5)
            return
        h.events, h.answers = h.events + 1, h.answers + 1
        if h.noise > 0:
            h.debt += 1 - 1.6 * h.noise
            h.noise = min(h.noise + (1 - h.noise) / 512, 0.1)
        if not h.trying and (not h.noise or h.debt >= 5):
            if not h.noise and (not h.ref or before <= h.ref):
                h.ref, h.events, h.answers = before, 1, 1
            self._slow_down(h, before, 0.8)
            halved = not h.noise and h.delay >= 1.9 * h.ref
            if halved and not asked and h.events >= 3 and h.events <= 0.34 * h.answers:
                self._begin_trial(h)
        self._try_noise(h)
