"""The frontier's input and output types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, NamedTuple, Self

from crawler import config
from crawler.errors import MessageError
from crawler.frontier.script_constants import SUSPECT_DELIVERIES
from crawler.policy.tiers import Tier

MAX_PRIORITY: Final = 1000
MAX_NAME: Final = 255  # bytes; a DNS name has at most 253
MAX_DIGEST: Final = 64
MAX_CAP: Final = config.bounds("CONCURRENT_REQUESTS_PER_DOMAIN")[1]  # requests in flight, and per burst
MAX_DELAY_MS: Final = 1000 * config.bounds("DOWNLOAD_DELAY")[1]
MAX_MOMENT_MS: Final = 1e14  # Unix ms
MAX_PAGES: Final = 4_000_000_000
MAX_DEPTH: Final = 255
MAX_FINGERPRINT: Final = (1 << 63) - 1

Handle = tuple[str, int]  # a lease's id ("<shard>:<number>") and its token


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A request on its way into the frontier.

    *priority* is limited to +-1000; one step outweighs FRONTIER_PRIORITY_STEP_SECONDS of waiting.
    *digest* is the whole fingerprint, read in `exact` mode only. Raises MessageError for values that cannot be stored.
    """

    host: str  # politeness group
    stream: str  # which workers may lease it: "<spider>" or "<spider>:<tier>"
    spider: str
    body: bytes
    fingerprint: int  # 63 bits
    digest: bytes = b""
    priority: int = 0  # higher first
    dedupe: bool = True
    generation: str = "0"
    not_before_ms: int = 0  # server's wall clock
    delay_ms: int = 0  # least time between two wire starts at the host
    cap: int = 1  # most requests in flight at the host
    burst: int = 1  # most requests that may skip the delay after a rest
    pages: int = 0  # most pages of its generation, 0: unlimited
    pages_per_host: int = 0  # most pages of its host in its generation
    depth: int = 0  # links from a pushed page: with a page limit the nearest ones are fetched

    def __post_init__(self) -> None:
        if self.stream.partition(":")[0] != self.spider or not self.spider or set("!\n") & set(self.stream):
            raise MessageError(
                f"stream = {self.stream!r} is invalid: expected spider or spider:tier, without '!' and line breaks"
            )
        if not 0 < len(self.host.encode()) <= MAX_NAME:
            raise MessageError(f"host = {self.host[:80]!r} is invalid: expected 1 to {MAX_NAME} bytes")
        if not 0 <= self.fingerprint <= MAX_FINGERPRINT or len(self.digest) > MAX_DIGEST:
            raise MessageError(
                f"fingerprint = {self.fingerprint} is invalid: expected 63 bits, a digest of {MAX_DIGEST} bytes"
            )
        if not isinstance(self.priority, int) or not 0 <= self.not_before_ms < MAX_MOMENT_MS:
            given = f"priority = {self.priority!r}, not_before_ms = {self.not_before_ms!r}"
            raise MessageError(f"{given} is invalid: expected an integer, and Unix milliseconds")
        if not self.generation.isdecimal():
            raise MessageError(f"generation = {self.generation!r} is invalid: expected decimal digits")
        if not (1 <= self.cap <= MAX_CAP and 1 <= self.burst <= MAX_CAP and 0 <= self.delay_ms <= MAX_DELAY_MS):
            given = f"cap = {self.cap}, burst = {self.burst}, delay_ms = {self.delay_ms}"
            allowed = f"1 to {MAX_CAP}, 1 to {MAX_CAP}, 0 to {MAX_DELAY_MS}"
            raise MessageError(f"{given} is invalid: expected {allowed}")
        if not (0 <= self.pages <= MAX_PAGES and 0 <= self.pages_per_host <= MAX_PAGES and self.depth >= 0):
            given = f"pages = {self.pages}, pages_per_host = {self.pages_per_host}, depth = {self.depth}"
            raise MessageError(f"{given} is invalid: expected 0 to {MAX_PAGES}, and a depth of 0 or more")


class PushOutcome(IntEnum):
    """The outcome of a pushed message."""

    ACCEPTED = 0
    DUPLICATE = 1  # known in its generation
    DUPLICATE_DEAD = 2  # a dead letter has its fingerprint: retry or drop it first
    REFUSED_FULL = 3  # FRONTIER_QUEUE_LIMIT
    REFUSED_MEMORY = 4  # FRONTIER_MEMORY_LIMIT, or the server's maxmemory
    CANCELLED = 5  # its run was: nobody offers it again

    @property
    def is_full(self) -> bool:
        """Whether there was no room: to be offered again later."""
        return self in {PushOutcome.REFUSED_FULL, PushOutcome.REFUSED_MEMORY}

    def __str__(self) -> str:
        return self.name.lower().replace("_", "/", 1)


class NackOutcome(IntEnum):
    """What became of a request that was to be retried; as in lua/requests/nack.lua."""

    STALE = 0  # the lease is no longer ours
    DONE = 1
    GIVEN_UP = 2  # its host is: it became a dead letter at once


class Lease(NamedTuple):
    """A request leased to this worker until the lease expires or ends.

    *start_within_ms* counts from the call: after that the request must not be sent. *leased_at_ms* is the frontier's
    time. *deliveries* counts earlier wire starts that never finished. *waited_ms*: how long it was queued.
    """

    id: str
    token: int
    host: str
    stream: str
    body: bytes
    fingerprint: int
    generation: str
    deliveries: int
    start_within_ms: int
    priority: int
    leased_at_ms: int
    waited_ms: int = 0

    @property
    def is_suspect(self) -> bool:
        """Whether it may have killed its workers: it is leased alone."""
        return self.deliveries >= SUSPECT_DELIVERIES


@dataclass(frozen=True, slots=True)
class Batch:
    """The answer to a lease call.

    *next_due_ms*: when a request of these streams may be due, None if none waits; another worker's report may bring it
    forward. *queued*: the whole frontier's backlog. *suspects*: hosts with requests that only an idle worker may lease,
    with suspects_ok. *lost_data*: Redis was emptied, or restarted without its data, since the last call. *sought*:
    hosts whose addresses somebody has to look up, see `Addresses`. *addresses*: of leased hosts.
    """

    leases: list[Lease]
    next_due_ms: int | None
    queued: int
    suspects: int = 0
    lost_data: bool = False
    sought: Sequence[str] = ()
    addresses: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        """The answer of several shards, from that of each."""
        waits = [part.next_due_ms for part in parts if part.next_due_ms is not None]
        return cls(
            [lease for part in parts for lease in part.leases],
            min(waits, default=None),
            queued=sum(part.queued for part in parts),
            suspects=sum(part.suspects for part in parts),
            lost_data=any(part.lost_data for part in parts),
            sought=[host for part in parts for host in part.sought],
            addresses=dict(pair for part in parts for pair in part.addresses.items()),
        )


@dataclass(frozen=True, slots=True)
class Report:
    """How the host answered. *status* 0: no response. *keep*: the slot is kept for a follow-up to the same host.
    *excused*: the host was not reached because a proxy failed; its pace and record stay unchanged. *fault*: not
    answering is its own fault (implied by a status of 500 or more). *host*: for messages. *again*: this request met a
    complaint before. *origin*: scheme and port, "https:443": faults of one that never answered do not count if another
    did. *led*: "link" or "redirect" if another site led here, "beside" for what is not of the queue (robots.txt,
    media): faults of a link count once its origin has answered, those of the others never."""

    id: str
    token: int
    elapsed_ms: int  # since the wire start
    latency_ms: int
    status: int
    retry_after_ms: int = 0
    keep: bool = False
    excused: bool = False
    fault: bool = False
    host: str = ""
    again: bool = False
    origin: str = ""
    led: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """The answer to a request for a slot beside the queue.

    *wait_ms* 0: granted; send within *start_within_ms* of the call and report under *token*. Otherwise ask again after
    *wait_ms*. `lost`: the lease it was requested for is no longer ours.
    """

    wait_ms: int
    start_within_ms: int = 0
    token: Handle | None = None
    lost: bool = False


@dataclass(frozen=True, slots=True)
class SpiderStats:
    """Counters of one spider, or of all. accepted = queued + leased + delayed + dead + done + dropped."""

    queued: int = 0
    leased: int = 0
    delayed: int = 0
    dead: int = 0
    done: int = 0
    dropped: int = 0
    accepted: int = 0
    duplicates: int = 0
    duplicates_dead: int = 0
    refused: int = 0
    nacked: int = 0
    reaped: int = 0
    seen: int = 0

    @property
    def backlog(self) -> int:
        """Requests still to be leased."""
        return self.queued + self.delayed

    def __add__(self, other: SpiderStats) -> SpiderStats:
        return SpiderStats(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class HostState:
    """What the fleet knows of one host; times in ms, *waits_ms* until its next turn."""

    host: str
    queued: int
    delay_ms: int
    in_flight: int
    cap: int
    waits_ms: int
    blocked_ms: int
    latency_ms: int
    success: float | None  # recent share of good responses
    faults: int  # in a row
    openings: int  # of its breaker since it last worked; 0: closed
    tier: Tier = "http"  # of most of its queued requests
    sitemaps: Mapping[str, list[str]] = field(default_factory=dict)  # named by robots.txt, by origin
    address: str = ""  # the name of the address that it shares its turns with other hosts of

    @property
    def breaker(self) -> str:
        """As text: closed, open (no requests), or probing (one request)."""
        if not self.openings:
            return "closed"
        return "open" if self.blocked_ms else "probing"


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A live worker, by its heartbeat."""

    name: str
    seen_ms_ago: int
    info: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead-lettered request with its reason; *at_ms* is the frontier's time. *nacked*: reason of its last retry."""

    id: str
    spider: str
    host: str
    reason: str
    at_ms: int
    deliveries: int
    status: int
    worker: str
    body: bytes
    fingerprint: int
    generation: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    nacked: str = ""
    shares: str = ""  # the generation whose fingerprints its own used, where that was another one
