"""A turn: permission to send one request now, and the error for a request that gets none. Granted in pacing.py."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from crawler.frontier.messages import Handle
from crawler.worker.leases.held import HeldLease


class TooLateError(Exception):
    """The lease is no longer ours, its time to start has passed (a frozen worker), or its host asked for a wait that is
    too long to sit out here: the lease goes back, uncharged."""

    def __init__(self, wait_ms: int = 0, why: str = "postponed") -> None:
        super().__init__()
        self.wait_ms = wait_ms
        self.why = why


@dataclass(slots=True)
class Turn:
    """Permission to send now."""

    handle: Handle
    start_by: float  # monotonic seconds: the request may not be written later
    host: str
    held: HeldLease | None = None  # None for a request without its own lease
    lender: HeldLease | None = None  # the page, not sent yet, whose slot it uses
    led_by: HeldLease | None = None  # the lease whose redirect it follows
    sent_at: float | None = None  # monotonic seconds
    charged: asyncio.Future[bool] | None = None  # whether the frontier counted this delivery as ours

    @property
    def keep(self) -> bool:
        """Whether the slot is still needed afterwards."""
        return self.lender is not None
