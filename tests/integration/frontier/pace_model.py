"""What lua/lib/pace/adapt.lua and the files beside it are meant to do to a host's pace, in plain Python."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

from crawler.frontier.config import FrontierConfig

DAY_MS = 86_400_000
LESS, PACED, SHARED = 0.85, -1, -2
FEW_MS, FEWEST_MS = 400, 2_000
TURN_MS, PACED_TURN_MS, TURNS_MS = 550, 950, 5_000
LONG_MS, PAIR, KEPT = 200, 1.9, 0.87
ALONE_MS, BOTH_MS = 1_160, 2_000
SPREAD_BELOW_MS = 400
FAR, HELD, PAIRED = -0.26, 0.5, 0.4
PAIR_MS, RAISED = 2_500, 1.05
ALONE_FROM_MS = 2_250
QUICK, PROBED, OFTEN_QUICK = 1, 2, 3
FOLLOWS = 12


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
    ok: int = 0
    bad: int = 0
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

    second: bool = False  # of a pair: what is reported now
    keeps_turn: bool = False

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
        if wire >= h.hurt and not denied and self._is_second(h):
            self._pair_refused(h, retry_after)
            return
        if wire >= h.hurt:
            onset = self._onset(h)
            h.row = min((abs(h.row) if denied else max(h.row, 0)) + 1, 255)
            if not again:
                self._blame(h, asked=retry_after, denied=denied)
            h.hurt = self.now
            if h.row == 1 and self.takes_turns(h):
                h.events, h.answers = onset, 0
        late = self._overdue(h, wire)
        h.blocked = max(h.blocked, wire + self._rest_of(h, self._least_rest(h, retry_after), self.jitter))
        if retry_after > 0:
            h.blocked = max(h.blocked, self.now + min(retry_after, DAY_MS) * (1 + self.jitter / 10))
        if h.noise <= 0:
            h.debt = min(h.debt + late + max(h.blocked - wire, h.floor), DAY_MS)
        h.blocked = floor(h.blocked)

    def _onset(self, h: Pace) -> float:
        if h.grown < HELD or h.trying > 0:
            return 0
        if h.noise == SHARED:
            return PROBED if h.grown >= 1 else 0
        if h.answers > 2:
            return 0
        return OFTEN_QUICK if h.events in (QUICK, OFTEN_QUICK) else QUICK

    def praise(self, h: Pace, wire: float, *, again: bool = False) -> None:
        if wire < h.hurt:
            return
        if self._is_second(h):
            h.ref = self._remembered(h) * 0.7
            self._aim(h, h.ref, 1)
        self._take_turn(h, wire)
        if h.noise <= 0:
            h.debt = 0
        if h.peak == 0:
            self._start_slowly(h)
        if h.hurt == 0:
            return
        h.row = -h.row if h.row > 0 else 0
        if h.trying <= 0:
            self._grow(h)
        if h.peak > 0:
            self._settle(h)
        if not again or self.takes_turns(h):
            self._weigh(h, 0)
        self._forget(h)

    def _forget(self, h: Pace) -> None:
        quiet = 60_000 if self._remembered(h) - max(h.floor, h.crawl) < 0.5 else 600_000
        if h.delay <= self.least(h) and h.noise <= 0 and not h.row and self.now - h.hurt >= quiet:
            h.hurt = 0
            for name in Pace.MEMORY:
                setattr(h, name, 0)

    def _grow(self, h: Pace) -> None:
        if self._is_paced(h) and h.delay > self.least(h):
            h.grown += self._growth(h)
        if h.grown >= 2 and h.noise == SHARED:
            h.noise = 0
        if h.grown >= 1 and h.noise <= 0:
            h.ref = min(h.ref, 0)

    def refuses(self, h: Pace, retry_after: float = 0) -> bool:
        """Whether the host is left to its breaker, because it only complains."""
        rest = self._rest_of(h, self._least_rest(h, retry_after), 0.5)
        return abs(h.row) >= self.config.breaker_faults and rest >= self.config.breaker_ms

    def hasten(self, h: Pace, wire: float) -> None:
        """After a refused request: its host's next one need not wait for the delay while a turn is looked for."""
        looks = h.keeps_turn or (h.row > 0 and (self.takes_turns(h) or self._is_new(h)))
        if looks and h.next <= self.spaced(h, wire) + 1:
            h.next = min(h.next, max(wire + max(h.floor, h.crawl), h.blocked))

    def note_pair(self, h: Pace) -> None:
        """A response came: that to the second request of a pair, if one is out."""
        h.second, h.keeps_turn = h.ref < 0 and h.ref % 1 > 0, False
        if h.second:
            h.ref += 0.5

    def send_second(self, h: Pace, wire: float) -> None:
        """After a request that was served: where turns are taken another one may follow it soon."""
        turn = h.peak > 0 and not h.row and h.trying <= 0 and not h.in_flight and self.takes_turns(h)
        likely = self.jitter * 8 * 2.0 ** min(max(0, -h.ref), 8) < 1
        if turn and likely and h.delay >= 1_250 and self._near(h) >= max(h.floor, h.crawl):
            h.ref = -max(0, -h.ref) - 0.5
            h.next = max(wire + self._near(h), h.blocked)

    def _near(self, h: Pace) -> float:
        return 0.4 * h.delay

    def _is_second(self, h: Pace) -> bool:
        return h.second and self.takes_turns(h) and self._lateness(h) < self._near(h)

    def _pair_refused(self, h: Pace, retry_after: float) -> None:
        h.ref, h.keeps_turn = h.ref - 1, True
        if retry_after > 0:
            h.blocked = max(h.blocked, self.now + min(retry_after, DAY_MS) * (1 + self.jitter / 10))
        h.blocked = floor(max(h.blocked, h.prior - self._near(h) + h.delay))

    def _least_rest(self, h: Pace, retry_after: float) -> float:
        return max(h.floor, h.crawl, retry_after)

    def _rest_of(self, h: Pace, step: float, jitter: float) -> float:
        before, new, turns = abs(h.row) - 1, self._is_new(h), self.takes_turns(h)
        rest = h.delay * 2.0 ** min(before, 30)
        if turns and h.noise == SHARED and h.row == 1 and step > LONG_MS:
            rest = h.delay * 1.02
        elif new or turns:
            rest = self._search_rest(h, step if new else self._fitting(h, step), before, jitter, new=new)
        return float(min(rest, max(self.config.breaker_max_ms, h.delay)))

    def _fitting(self, h: Pace, step: float) -> float:
        needed = KEPT * self._remembered(h) / (PAIR if h.noise == SHARED else 1)
        if step <= LONG_MS or (tries := ceil(needed / step)) < 3 or tries * step <= 1.15 * needed:
            return step
        return needed / (tries - 1)

    def _search_rest(self, h: Pace, step: float, before: float, jitter: float, *, new: bool) -> float:
        rest = (110 if new else 0.05 * max(h.delay, TURN_MS)) * 1.04**before
        more = before - (10 if new else 13)
        if more > 0:
            rest = min(rest * 2.0**more, 500 * 1.05 ** min(more, 50)) * 2.0 ** max(more - 50, 0)
        return float(max(rest, step) * (1 + jitter / 10))

    def _is_few(self, h: Pace) -> bool:
        return self._remembered(h) >= PACED_TURN_MS or h.peak >= (PACED_TURN_MS if h.noise == PACED else TURN_MS)

    def takes_turns(self, h: Pace) -> bool:
        is_lost = not self._is_few(h) and h.row >= 3 and h.bad >= h.ok
        return h.ok > 0 and (self._is_few(h) or is_lost) and self._remembered(h) < TURNS_MS and h.noise <= 0

    def _is_new(self, h: Pace) -> bool:
        return not h.ok and not h.peak and h.noise <= 0

    def _aim(self, h: Pace, delay: float, grown: float) -> None:
        h.grown, h.peak = grown, delay * (1 - (1 - LESS) * (1 - grown) ** 3)
        self._learn(h)

    def _growth(self, h: Pace) -> float:
        return min(h.delay / 35_000, 1 / 60) * self._speed(h)

    def _give_way(self, h: Pace, asked: float) -> None:
        if h.noise == SHARED:
            self._aim(h, max(self._remembered(h), h.peak) * self._creep(h, 1.015, asked), HELD)
        elif HELD <= h.grown < 1 and not (h.noise == PACED and h.ref > 0):
            self._aim(h, self._remembered(h) * self._creep(h, 1.01, asked), h.grown)
        else:
            self._aim(h, self._after_probe(h), HELD)
        self._end_trouble(h)

    def _creep(self, h: Pace, usual: float, asked: float) -> float:
        return usual if not asked or self._remembered(h) < ALONE_FROM_MS else max(usual, 1 + 0.25 / max(1, h.answers))

    def _after_probe(self, h: Pace) -> float:
        kept = self._gap(h) / KEPT
        return kept if h.grown < 1 or h.peak > PAIR_MS else min(kept, RAISED * h.peak)

    def _end_trouble(self, h: Pace) -> None:
        h.trying, h.ref = min(h.trying, 0), min(h.ref, 0)

    def _take_long_turn(self, h: Pace, apart: float) -> None:
        quick = h.events in (QUICK, OFTEN_QUICK)
        if h.noise == SHARED and h.row > 1:
            h.noise = 0
            self._aim(h, self._remembered(h) / PAIR, HELD)
        elif h.noise != SHARED and (quick or h.row > 1) and h.grown >= HELD and h.debt > h.delay / 2:
            h.noise = SHARED
            self._aim(h, min(apart, PAIR * max(min(h.delay, apart / 2), ALONE_MS)), PAIRED)

    def _find_turns(self, h: Pace, apart: float) -> None:
        if apart - (self.now - h.hurt) >= TURN_MS:
            h.noise = 0
            self._end_trouble(h)
            h.ref = min(apart, ALONE_MS)
            self._aim(h, h.ref, HELD)

    def _take_turn(self, h: Pace, wire: float) -> None:
        new, shared = self._is_new(h), h.noise == SHARED
        if h.row <= 0:
            h.trying = max(h.trying, 0)
        if h.row <= 0 or not (new or self.takes_turns(h)):
            return
        long, apart = h.debt > LONG_MS * h.row, h.delay + h.debt + self._overdue(h, wire)
        refused = apart - (self.now - h.hurt)
        if not new and self._is_slow(h, refused):
            h.noise, h.trying, h.ref = PACED, 0, 0
            self._aim(h, refused / KEPT, HELD)
        elif not new and not self._is_few(h):
            self._find_turns(h, apart)
        elif not new and h.noise != SHARED and h.events == OFTEN_QUICK and apart <= 1.5 * h.delay:
            self._aim(h, apart, HELD)
        elif long and not new:
            self._take_long_turn(h, apart)
        elif h.row >= (2 if shared else 3) and not (shared and h.events == PROBED):
            self._aim(h, ALONE_MS, HELD) if long else self._take_short_turn(h, apart, new=new)

    def _is_slow(self, h: Pace, refused: float) -> bool:
        h.trying = h.trying - min(refused, 30_000) if refused >= 3_000 else 0
        return h.trying <= -120_000

    def _take_short_turn(self, h: Pace, apart: float, *, new: bool) -> None:
        apart = BOTH_MS if new else min(apart, (1.25 if h.noise == SHARED else 2) * h.delay)
        if new or apart > 1.5 * h.delay:
            h.noise = SHARED
        if new:
            h.ref = apart
        self._aim(h, apart, HELD if h.row < 3 else FAR)

    def spaced(self, h: Pace, wire: float) -> float:
        """When the next request may follow one sent at *wire*."""
        if not h.hurt or h.delay <= self.least(h) or h.delay >= SPREAD_BELOW_MS:
            return wire + h.delay
        return wire + h.delay + h.delay * 0.3 * (floor(wire) % 104_729 * 7_919 % 104_729) / 104_729

    def _speed(self, h: Pace) -> float:
        if not self.takes_turns(h):
            pull = max((h.delay / 150) ** 0.5, 0.5) if h.delay < SPREAD_BELOW_MS else 1
            return (1 if h.grown < 1 else 3) * pull
        if h.grown < HELD or h.grown >= 1 or h.ref > 0:
            return 6
        return 1 if h.noise == SHARED else 0.5

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

    def _overdue(self, h: Pace, wire: float) -> float:
        return max(0, min(wire - h.blocked, 100)) if h.debt > 0 else 0

    def _is_paced(self, h: Pace) -> bool:
        return self._lateness(h) <= h.delay + 20

    def _gap(self, h: Pace) -> float:
        if h.delay == 0:
            return max(20, h.latency / max(1, h.in_flight))
        return h.delay if self._is_paced(h) else h.delay + min(self._lateness(h), max(h.delay, 1_000))

    def _learn(self, h: Pace) -> None:
        bound = max(h.floor, h.crawl)
        h.peak = min(max(h.peak, bound), max(self.config.throttle_max_ms, bound))
        self._settle(h)

    def _settle(self, h: Pace) -> None:
        most = max(self.config.throttle_max_ms, h.floor, h.crawl)
        delay, least = self._remembered(h), self.least(h)
        h.delay = least if delay - least < 0.5 else min(delay, most)

    def _remembered(self, h: Pace) -> float:
        return float(h.peak / (1 - (1 - LESS) * (1 - h.grown) ** 3))

    def _slow_down(self, h: Pace, before: float, share: float, *, halfway: bool = False) -> None:
        known = h.hurt > 0 and h.peak > 0
        peak = before * 2 / (1 + share) if share == LESS and known and before > h.peak else before
        h.peak = (peak * h.peak) ** 0.5 if halfway and peak > h.peak else peak
        away = (1 - share * h.peak / before) / (1 - LESS)
        h.grown, h.debt = 1 - away ** (1 / 3), 0
        self._learn(h)

    def _begin_trial(self, h: Pace, before: float, delay: float) -> None:
        h.trying, h.ref, h.events, h.answers = before, max(h.floor, h.crawl), 0, 0
        self._slow_down(h, max(delay, before * 0.5 / LESS), 0.5)

    def _end_trial(self, h: Pace, noise: float) -> None:
        h.noise = noise
        h.ref = h.trying = h.events = h.answers = h.debt = 0

    def _weigh_trial(self, h: Pace) -> None:
        if h.events > 0.15 * max(h.answers, 60):
            self._end_trial(h, PACED)
            self._slow_down(h, self._gap(h), LESS)
        elif h.events >= 3 and h.answers >= 60:
            self._end_trial(h, max(0.05, min(h.events / h.answers, 0.1)))
            h.peak = 0
        elif h.answers >= (60 if h.events == 0 else 120) or max(h.floor, h.crawl) < h.ref:
            h.grown = 0
            if h.events == 0 and h.answers >= 60:
                h.peak = max(h.peak, h.trying)
            self._end_trial(h, PACED)
            self._settle(h)

    def _weigh(self, h: Pace, complaint: int) -> None:
        h.answers, h.events = h.answers + 1, h.events + complaint
        if h.trying > 0:
            self._weigh_trial(h)
            return
        if h.noise <= 0:
            return
        h.debt = max(0.0, h.debt + complaint - 1.6 * max(h.noise, 0.05))
        h.noise = min(h.noise + (complaint - h.noise) / 512, 0.1)
        if h.noise < 0.01:
            self._end_trial(h, 0)
        elif h.debt >= 5 and h.events > 0.3 * h.answers:
            self._end_trial(h, PACED)
            self._slow_down(h, self._gap(h), 0.5)
        elif h.debt >= 5 or h.answers >= 3000:
            self._begin_trial(h, self._gap(h), self._gap(h))

    def _decrease(self, h: Pace, *, asked: bool) -> None:
        if not h.ok and not h.peak and h.delay > 0:
            return
        starting = not h.peak and self.least(h) < h.delay < PACED_TURN_MS
        if not asked and starting and (h.events == 0 or h.answers > FOLLOWS):
            h.events, h.answers = 1, 0
            h.delay = min(h.delay * 2, max(self.config.throttle_max_ms, h.delay))
            return
        before = self._gap(h)
        if h.ref <= 0 or before <= h.ref:
            h.ref, h.events, h.answers = before, 0, 0
        lower = h.events == 0 or before >= 1.15 * h.ref
        self._weigh(h, int(lower))
        often = h.events >= 3 and h.events > 0.3 * h.answers
        is_new = not h.peak and (h.delay > self.least(h) or h.delay == 0)
        some = h.events >= 3 and h.events <= 0.25 * h.answers
        if lower and some and not asked:
            self._begin_trial(h, before, h.ref)
            return
        few = h.hurt > 0 and FEW_MS <= h.peak < FEWEST_MS
        self._slow_down(h, before, 0.5 if is_new or (often and not few) else LESS, halfway=few)
        if often:
            h.events = h.answers = 0

    def _blame(self, h: Pace, *, asked: float, denied: bool) -> None:
        alone = h.events == 1 and not (h.peak or h.answers or h.noise or h.trying)
        if alone and h.row == 2 and h.delay > self.least(h):
            h.ref, h.answers = h.delay * 0.5, 1
            self._slow_down(h, h.ref, 0.5)
            return
        if not denied and self.takes_turns(h):
            if h.row == 1:
                self._give_way(h, asked)
            return
        if h.row > 1 and not self._is_paced(h):
            return
        if asked and h.ok and (h.noise != PACED or h.trying > 0):
            self._end_trial(h, PACED)
        if denied and h.noise == 0:
            h.noise = 0.05
        if h.trying or h.noise > 0:
            self._weigh(h, 1)
        else:
            self._decrease(h, asked=asked > 0)
