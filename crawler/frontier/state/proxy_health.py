"""The health of proxies, shared by the fleet: a slightly stale view of Redis, updated by compare-and-set.

Redis has names of pools and proxies, never credentials. While it is away each worker uses the state it last saw.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.errors import FrontierError
from crawler.frontier.server.shards import Shards
from crawler.frontier.server.wire_format import pairs
from crawler.policy.proxies.health import Health, HealthPolicy, State

VIEW_SECONDS: Final = 1.0  # maximum age of a view that a proxy is chosen by
MEMORY_MS: Final = 86_400_000  # a pool without changes for a day counts as good again
_SICK: Final = frozenset({State.QUARANTINED, State.DUE})
_TRIES: Final = 5  # per change, while others change the same proxy

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _View:
    """A pool as of *now_ms* of the server's clock, which was *at* on ours."""

    now_ms: int = 0
    at: float = 0.0
    asked_at: float = float("-inf")
    records: dict[bytes, bytes] = field(default_factory=dict)  # as last read
    proxies: dict[str, Health] = field(default_factory=dict)  # only those with something to remember
    sick: dict[str, State] = field(default_factory=dict)  # of these, the quarantined and the due


class ProxyHealth:
    """What one worker knows about proxies and shares with the others."""

    def __init__(
        self,
        shards: Shards,
        policy: HealthPolicy,
        stats: StatsCollector,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._shards = shards
        self._policy = policy
        self._stats = stats
        self._clock = clock
        self._views: dict[str, _View] = {}

    async def sick(self, pool: str) -> Mapping[str, State]:
        """The proxies of *pool* that are quarantined or due for a trial; about a second old."""
        view = self._view(pool)
        if self._clock() - view.asked_at > VIEW_SECONDS:
            view.asked_at = self._clock()  # meanwhile others use the old view
            await self._ask(pool, view)
            self._look(view)
        return view.sick

    def wait_ms(self, pool: str, proxies: Collection[str]) -> int:
        """When to try *proxies* again; 0 if one is due for a trial, or none is quarantined."""
        view = self._view(pool)
        aside = [view.proxies[name] for name in proxies if name in view.proxies]
        return min((self._policy.wait_ms(health, self._now_ms(view)) for health in aside), default=0)

    async def claim(self, pool: str, proxy: str) -> bool:
        """Start the trial of *proxy*. False: another request of the fleet has it."""
        return await self._change(pool, proxy, self._policy.claimed) is not None

    async def succeeded(self, pool: str, proxy: str) -> bool:
        """Note a response. True if *proxy* had been quarantined and is good again."""
        change = await self._change(pool, proxy, lambda health, _: self._policy.succeeded(health))
        return change is not None and change[0].failures >= self._policy.failures

    async def failed(self, pool: str, proxy: str, host: str = "", *, trial: bool = False) -> int | None:
        """Note a failure; with *host* one that may be that host's. Returns for how many ms that quarantines *proxy*, 0
        if it does not, None if the failure did not count."""
        change = await self._change(
            pool, proxy, lambda health, now: self._policy.failed(health, now, host, trial=trial)
        )
        if change is None:
            return None
        after = change[1]
        return self._policy.duration_ms(after.level) if after.failures >= self._policy.failures else 0

    async def _change(
        self, pool: str, proxy: str, change: Callable[[Health, int], Health]
    ) -> tuple[Health, Health] | None:
        """Health of *proxy* before and after *change*; None if nothing changed, or others were faster."""
        view = self._view(pool)
        try:
            for _ in range(_TRIES):
                before = view.proxies.get(proxy, Health())
                after = change(before, self._now_ms(view))
                if after == before:
                    return None
                if await self._ask(pool, view, proxy, before.encode(), after.encode()):
                    return before, after
            return None
        finally:
            self._look_at(view, proxy, self._now_ms(view))

    async def _ask(self, pool: str, view: _View, *change: str) -> bool:
        """Read the pool, or make a change; False if the record has changed meanwhile."""
        try:
            now, made, flat = await self._shards.run("proxy_health", 0, pool, MEMORY_MS, *change)
        except FrontierError as error:
            self._stats.inc_value(names.REDIS_ERRORS)
            logger.debug("The health of pool %s cannot be shared now: %s", pool, error)
            if change:
                view.proxies[change[0]] = Health.decode(change[2])
                view.records[change[0].encode()] = b""  # whatever Redis has then is news
            return True
        for name in _update(view, dict(pairs(flat)), whole=not change):
            await self._shards.client.hdel(self._shards.key(0, f"proxies:{pool}"), name)
        view.now_ms, view.at = int(now), self._clock()
        return bool(made)

    def _look(self, view: _View) -> None:
        now = self._now_ms(view)
        view.sick = {}
        for proxy in view.proxies:
            self._look_at(view, proxy, now)

    def _look_at(self, view: _View, proxy: str, now_ms: int) -> None:
        health = view.proxies.get(proxy)
        state = self._policy.state(health, now_ms) if health is not None else State.GOOD
        if state in _SICK:
            view.sick[proxy] = state
        else:
            view.sick.pop(proxy, None)

    def _view(self, pool: str) -> _View:
        return self._views.setdefault(pool, _View(at=self._clock()))

    def _now_ms(self, view: _View) -> int:
        return view.now_ms + round((self._clock() - view.at) * 1000)


def _update(view: _View, records: dict[bytes, bytes], *, whole: bool) -> list[bytes]:
    """Take *records* into *view*, the *whole* pool or one proxy's; returns the names of damaged ones. Thousands may be
    quarantined, and most are as they were: only what is new is decoded."""
    damaged, known = [], view.records
    gone = known.keys() - records.keys() if whole else ()
    changed = [name for name, record in records.items() if known.get(name) != record]
    for name in (*gone, *changed):
        view.proxies.pop(name.decode(errors="replace"), None)
    for name in changed:
        try:
            if records[name]:
                view.proxies[name.decode()] = Health.decode(records[name].decode())
        except ValueError:  # damaged: its health is unknown
            damaged.append(name)
    if whole:
        known.clear()
    known.update(records)
    return damaged
