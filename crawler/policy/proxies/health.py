"""A proxy's health as seen by the fleet: good, suspect, quarantined for a growing time, then one request on trial.

A failure that may be the host's counts once per host: one dead host makes a proxy suspect, never more. It counts in
full once another proxy got a response to the same request.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

LEVELS: Final = 32  # quarantines in close succession that are told apart


class State(StrEnum):
    """How a proxy may be used."""

    GOOD = "good"
    SUSPECT = "suspect"  # has failed, still in use
    QUARANTINED = "quarantined"  # not used
    DUE = "due"  # the quarantine is over: one request on trial


@dataclass(frozen=True, slots=True)
class Health:
    """The health of one proxy; the default is good."""

    failures: int = 0  # since the last success
    level: int = 0  # quarantines in close succession
    until_ms: int = 0  # end of the last quarantine, or of the wait for its trial's outcome
    trial: bool = False  # its trial is in flight
    host: str = ""  # the host of the last failure that may have been the host's

    def encode(self) -> str:
        """The form stored in Redis; "" for a proxy with nothing to remember."""
        return f"{self.failures} {self.level} {self.until_ms} {self.trial:d} {self.host}" if self != Health() else ""

    @classmethod
    def decode(cls, text: str) -> Health:
        """The inverse of `encode`; raises ValueError for anything else."""
        if not text:
            return cls()
        failures, level, until_ms, trial, host = text.split(" ", 4)
        if int(failures) < 0 or not 0 <= int(level) <= LEVELS or trial not in {"0", "1"}:
            raise ValueError("no proxy's health")
        return cls(int(failures), int(level), int(until_ms), trial == "1", host)


@dataclass(frozen=True, slots=True)
class HealthPolicy:
    """When a proxy is quarantined, and for how long. Times in ms of one clock."""

    failures: int = 3  # in a row
    quarantine_ms: int = 30_000  # the first one; doubled each time
    quarantine_max_ms: int = 3_600_000
    trial_ms: int = 120_000  # after this a trial without an outcome (its worker died) may be repeated

    def state(self, health: Health, now_ms: float) -> State:
        """The state at *now_ms*."""
        if health.failures >= self.failures:
            return State.QUARANTINED if self._left_ms(health, now_ms) else State.DUE
        return State.SUSPECT if health.failures else State.GOOD

    def succeeded(self, health: Health) -> Health:
        """The health after a response. The level stays: a proxy that comes and goes is quarantined longer each time."""
        return replace(health, failures=0, trial=False, host="") if health.level else Health()

    def failed(self, health: Health, now_ms: int, host: str = "", *, trial: bool = False) -> Health:
        """The health after a failure: the proxy's, or with *host* one that may be that host's. During a quarantine
        requests that were in flight change nothing; only the *trial* does."""
        aside = health.failures >= self.failures
        if aside is not trial or (host and host == health.host):
            return health
        if not aside and health.failures + 1 < self.failures:
            return replace(health, failures=health.failures + 1, host=host)
        soon = now_ms - health.until_ms <= self.duration_ms(health.level)
        level = min(health.level + 1, LEVELS) if soon else 1
        return Health(self.failures, level, now_ms + self.duration_ms(level), host=host)

    def claimed(self, health: Health, now_ms: int) -> Health:
        """The health with a trial started; unchanged if none is due."""
        if self.state(health, now_ms) is not State.DUE:
            return health
        return replace(health, until_ms=now_ms + self.trial_ms, trial=True)

    def wait_ms(self, health: Health, now_ms: int) -> int:
        """When to try the proxy again: most trials end long before their limit."""
        left = self._left_ms(health, now_ms)
        return min(left, self.quarantine_ms // 4) if health.trial else left

    def _left_ms(self, health: Health, now_ms: float) -> int:
        """What is left of a wait; 0 of one twice as long as any may be: a clock that was wrong has begun it."""
        left = health.until_ms - round(now_ms)
        return left if 0 < left <= 2 * max(self.quarantine_max_ms, self.trial_ms) else 0

    def duration_ms(self, level: int) -> int:
        """Duration of the quarantine at *level*."""
        return int(min(self.quarantine_max_ms, self.quarantine_ms * 2.0 ** max(level - 1, 0)))
