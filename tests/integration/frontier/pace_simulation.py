"""Hours of a host's life in seconds: the shipped Lua text of the pace against a site that is a token bucket.

Valkey runs it, with a clock that is simulated; what leases, sends and answers is pace_simulation.lua.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from crawler.frontier.config import FrontierConfig
from crawler.frontier.server import scripts

PACE = ("pace", "pace_turns", "pace_trials", "pace_rests", "pace_pairs", "breaker", "adapt")
PARTS = (
    *("clock", "damage", "state", "hosts", "rules", "addresses", "turns", "records", "release", "start"),
    *(*PACE, "report"),
)
CLOCK = "local function server_ms() return 1700000000000 end"


@dataclass(frozen=True)
class Site:
    """What a site allows, and how far away it is. *noise*: share of responses refused at any pace."""

    rate: float = 0.0  # per second; 0: no limit
    retry_after_ms: int = 0
    noise: float = 0.0
    noise_status: int = 429
    refuse_all: int = 0  # with this status
    lifted_ms: float = 0.0  # when the limit ends; 0: never
    floor: float = 10.0  # configured delay, ms
    cap: int = 1
    latency_ms: float = 5.0
    path_ms: float = 6.0  # from lease to wire, wire to start, answer to report: each half of it to half as much again
    poll_ms: float = 2.0
    fleets: int = 1
    apart_ms: float = 0.0
    run_ms: float = 180_000.0
    bin_ms: float = 10_000.0
    start_ms: float = 1_000.0  # delay in the beginning; 0: the floor
    floors: tuple[tuple[float, float], ...] = ()  # later floors: from when on, ms each
    limiter: str = "bucket"  # "window": so many in each, "sliding": in the last one, "queue": those that wait, as well
    burst: float = 0.0  # size of the bucket, 0: rate; most that wait in the queue
    window_ms: float = 1_000.0
    limit_status: int = 429
    tells: bool = False  # Retry-After says when the next request would be served, in whole seconds


@dataclass
class Run:
    """Answers per bin of time and fleet: good, refused, and at its end the delay, and whether a trial is under way."""

    seconds: float
    bin_ms: float
    bins: dict[int, dict[int, tuple[int, int, float, bool]]] = field(default_factory=dict)

    def after(self, seconds: float, fleet: int = 1, until: float = 0) -> tuple[float, float]:
        """Good responses per second, and the share refused, from then to the end or *until* that many seconds."""
        until = until or self.seconds
        chosen = [row for at, row in self.bins.get(fleet, {}).items() if seconds <= at * self.bin_ms / 1000 < until]
        good, bad = sum(row[0] for row in chosen), sum(row[1] for row in chosen)
        return good / (until - seconds), bad / max(1, good + bad)

    def longest(self, seconds: float, until: float) -> float:
        """The longest delay in that time, ms, as it was at the end of each bin."""
        return max(row[2] for at, row in self.bins[1].items() if seconds <= at * self.bin_ms / 1000 < until)

    def tries(self, seconds: float) -> bool:
        """Whether a trial was under way at that time."""
        return self.bins[1][max(at for at in self.bins[1] if at * self.bin_ms / 1000 < seconds)][3]


def script(config: FrontierConfig, replaced: Mapping[str, str] | None = None) -> str:
    """The whole text, ready for EVAL."""
    texts = {"lib/clock": CLOCK, **(replaced or {})}
    parts = [texts.get(f"lib/{name}") or scripts.source(f"lib/{name}") for name in PARTS]
    driver = (Path(__file__).parent / "pace_simulation.lua").read_text()
    return scripts.inlined("\n".join((*parts, driver)), config.constants())


def simulate(client: Any, site: Site, seed: int = 1, config: FrontierConfig | None = None) -> Run:
    """Let the time pass; *client* is a blocking one."""
    config = config or FrontierConfig(throttle=True, throttle_start_ms=1_000)
    answer = client.eval(script(config), 1, "{pace}", json.dumps(asdict(site)), seed)
    run = Run(site.run_ms / 1000, site.bin_ms)
    for row in answer:
        key, good, bad, _, delay, trying = row.decode().split()
        name, _, at = key.partition(":")
        run.bins.setdefault(int(name[5:]), {})[int(at) - 1] = (int(good), int(bad), float(delay), trying != "0")
    return run
