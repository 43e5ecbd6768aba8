"""The leases this worker holds: each Request object from a lease, with what is known of it so far.

Keyed by the Request object and never by its meta, which redirects and `follow` copy.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.http import Response

from crawler.frontier.runs.control import ControlState
from crawler.meta import REQUEST_ID, RUN_ID, count
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_buffer import Buffer

logger = logging.getLogger(__name__)


class LeaseBook:
    """Finds the lease of a request, its follow-ups and its children."""

    def __init__(self, buffered: Buffer | None = None) -> None:
        self._held: dict[Request, HeldLease] = {}
        self._buffered = Buffer() if buffered is None else buffered  # leased, not started
        self._pages: WeakKeyDictionary[Response, HeldLease] = WeakKeyDictionary()
        # weak: a follow-up that a component drops before the scheduler leaves nothing behind
        self._follow_ups: WeakKeyDictionary[Request, tuple[HeldLease, Request]] = WeakKeyDictionary()
        self._parents: WeakKeyDictionary[Request, HeldLease] = WeakKeyDictionary()
        self.hosts: Counter[str] = Counter()
        self._at: defaultdict[str, dict[Request, HeldLease]] = defaultdict(dict)  # `_held` by host
        self._control = ControlState()  # what operators have paused or cancelled, as of a second ago

    def obey(self, control: ControlState) -> list[HeldLease]:
        """Note what operators have said; takes what may not go on the wire out of the buffer."""
        self._control = control
        return self._buffered.withdraw(self.is_forbidden)

    def is_forbidden(self, held: HeldLease) -> bool:
        """Whether an operator has paused or cancelled what *held* is a part of: it may not go on the wire."""
        return self._control.forbids(held.lease)

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, request: Request, held: HeldLease) -> None:
        """Note that *request* now carries the lease, and name it in its meta, which a middleware may have replaced."""
        request.meta[REQUEST_ID] = held.lease.id
        request.meta[RUN_ID] = held.run_id
        self._held[request] = self._at[held.lease.host][request] = held
        self.hosts[held.lease.host] += 1

    def of(self, request: Request | None) -> HeldLease | None:
        """The lease of *request*; None for requests that bypass the queue (robots.txt, media)."""
        return self._held.get(request) if request is not None else None

    def answered(self, response: Response, held: HeldLease) -> None:
        """Note that *response* is the page of *held*, whichever request it was made from."""
        self._pages[response] = held

    def behind(self, response: Response) -> HeldLease | None:
        """The lease whose page *response* is."""
        return self._pages.get(response)

    def unstarted(self, host: str) -> HeldLease | None:
        """A started lease of *host* that was not sent yet."""
        return next((held for held in self._at.get(host, {}).values() if held.slot.started_at is None), None)

    def withdraw(self, host: str) -> list[HeldLease]:
        """Take the leases of *host* out of the buffer: their slot is needed."""
        return self._buffered.withdraw(lambda held: held.lease.host == host)

    def release(self, request: Request) -> HeldLease | None:
        """Forget *request*: it ended, or its lease moved on."""
        held = self._held.pop(request, None)
        if held is not None:
            self.hosts[held.lease.host] -= 1
            self._at[held.lease.host].pop(request, None)
            if not self.hosts[held.lease.host]:
                del self.hosts[held.lease.host], self._at[held.lease.host]
        return held

    def follow(self, request: Request, follow_up: Request) -> None:
        """Note that a downloader middleware returned *follow_up* for *request* (a redirect, a retry)."""
        if (held := self.of(request)) is not None:
            self._follow_ups[follow_up] = (held, request)

    def follow_up(self, request: Request) -> tuple[HeldLease, Request] | None:
        """The lease and the request that *request* follows up, once; the caller decides what becomes of it."""
        return self._follow_ups.pop(request, None)

    async def track_output(self, output: AsyncIterator[Any], parent: HeldLease) -> AsyncIterator[Any]:
        """Pass on what the callback or errback of *parent* yields: requests become children, and exhaustion marks its
        end.

        A callback that raises, or is stopped by CloseSpider, never gets there.
        """
        try:
            async for one in output:
                if isinstance(one, Request):
                    self.found(one, parent)
                yield one
        except Exception as error:
            parent.failed(error)
            raise
        parent.parsed()

    def stop_overdue(self, seconds: float) -> None:
        """Cancel callbacks that have run for longer than *seconds* under a lease that is lost: nothing of theirs counts
        any more, and those that never end would keep their slots for ever."""
        for held in self._held.values():
            task = held.task() if held.task is not None else None
            if not held.lost or task is None or task.done() or held.handed_at is None:
                continue
            if (taken := monotonic() - held.handed_at) > seconds:
                words = "The callback of %s (%s) is cancelled after %.0f s: FRONTIER_HARD_CAP_SECONDS is over"
                logger.error(words, held.lease.id, held.lease.host, taken, extra={"about": held.about()})
                task.cancel()

    def found(self, child: Request, parent: HeldLease) -> None:
        """Note that the callback of *parent* yielded *child*."""
        self._parents[child] = parent

    def parent(self, child: Request) -> HeldLease | None:
        """The lease of the page that *child* was found on."""
        return self._parents.get(child)

    def is_retry(self, child: Request, parent: HeldLease) -> bool:
        """Whether a callback made *child* with `get_retry_request`, of the page of *parent*."""
        times = count(child, "retry_times")
        return bool(times) and any(
            held is parent
            and (page.url, page.callback) == (child.url, child.callback)
            and count(page, "retry_times") < times
            for page, held in self._held.items()
        )

    def all(self) -> list[HeldLease]:
        """Every lease whose request the engine has, sent or not."""
        return list(self._held.values())

    def requests(self) -> list[tuple[Request, HeldLease]]:
        """The same with their requests."""
        return list(self._held.items())

    def in_hand(self) -> list[HeldLease]:
        """These, and those that wait in the buffer."""
        return [*self._held.values(), *self._buffered]
