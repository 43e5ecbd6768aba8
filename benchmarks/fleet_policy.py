"""The frontier's choice of hosts, as lua/requests/lease.lua makes it, without Redis: 100,000,000 leases in a minute.

A host waits in order of the time when it may be looked at again, hosts of the same millisecond in order of their names;
one in flight at a time, no priorities, nobody complains. tests/unit/benchmarks/test_simulate_fleet.py lets the shipped
scripts lease the same queue on a real server: the same hosts in the same order, call by call.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

SOON_MS: Final = 2_500  # as in lib/hosts/hosts.lua: longer waits are looked at again after LATER_MS, as rules change
LATER_MS: Final = 15_000


@dataclass(frozen=True, slots=True)
class Kind:
    """Hosts with this delay, which answer after this latency (ms)."""

    delay_ms: int
    latency_ms: int

    @property
    def gap_ms(self) -> int:
        """From one lease to the next, at the soonest: the slot is free once the answer is in."""
        return max(self.delay_ms, self.latency_ms)


@dataclass(slots=True)
class Shard:
    """Hosts are numbered in order of their names; `pages` of each are left, it is of kind `kinds[of[host]]`."""

    pages: list[int]
    of: Sequence[int]
    kinds: Sequence[Kind]
    hosts: Sequence[int]  # those of this shard, all due at first
    _waiting: dict[int, list[int]] = field(default_factory=dict)
    _times: list[int] = field(default_factory=list)
    _due: list[int] = field(default_factory=list)  # those of one moment, in order
    _next: int = 0
    _ready: dict[int, int] = field(default_factory=dict)  # of hosts that are looked at before their turn

    def __post_init__(self) -> None:
        self._due = [host for host in self.hosts if self.pages[host]]

    @property
    def next_ms(self) -> float:
        """When the next host is to be looked at; 0 where one is due, infinite without any."""
        return 0 if self._next < len(self._due) else self._times[0] if self._times else float("inf")

    def lease(self, now: int, limit: int) -> list[list[int]]:
        """Up to *limit* hosts whose turn it is, those of each kind in their order: each is asked at once."""
        given: list[list[int]] = [[] for _ in self.kinds]
        while limit > 0 and (some := self._look_at(now, limit)):
            chosen = self._whose_turn_it_is(some, now) if self._ready else some
            limit -= len(chosen)
            self._hand_out(chosen, given)
        for kind, hosts in zip(self.kinds, given, strict=True):
            self._file(kind, hosts, now)
        return given

    def _look_at(self, now: int, most: int) -> list[int]:
        if self._next >= len(self._due):
            if not self._times or self._times[0] > now:
                return []
            self._due, self._next = sorted(self._waiting.pop(heapq.heappop(self._times))), 0
        some = self._due[self._next : self._next + most]
        self._next += len(some)
        return some

    def _whose_turn_it_is(self, hosts: list[int], now: int) -> list[int]:
        early = [host for host in hosts if self._ready.get(host, 0) > now]
        for host in early:
            self._wait([host], _look(self._ready[host], now))
        return [host for host in hosts if self._ready.get(host, 0) <= now] if early else hosts

    def _hand_out(self, hosts: list[int], given: list[list[int]]) -> None:
        pages, of = self.pages, self.of
        for host in hosts:
            pages[host] -= 1
            given[of[host]].append(host)

    def _file(self, kind: Kind, hosts: list[int], now: int) -> None:
        """Those with pages left: the answer frees the slot, and says when they are looked at again."""
        pages, ready = self.pages, now + kind.gap_ms
        rest = [host for host in hosts if pages[host]]
        look = _look(ready, now + kind.latency_ms)
        if look < ready:
            self._ready.update(dict.fromkeys(rest, ready))
        self._wait(rest, look)

    def _wait(self, hosts: list[int], at: int) -> None:
        if not hosts:
            return
        if at in self._waiting:
            self._waiting[at] += hosts
        else:
            self._waiting[at] = list(hosts)
            heapq.heappush(self._times, at)


def _look(ready: int, now: int) -> int:
    return ready if ready - now <= SOON_MS else min(ready, now + LATER_MS)
