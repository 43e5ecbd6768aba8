"""Counts of the frontier's content; the cost depends only on the number of generations, requested hosts and workers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeVar

from crawler.frontier.inspection.host_records import read_host
from crawler.frontier.inspection.queue_lengths import queue_lengths
from crawler.frontier.inspection.waiting import WaitingHost, waiting
from crawler.frontier.messages import HostState, SpiderStats
from crawler.frontier.server import keys
from crawler.frontier.server.shard_stats import ShardStats
from crawler.frontier.server.shards import Shards
from crawler.frontier.server.wire_format import pairs, read_count
from crawler.frontier.state.addresses import Addresses, with_lines
from crawler.frontier.state.robots import Robots
from crawler.frontier.state.tiers import read_learned
from crawler.frontier.state.workers import Workers
from crawler.frontier.streams import tier_of
from crawler.policy.tiers import Tier, rank

K = TypeVar("K")

HOSTS_EXAMINED: Final = 2_000  # per stream and shard, a random sample if there are more
SAMPLED: Final = 16  # keys per kind, to estimate their size
# How many entries a key has; not for Bloom filters, whose size is fixed.
_COUNTED: Final = {"list": "llen", "zset": "zcard", "set": "scard", "hash": "hlen"}
_FIELDS: Final = frozenset(SpiderStats.__slots__)


@dataclass(frozen=True, slots=True)
class FrontierStats:
    """The counters of each spider and of all; *eligible_hosts* may get a request now, *waiting_hosts* later.

    *tiers*: the counters by spider and tier, that is by queue. *cut*: what was out of scope by spider and generation,
    and by rule.
    *uncounted*: requests missing in the counters, which were damaged: the next `sweep` counts them again. *damaged*:
    requests that were lost to damage.
    *suspects*: hosts with requests that only an idle worker may lease. *evicted*: dead letters of all spiders that were
    lost to FRONTIER_DEAD_LIMIT. *now_ms*: the frontier's time; *born_ms*: when each shard's data began, 0: it has
    none. *dead_by*: the dead letters by reason, without those of
    releases that did not count them so.
    """

    spiders: Mapping[str, SpiderStats]
    generations: Mapping[tuple[str, str], SpiderStats]
    tiers: Mapping[tuple[str, Tier], SpiderStats]
    eligible_hosts: int
    waiting_hosts: int
    suspects: int
    evicted: int
    now_ms: int
    dead_by: Mapping[str, int] = field(repr=False)
    mark: tuple[int, ...] = field(repr=False)  # changes whenever anything is queued or leased
    uncounted: int = 0
    damaged: int = 0
    cut: Mapping[tuple[str, str], Mapping[str, int]] = field(default_factory=dict)
    born_ms: tuple[int, ...] = ()

    @property
    def is_pending(self) -> bool:
        """Whether anything is queued, leased or delayed; nobody knows while counters are damaged."""
        total = self.total
        return bool(total.queued or total.leased or total.delayed or self.uncounted)

    @property
    def total(self) -> SpiderStats:
        """The sum over all spiders."""
        return sum(self.spiders.values(), SpiderStats())


class Inspection:
    """Reads only."""

    def __init__(self, shards: Shards, sample: Callable[[Sequence[int], int], list[int]] = random.sample) -> None:
        self._shards = shards
        self._sample = sample

    async def stats(self, spider: str | None = None) -> FrontierStats:
        """Counters of *spider*, or of all; O(generations), independent of the queue's size."""
        shards = await self._shards.stats_all()
        rows = [row for row in _rows(shards) if spider in {None, row.spider}]
        dead_by: Counter[str] = Counter()
        cut: dict[tuple[str, str], Counter[str]] = {}
        for row in rows:
            dead_by.update(_by_reason(row.fields, b"dead"))
            if by_rule := _by_reason(row.fields, b"cut"):
                cut.setdefault((row.spider, row.generation), Counter()).update(by_rule)
        eligible_hosts, waiting_hosts, suspects = _hosts(shards, spider)
        return FrontierStats(
            _summed((row.spider, row.counters) for row in rows),
            _summed(((row.spider, row.generation), row.counters) for row in rows),
            _summed(((row.spider, row.tier), row.counters) for row in rows),
            eligible_hosts,
            waiting_hosts,
            suspects,
            evicted=sum(one.evicted for one in shards),
            now_ms=max(one.now_ms for one in shards),
            dead_by=dead_by,
            mark=tuple(number for one in shards for number in (one.born, one.seq, one.token)),
            uncounted=sum(abs(one.uncounted) for one in shards),
            damaged=sum(_by_reason(row.fields, b"dropped").get("damaged", 0) for row in rows),
            cut=cut,
            born_ms=tuple(one.born if one.born < one.now_ms else 0 for one in shards),
        )

    async def put_off(self) -> int:
        """Pages given back because Redis has no room for the requests found on them."""
        return sum([await self._shards.client.zcard(key) for key in self._shards.on_each("delayed:room")])

    async def set_aside(self) -> list[str]:
        """The damaged values of all shards that were set aside, as `<key> <field>`: at most 1,000 of each shard."""
        names = [name for key in self._shards.on_each("damaged") for name in await self._shards.client.hkeys(key)]
        return sorted(name.decode(errors="backslashreplace") for name in names)

    async def empty(self, spider: str | None = None) -> bool:
        """Whether nothing is queued, leased or delayed, nor in a live worker's outbox: needs two equal passes. Nobody
        knows while counters are damaged, of whatever spider.

        Seeds are not included: ask `Seeds.pending` too. Errors pass through: unknown is not empty.
        """
        first = await self.stats(spider)
        busy = any(worker.info.get("outbox") for worker in await Workers(self._shards).alive())
        second = await self.stats(spider)
        return not second.is_pending and not busy and first.mark == second.mark and first.total == second.total

    async def hosts(self, spider: str | None = None, top: int = 20) -> list[HostState]:
        """The hosts with most queued requests, among a random HOSTS_EXAMINED if there are more."""
        now = (await self.stats(spider)).now_ms
        queued = await self._queued(spider)
        leading = sorted(queued, key=lambda place: (-queued[place].total(), place))[:top]
        return [await self._host(*place, queued[place].total(), now, _leading(queued[place])) for place in leading]

    async def host(self, name: str) -> HostState:
        """One host, however short its queue; its queued requests are not counted."""
        shard = self._shards.of_host(name)
        return await self._host(shard, name, 0, await self._shards.now_ms(shard))

    async def knows(self, host: str) -> bool:
        """Whether there are requests of *host*, or were of late."""
        return bool(await self._shards.client.hexists(self._shards.key(self._shards.of_host(host), "hosts"), host))

    async def waiting(self, spider: str | None = None, top: int = 20) -> list[WaitingHost]:
        """The hosts whose requests wait for something other than their turn, longest queue first."""
        now = (await self.stats(spider)).now_ms
        return (await waiting(self._shards, await self.hosts(spider, top), spider, now))[:top]

    async def sizes(self) -> tuple[float | None, float | None]:
        """Bytes per queued URL and per seen URL, measured on a few keys of each kind; None if there are none.

        Excludes the server's fixed costs and the index entry of each host.
        """
        queues: list[str] = []
        buckets: list[str] = []
        for shard, stats in enumerate(await self._shards.stats_all()):
            for stream, *_ in stats.streams:
                names = await self._hosts(shard, stream.decode(), SAMPLED)
                queues += [
                    self._shards.key(shard, f"{kind}:{queue}")
                    for name in names
                    for queue in keys.queue_names(stream.decode(), name)
                    for kind in ("q", "early")
                ]
            for _, flat in stats.generations:
                fields = dict(pairs(flat))
                count = max(0, read_count(fields.get(b"buckets", b"")))
                of = fields.get(b"set", b"").decode(errors="replace")
                chosen = self._sample(range(count), min(SAMPLED, count))
                buckets += [self._shards.key(shard, f"seen:{of}:{bucket}") for bucket in chosen]
        return await self._bytes_per_member(queues), await self._bytes_per_member(buckets)

    async def _queued(self, spider: str | None) -> dict[tuple[int, str], Counter[Tier]]:
        """How many requests of each host are queued in each tier."""
        queued: dict[tuple[int, str], Counter[Tier]] = {}
        for shard in range(self._shards.count):
            for stream, *_ in (await self._shards.stats(shard)).streams:
                if spider in {None, stream.decode().partition(":")[0]}:
                    for name in (stream.decode(), stream.decode() + "!"):
                        for host, count in (await self._lengths(shard, name)).items():
                            queued.setdefault((shard, host), Counter())[tier_of(stream.decode())] += count
        return queued

    async def _hosts(self, shard: int, stream: str, most: int) -> list[str]:
        """Up to *most* hosts of each of the three lists of a stream, at random."""
        names: list[bytes] = []
        for listing in ("due", "wait"):
            names += await self._shards.client.zrandmember(self._shards.key(shard, f"{listing}:{stream}"), most)
        names += await self._shards.client.srandmember(self._shards.key(shard, f"park:{stream}"), most)
        return await with_lines(self._shards, shard, stream, (name.decode(errors="replace") for name in names), most)

    async def _lengths(self, shard: int, stream: str) -> Counter[str]:
        names = await self._hosts(shard, stream, HOSTS_EXAMINED)
        return await queue_lengths(self._shards, shard, stream, names)

    async def _bytes_per_member(self, chosen: Sequence[str]) -> float | None:
        size = members = 0
        for key in chosen:
            kind = (await self._shards.client.type(key)).decode()
            if kind in _COUNTED:
                size += await self._shards.client.memory_usage(key, samples=0) or 0
                members += await getattr(self._shards.client, _COUNTED[kind])(key)
        return size / members if members else None

    async def _known(self, shard: int, name: str, now: int) -> HostState:
        """Defaults for a damaged record, which the next script that needs it restores."""
        raw = await self._shards.client.hget(self._shards.key(shard, "hosts"), name)
        try:
            return read_host(name, raw, now)
        except ValueError:
            return read_host(name, None, now)

    async def _host(self, shard: int, name: str, queued: int, now: int, tier: Tier | None = None) -> HostState:
        known = await self._known(shard, name, now)
        address = await Addresses(self._shards).of(name)
        if address:
            shared = await self._known(shard, address, now)
            known = replace(known, address=address, waits_ms=max(known.waits_ms, shared.waits_ms))
        return replace(
            known,
            queued=queued,
            tier=tier or read_learned(await self._shards.client.hget(self._shards.key(shard, "tiers"), name)).tier,
            sitemaps=await Robots(self._shards).sitemaps(name),
        )


class _Row(NamedTuple):
    """A generation's counters on one stream of one shard."""

    spider: str
    generation: str
    tier: Tier
    counters: SpiderStats
    fields: Sequence[bytes]  # all of them, those by reason too


def _rows(shards: Iterable[ShardStats]) -> Iterator[_Row]:
    for shard in shards:
        for name, fields in shard.generations:
            stream, _, generation = name.decode().rpartition(":")
            yield _Row(stream.partition(":")[0], generation, tier_of(stream), _counters(fields), fields)


def _summed(counted: Iterable[tuple[K, SpiderStats]]) -> dict[K, SpiderStats]:
    sums: dict[K, SpiderStats] = {}
    for key, counters in counted:
        sums[key] = sums.get(key, SpiderStats()) + counters
    return sums


def _hosts(shards: Iterable[ShardStats], spider: str | None) -> list[int]:
    """How many hosts of *spider*, or of all, may get a request, wait, or have suspects."""
    streams = [row for shard in shards for row in shard.streams]
    counts = [numbers for stream, *numbers in streams if spider in {None, stream.decode().partition(":")[0]}]
    return [sum(column) for column in zip((0, 0, 0), *counts, strict=True)]


def _counters(fields: Sequence[bytes]) -> SpiderStats:
    known = {name.decode(errors="replace"): value for name, value in pairs(fields)}
    return SpiderStats(**{name: read_count(value) for name, value in known.items() if name in _FIELDS})


def _by_reason(fields: Sequence[bytes], kind: bytes) -> dict[str, int]:
    """The counters `<kind>:<reason>` of a generation."""
    prefix = kind + b":"
    return {
        name.removeprefix(prefix).decode(errors="replace"): read_count(value)
        for name, value in pairs(fields)
        if name.startswith(prefix)
    }


def _leading(queued: Counter[Tier]) -> Tier:
    """The tier with most requests; of equals the most expensive."""
    return max(queued, key=lambda tier: (queued[tier], rank(tier)))
