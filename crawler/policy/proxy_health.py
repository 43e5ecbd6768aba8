"""How well a proxy does, as the fleet saw it: good, suspect, quarantined for a growing time, then one request on trial.

A failure that may as well be the host's counts once per host: one dead host makes a proxy suspect, never more. It
counts in full once another proxy has got an answer to the same request.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class State(StrEnum):
    """What may be asked of a proxy."""

    GOOD = "good"
    SUSPECT = "suspect"  # it has failed, and is in use
    QUARANTINED = "quarantined"  # left alone
    DUE = "due"  # the quarantine is over: one request tells


@dataclass(frozen=True, slots=True)
class Health:
    """What is known of one proxy; the default is a good one."""

    failures: int = 0  # since the last success
    level: int = 0  # quarantines, each soon after the one before
    until_ms: int = 0  # end of the last quarantine, or by when its trial has an outcome
    trial: bool = False  # one request is on its way to tell
    host: str = ""  # the host of the last failure that may have been that host's

    def encode(self) -> str:
        """As Redis keeps it; "" for a proxy of which there is nothing to remember."""
        return f"{self.failures} {self.level} {self.until_ms} {self.trial:d} {self.host}" if self != Health() else ""

    @classmethod
    def decode(cls, text: str) -> Health:
        """The inverse of `encode`; raises ValueError on anything else."""
        if not text:
            return cls()
        failures, level, until_ms, trial, host = text.split(" ", 4)
        return cls(int(failures), int(level), int(until_ms), trial == "1", host)


@dataclass(frozen=True, slots=True)
class HealthPolicy:
    """When a proxy is set aside, and for how long. Times in ms of one clock."""

    failures: int = 3  # in a row
    quarantine_ms: int = 30_000  # the first one; each further one is twice as long
    quarantine_max_ms: int = 3_600_000
    trial_ms: int = 120_000  # a trial without an outcome by then (its worker died) may be repeated

    def state(self, health: Health, now_ms: float) -> State:
        """The state at *now_ms*."""
        if health.failures >= self.failures:
            return State.QUARANTINED if now_ms < health.until_ms else State.DUE
        return State.SUSPECT if health.failures else State.GOOD

    def succeeded(self, health: Health) -> Health:
        """After an answer. The level is remembered: a proxy that comes and goes is left alone for longer each time."""
        return replace(health, failures=0, trial=False, host="") if health.level else Health()

    def failed(self, health: Health, now_ms: int, host: str = "", *, trial: bool = False) -> Health:
        """After a failure: a proxy's own, or with *host* one that may be that host's. What was on its way when a
        quarantine began changes nothing; only the *trial* does."""
        aside = health.failures >= self.failures
        if aside is not trial or (host and host == health.host):
            return health
        if not aside and health.failures + 1 < self.failures:
            return replace(health, failures=health.failures + 1, host=host)
        soon = now_ms - health.until_ms <= self.duration_ms(health.level)
        level = min(health.level + 1, 32) if soon else 1
        return Health(self.failures, level, now_ms + self.duration_ms(level), host=host)

    def claimed(self, health: Health, now_ms: int) -> Health:
        """With a trial begun; unchanged when none is due."""
        if self.state(health, now_ms) is not State.DUE:
            return health
        return replace(health, until_ms=now_ms + self.trial_ms, trial=True)

    def wait_ms(self, health: Health, now_ms: int) -> int:
        """When to ask for the proxy again: most trials are over long before they have to be."""
        left = max(0, health.until_ms - now_ms)
        return min(left, self.quarantine_ms // 4) if health.trial else left

    def duration_ms(self, level: int) -> int:
        """How long the quarantine of that level lasts."""
        return int(min(self.quarantine_max_ms, self.quarantine_ms * 2.0 ** max(level - 1, 0)))
