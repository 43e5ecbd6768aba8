"""What the parts of one worker that lease and pace share: built once, passed together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from crawler.frontier.frontier import Frontier
from crawler.frontier.server.outage import RedisOutage
from crawler.routing.host_rules import HostRules
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.outbox.outbox import Outbox


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """*worker*: the name that the frontier knows it by; *clock*: seconds, never set back."""

    worker: str
    frontier: Frontier
    rules: HostRules
    book: LeaseBook
    outbox: Outbox
    outage: RedisOutage
    clock: Callable[[], float] = monotonic
