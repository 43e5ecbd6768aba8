"""Hosts that pushed back a moment ago: this worker's leases of them are older than that, and go back."""

from __future__ import annotations

from collections.abc import Callable

RESTING = 1_000  # from this many hosts on, expired ones are removed


class RestingHosts:
    """Hosts by the monotonic second until which they rest."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._resting: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._resting)

    def rest(self, host: str, seconds: float) -> None:
        """*host* rests for so long from now on."""
        now = self._clock()
        if len(self._resting) >= RESTING:
            self._resting = {name: until for name, until in self._resting.items() if until > now}
        self._resting[host] = now + seconds

    def rests(self, host: str) -> bool:
        """Whether *host* does now."""
        return self._resting.get(host, 0) > self._clock()
