"""A whole crawl in simulated time: the frontier's policy, and workers, slots and shards that take what they can."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Final

from benchmarks.fleet_policy import Kind, Shard

TICK_MS: Final = 250
FIRST_MS: Final = 600_000  # over which the first rate is taken
DAY_MS: Final = 86_400_000
BATCH: Final = 32  # requests that a worker asks for at once, and no more than half its slots
SHAPE: Final = 1.1  # of the Pareto distribution of a host's pages
MOST: Final = 1_000  # times the mean: the largest host


@dataclass(frozen=True, slots=True)
class World:
    """Hosts of each kind by share, and the URLs queued on them all."""

    hosts: int
    urls: int
    kinds: tuple[tuple[Kind, float], ...]
    seed: int = 1

    def made(self) -> tuple[list[int], bytes]:
        """Pages of each host, a few have most of them; and of which kind it is."""
        pages, of = _made(self)
        return list(pages), of


@cache  # processes that are forked for one crawl each need not draw again
def _made(world: World) -> tuple[tuple[int, ...], bytes]:
    if bad := [kind for kind, _ in world.kinds if kind.delay_ms % TICK_MS or kind.latency_ms % TICK_MS]:
        raise ValueError(f"{bad[0]}: delay and latency must be multiples of {TICK_MS} ms")
    random, most = Random(world.seed), MOST * world.urls // world.hosts
    drawn = [random.paretovariate(SHAPE) for _ in range(world.hosts)]
    factor = world.urls / sum(drawn)
    pages = [min(most, max(1, int(factor * one))) for one in drawn]
    while missing := world.urls - sum(pages):
        for host in random.choices(range(world.hosts), k=abs(missing)):
            pages[host] = min(most, max(1, pages[host] + (1 if missing > 0 else -1)))
    shares = [share for _, share in world.kinds]
    return tuple(pages), bytes(random.choices(range(len(world.kinds)), shares, k=world.hosts))


@dataclass(frozen=True, slots=True)
class Fleet:
    """Workers with slots each, and what one does in a second; shards, and what one takes in a second."""

    workers: int
    slots: int
    shards: int
    worker_pages: float
    shard_pages: float

    @property
    def pages(self) -> float:
        """A second, as far as CPUs go."""
        return min(self.workers * self.worker_pages, self.shards * self.shard_pages)

    @property
    def batch(self) -> int:
        """Requests in a lease call of a worker that is busy."""
        return min(BATCH, max(1, self.slots // 2))


@dataclass(slots=True)
class Crawl:
    """How it went. `limited`: pages by what kept the fleet from taking more at the time."""

    fleet: Fleet
    urls: int
    allowed: int = 0  # pages that delays, and CPUs, allow in a day
    first: int = 0
    done: int = 0
    hosts_left: int = 0
    ninety_ms: int = 0  # when nine tenths were done, 0: not in a day
    all_ms: int = 0
    limited: dict[str, int] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Pages a second at first."""
        return self.first / min(FIRST_MS, self.all_ms or DAY_MS) * 1000

    @property
    def limit(self) -> str:
        """What limited most pages."""
        return max(self.limited, key=lambda name: self.limited[name])


def simulate(world: World, fleet: Fleet, until_ms: int = DAY_MS) -> Crawl:
    """A day at the most; a second of this takes a million pages and more."""
    pages, of = world.made()
    kinds = [kind for kind, _ in world.kinds]
    polite = sum(min(left, 1 + until_ms // kinds[of[host]].gap_ms) for host, left in enumerate(pages))
    crawl = Crawl(fleet, world.urls, allowed=min(polite, int(fleet.pages * until_ms / 1000)))
    shards = [Shard(pages, of, kinds, range(at, world.hosts, fleet.shards)) for at in range(fleet.shards)]
    _Run(fleet, kinds, shards, crawl).go(until_ms)
    crawl.hosts_left = sum(1 for left in pages if left)
    return crawl


class _Run:
    def __init__(self, fleet: Fleet, kinds: list[Kind], shards: list[Shard], crawl: Crawl) -> None:
        self._fleet, self._kinds, self._shards, self._crawl = fleet, kinds, shards, crawl
        self._ends: list[deque[tuple[int, int]]] = [deque() for _ in kinds]  # when slots are free again, and how many
        self._busy = 0
        self._cpu = 0.0  # pages that the workers' CPUs are behind with what they might have done
        self._redis = [0.0] * len(shards)

    def go(self, until_ms: int) -> None:
        now, crawl, shards = 0, self._crawl, self._shards
        while crawl.done < crawl.urls and now < until_ms:
            given, limit = self._tick(now)
            crawl.done += given
            crawl.limited[limit] = crawl.limited.get(limit, 0) + given
            crawl.first += given if now < FIRST_MS else 0
            if not crawl.ninety_ms and crawl.done >= 0.9 * crawl.urls:
                crawl.ninety_ms = now + TICK_MS
            soonest = min(shard.next_ms for shard in shards)
            if soonest == float("inf"):
                break
            now = max(now + TICK_MS, -(-int(soonest) // TICK_MS) * TICK_MS)
        crawl.all_ms = now if crawl.done == crawl.urls else 0

    def _tick(self, now: int) -> tuple[int, str]:
        """What is leased in this moment, and what kept it from being more."""
        fleet, seconds = self._fleet, TICK_MS / 1000
        self._free(now)
        self._cpu = min(self._cpu, 1) + fleet.workers * fleet.worker_pages * seconds
        self._redis = [min(left, 1) + fleet.shard_pages * seconds for left in self._redis]
        free = fleet.workers * fleet.slots - self._busy
        room = min(int(self._cpu), free)
        given = self._lease(now, room)
        self._cpu -= given
        if given == room:
            return given, "slots" if room == free else "workers' CPU"
        due = any(shard.next_ms <= now for shard in self._shards)
        return given, "Redis" if due else "hosts"

    def _lease(self, now: int, room: int) -> int:
        """From each shard its share, then what one has left from the others; the turn of the first goes round."""
        given, count = 0, len(self._shards)
        first = now // TICK_MS % count
        order = [(first + at) % count for at in range(count)]
        for share in (-(-room // count), room):
            for at in order:
                if (most := min(room - given, share, int(self._redis[at]))) > 0 and self._shards[at].next_ms <= now:
                    got = self._take(now, self._shards[at], most)
                    self._redis[at] -= got
                    given += got
        return given

    def _take(self, now: int, shard: Shard, most: int) -> int:
        given = 0
        for kind, ends, hosts in zip(self._kinds, self._ends, shard.lease(now, most), strict=True):
            if hosts:
                ends.append((now + kind.latency_ms, len(hosts)))
                given += len(hosts)
        self._busy += given
        return given

    def _free(self, now: int) -> None:
        for ends in self._ends:
            while ends and ends[0][0] <= now:
                self._busy -= ends.popleft()[1]
