"""How fast a host may be crawled, as far as the whole fleet has to agree on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Pace(NamedTuple):
    """Least ms between two requests, most in flight, and most that may skip the delay after a rest."""

    delay_ms: int
    cap: int
    burst: int

    def strictest(self, other: Pace) -> Pace:
        """The pace that satisfies both."""
        return Pace(max(self.delay_ms, other.delay_ms), min(self.cap, other.cap), min(self.burst, other.burst))


def pace_of(host: str, usual: Pace, exceptions: Mapping[str, Pace]) -> Pace:
    """The pace of *host*: the exception `=<host>`, else that of the nearest domain, else the usual one."""
    if f"={host}" in exceptions:
        return exceptions[f"={host}"]
    name = host
    while name and name not in exceptions:
        name = name.partition(".")[2]
    return exceptions.get(name, usual)
