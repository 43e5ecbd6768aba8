"""From a lease to a request that may be fetched: the conditions in order, and what happens when one fails."""

from __future__ import annotations

import logging
from time import monotonic

from scrapy import Request

from crawler.errors import CodecError, OtherReleaseError
from crawler.frontier.state.statement import Statement
from crawler.frontier.streams import stream_of
from crawler.worker.lease_queue import FrontierQueue
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.leases.requeue import Requeue
from crawler.worker.outbox.lease_endings import Bury, Move
from crawler.worker.outbox.outbox import Outbox

logger = logging.getLogger(__name__)

MOVE_DELAY_MS = 1_000  # keeps workers that disagree on a host's tier from moving its requests back and forth


class Admission:
    """Turns leases of the buffer into started requests."""

    def __init__(
        self, queue: FrontierQueue, book: LeaseBook, outbox: Outbox, requeue: Requeue, stated: Statement | None
    ) -> None:
        self._queue = queue
        self._book = book
        self._outbox = outbox
        self._requeue = requeue
        self._stated = stated

    def admit(self, held: HeldLease) -> Request | None:
        """The request of *held*, now started; None if its lease was ended instead."""
        if monotonic() > held.slot.start_by or self._book.is_forbidden(held):
            self._outbox.give_back(held.handle)
            return None
        request = self._read(held)
        if request is None or self._paced_otherwise(request, held) or self._moved(request, held):
            return None
        self._book.hold(request, held)
        return request

    def _read(self, held: HeldLease) -> Request | None:
        try:
            return self._queue.request(held.lease)
        except OtherReleaseError as error:
            self._requeue.pass_on(held, error)
        except CodecError as error:
            words = "A queued request cannot be decoded and became a dead letter: %s"
            logger.error(words, error, extra={"about": held.about()})
            self._outbox.end(Bury(held.handle, "undecodable", {"error": str(error)}))
        return None

    def _paced_otherwise(self, request: Request, held: HeldLease) -> bool:
        """Whether it was paced by another rule than its own. If so the frontier is told the right one and gets the
        lease back."""
        rule = self._queue.encoder.rules.of(request)
        if self._stated is None or rule.group != held.lease.host or not self._stated.note(rule.group, rule.pace):
            return False
        self._outbox.give_back(held.handle)
        return True

    def _moved(self, request: Request, held: HeldLease) -> bool:
        if (tier := self._queue.tier_elsewhere(request)) is None:
            return False
        self._outbox.end(Move(held.handle, stream_of(self._queue.spider.name, tier), MOVE_DELAY_MS))
        return True
