"""The leases this worker holds: each Request object from a lease, with what was seen of it so far.

Keyed by the Request object itself and never by its meta, which redirects and `follow` copy.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.http import Response

from crawler.frontier.messages import Handle, Lease
from crawler.policy.outcome import Evidence
from crawler.worker.lease_buffer import Buffer


@dataclass(slots=True, eq=False)
class Held:
    """One lease in this worker's hands. Times are seconds of the worker's monotonic clock."""

    lease: Lease
    leased_at: float
    start_by: float  # past it the request may not go on the wire under this lease
    started_at: float | None = None  # on the wire since
    reported: bool = False  # the host's slot is free again
    lent: bool = False  # it needs another turn: its own went to a request it waits for (robots.txt), or is out of date
    loan: asyncio.Lock = field(default_factory=asyncio.Lock)  # held by whoever goes in its slot now
    lost: bool = False  # the frontier no longer knows the token
    downloads: int = 0  # not ended yet: more than one when a callback downloads its own request again
    postponed_ms: int = 0  # how long its host wants to be left alone, when that is too long to wait for here
    status: int = 0  # of the last answer
    answered: bool = False  # at least once
    handed_at: float | None = None  # to its callback
    parsed_at: float | None = None  # its callback came to its end
    evidence: Evidence = field(default_factory=Evidence)

    @property
    def handle(self) -> Handle:
        """What the frontier knows the lease by."""
        return self.lease.id, self.lease.token

    def on_wire_since(self, moment: float) -> bool:
        """Whether it, or what it waits for, was sent before *moment* and is still unanswered."""
        since = self.leased_at if self.started_at is None and self.lent else self.started_at
        return since is not None and since < moment and not self.reported


class LeaseBook:
    """Finds the lease of a request, of its follow-ups and of its children."""

    def __init__(self, buffered: Buffer | None = None) -> None:
        self._held: dict[Request, Held] = {}
        self._buffered = Buffer() if buffered is None else buffered  # leased, and not in work yet
        self._pages: WeakKeyDictionary[Response, Held] = WeakKeyDictionary()
        # weak: a follow-up that a component drops on its way to the scheduler leaves nothing behind
        self._follow_ups: WeakKeyDictionary[Request, tuple[Held, Request]] = WeakKeyDictionary()
        self._parents: WeakKeyDictionary[Request, Held] = WeakKeyDictionary()
        self.hosts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, request: Request, held: Held) -> None:
        """*request* is what the worker now does for the lease."""
        self._held[request] = held
        self.hosts[held.lease.host] += 1

    def of(self, request: Request | None) -> Held | None:
        """The lease of *request*; None for what bypasses the queue (robots.txt, media)."""
        return self._held.get(request) if request is not None else None

    def answered(self, response: Response, held: Held) -> None:
        """*response* is the page of *held*, whichever request a middleware made it from."""
        self._pages[response] = held

    def behind(self, response: Response) -> Held | None:
        """The lease that *response* is the page of."""
        return self._pages.get(response)

    def unstarted(self, host: str) -> Held | None:
        """A lease of *host* that is in work but has not gone on the wire."""
        if host not in self.hosts:
            return None
        return next((held for held in self._held.values() if held.lease.host == host and held.started_at is None), None)

    def withdraw(self, host: str) -> list[Held]:
        """Take the leases of *host* that are not in work out of the buffer: somebody needs their slot."""
        return self._buffered.withdraw(lambda held: held.lease.host == host)

    def release(self, request: Request) -> Held | None:
        """Forget *request*, because it ended or its lease moved on."""
        held = self._held.pop(request, None)
        if held is not None:
            self.hosts[held.lease.host] -= 1
            if not self.hosts[held.lease.host]:
                del self.hosts[held.lease.host]
        return held

    def follow(self, request: Request, follow_up: Request) -> None:
        """A downloader middleware answered *request* with *follow_up* (a redirect, a retry)."""
        if (held := self.of(request)) is not None:
            self._follow_ups[follow_up] = (held, request)

    def follow_up(self, request: Request) -> tuple[Held, Request] | None:
        """The lease and the request that *request* continues, once: the caller decides what becomes of it."""
        return self._follow_ups.pop(request, None)

    async def track_output(self, output: AsyncIterator[Any], parent: Held) -> AsyncIterator[Any]:
        """What the callback or errback of *parent* yields: its requests are children, and the last line is its end.

        A callback that raises, or is cut off by CloseSpider, never gets there.
        """
        async for one in output:
            if isinstance(one, Request):
                self._parents[one] = parent
            yield one
        parent.evidence.parsed = True
        parent.parsed_at = monotonic()

    def parent(self, child: Request) -> Held | None:
        """The lease whose page *child* was found on."""
        return self._parents.get(child)

    def all(self) -> list[Held]:
        """Every lease held, started or not."""
        return list(self._held.values())
