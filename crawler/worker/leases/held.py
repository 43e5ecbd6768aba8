"""One lease in this worker's hands, from when it is leased until it ends: what every step has noted about it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Any
from weakref import ReferenceType, ref

from scrapy.exceptions import CloseSpider

from crawler.frontier.messages import Handle, Lease
from crawler.frontier.streams import tier_of
from crawler.policy.endings.outcome import Evidence


@dataclass(slots=True, eq=False)
class HeldSlot:
    """The slot at its host that came with a lease, until the host has answered: what `turns/` notes about it, and the
    robots.txt middleware where a file used or outdated its turn."""

    start_by: float  # later the request may not be sent under this lease
    started_at: float | None = None  # when it was sent
    reported: bool = False  # the host's slot is free again
    lent: bool = False  # its turn was used for a request that it waits for (robots.txt), or is outdated
    free_at: float | None = None  # when its host had no delay: it may go all the same
    status: int = 0  # of the last response
    _loan: asyncio.Lock | None = None

    @property
    def loan(self) -> asyncio.Lock:
        """Held by the request that uses it now; made at the first one, which most leases never see."""
        if self._loan is None:
            self._loan = asyncio.Lock()
        return self._loan

    @property
    def needs_turn(self) -> bool:
        """Whether it is to ask for another one."""
        return self.lent and self.free_at is None

    def go_back(self, now: float) -> None:
        """It is on its way back: its turn may not be borrowed any more."""
        self.started_at = now


@dataclass(slots=True, eq=False)
class HeldLease:
    """One lease in this worker's hands. Times are seconds of the worker's monotonic clock."""

    lease: Lease
    leased_at: float
    slot: HeldSlot
    address: str = ""  # the address it was paced by; "": its host stands alone
    run_id: str | None = None
    lost: bool = False  # the frontier no longer knows the token
    # Noted by the request tracker and the follow-ups
    downloads: int = 0  # in progress: more than one if a callback downloads its own request again
    unsent_hops: int = 0  # how often in a row middlewares put another request in its place before that was sent
    postponed_for: str = "postponed"  # the reason for which it is put back
    postponed_ms: int = 0  # the wait that its host asked for, if that is too long to wait for here
    # By the middleware of robots.txt and by the metrics
    unresolved: str = ""  # why its robots.txt could not be asked for: it fails so itself, in its turn
    answered: bool = False  # whether there was a response
    # By `handed` and `parsed`
    handed_at: float | None = None  # when its callback was called
    task: ReferenceType[asyncio.Task[Any]] | None = None  # that its callback runs in
    parsed_at: float | None = None  # when its callback ended
    evidence: Evidence = field(default_factory=Evidence)

    @property
    def handle(self) -> Handle:
        """The lease's id and token."""
        return self.lease.id, self.lease.token

    @property
    def fetched_at(self) -> datetime:
        """When the page was fetched: Redis' clock at the lease plus this worker's monotonic clock since then."""
        waited = (self.slot.started_at or self.leased_at) - self.leased_at
        return datetime.fromtimestamp(self.lease.leased_at_ms / 1000 + waited, UTC)

    def about(self, url: str = "") -> dict[str, Any]:
        """What a log line about it says where there is no Request: `extra={"about": ...}`."""
        lease = self.lease
        named = {"run_id": self.run_id, "request_id": lease.id, "host": lease.host, "url": url}
        known = named | {"attempt": lease.deliveries + 1, "tier": tier_of(lease.stream)}
        return {name: value for name, value in known.items() if value}

    def on_wire_since(self, moment: float) -> bool:
        """Whether it, or the request it waits for, was sent before *moment* and is still unanswered."""
        slot = self.slot
        since = self.leased_at if slot.started_at is None and slot.lent else slot.started_at
        return since is not None and since < moment and not slot.reported

    def handed(self) -> None:
        """Note that the task that runs now is about to call its callback or errback."""
        self.handed_at = monotonic()
        task = asyncio.current_task()
        self.task = ref(task) if task is not None else None

    def parsed(self) -> None:
        """Note that its callback ran to its end."""
        self.evidence.parsed = True
        self.parsed_at = monotonic()

    def failed(self, error: Exception) -> None:
        """Note that its callback or errback has closed the spider, if that is what *error* does: Scrapy tells of all
        others."""
        if isinstance(error, CloseSpider):
            self.evidence.closed = str(error.reason) or "cancelled"
