"""What becomes of leased requests: started, reported, ended or given back, each under its id and token."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from crawler.frontier.messages import MAX_NAME, Handle, NackOutcome, Report
from crawler.frontier.server import keys
from crawler.frontier.server.drops import same_server
from crawler.frontier.server.shards import FEW, Shards, pack
from crawler.frontier.server.wire_format import clamped, flag, handle_row, report_row


class LeaseCalls:
    """The part of the frontier's interface that takes leases. An answer of False, or 0: the token is stale, and nothing
    has changed.

    What ends a page for good (`settle` with acks, `skip`, `bury`, `end_gone`) rests on what this server was told
    before, as are the page's links: it never reaches one that has been started since, or has taken over, and raises
    FrontierUnavailableError instead.
    """

    def __init__(self, shards: Shards, rng: Callable[[], float]) -> None:
        self.shards = shards
        self._rng = rng

    async def start(self, handles: Sequence[Handle]) -> list[bool]:
        """Charge a delivery before they are sent: the next request waits for the report, or until these must have
        started. False: the lease is no longer ours, or its host has pushed back since: do not send it."""
        return await self.shards.on_handles("start", handles)

    async def skip(self, handles: Sequence[Handle]) -> list[bool]:
        """Done without having been sent. False: the token is stale and nothing changed."""
        with same_server(self.shards.client):
            return await self.shards.on_handles("skip", handles)

    async def settle(
        self, starts: Sequence[Handle] = (), reports: Sequence[Report] = (), acks: Sequence[Handle] = ()
    ) -> tuple[list[bool], list[int], list[bool]]:
        """In this order and in one call per shard; returns the answers to each.

        *starts* were sent before this call, so that the next request may follow after the host's delay: charges a
        delivery. *reports* free the host's slot and adapt its pace: 0, stale or reported before; 1, accepted; more, it
        opened the host's breaker for this many ms; -1, it closed it. *acks* are done and durable.
        """
        rows = [(one[0], 0, handle_row(one)) for one in starts]
        rows += [(report.id, 1, report_row(report)) for report in reports]
        rows += [(one[0], 2, handle_row(one)) for one in acks]

        async def run(shard: int, group: list[tuple[str, int, bytes]]) -> Any:
            kinds = [kind for _, kind, _ in group]
            counts = (kinds.count(0), kinds.count(1))
            return await self.shards.run("settle", shard, self._rng(), *counts, *(row for _, _, row in group))

        with same_server(self.shards.client) if acks else nullcontext():
            answers = await self.shards.scatter(rows, lambda row: keys.shard_of_id(row[0]), run)
        first, last = len(starts), len(starts) + len(reports)
        return [bool(one) for one in answers[:first]], answers[first:last], [bool(one) for one in answers[last:]]

    async def nack(
        self,
        lease_id: str,
        token: int,
        *,
        delay_ms: int,
        body: bytes | None = None,
        priority: int = 0,
        reason: str = "",
    ) -> NackOutcome:
        """Retry after *delay_ms*, uncharged, under the same id; a *body* replaces the old one, and *priority* then the
        old priority. The last *reason* is kept, for its dead letter if it comes to that. Hosts are given up by
        `breakers`."""
        shard, number = keys.split_id(lease_id)
        row = (number, token, max(0, delay_ms), reason[:MAX_NAME], *_rewritten(body, priority))
        return NackOutcome(await self.shards.run("nack", shard, *row))

    async def move(
        self,
        lease_id: str,
        token: int,
        *,
        stream: str,
        delay_ms: int = 0,
        body: bytes | None = None,
        priority: int = 0,
    ) -> bool:
        """Queue on another *stream* of the same spider, uncharged, under the same id, with *body* and *priority* as for
        `nack`; without a delay at its old place in the queue."""
        shard, number = keys.split_id(lease_id)
        row = (number, token, stream, max(0, delay_ms), *_rewritten(body, priority))
        return bool(await self.shards.run("move", shard, *row))

    async def give_back(self, handles: Sequence[Handle]) -> list[bool]:
        """Return leases unused, uncharged, to their place in the queue."""
        return await self.shards.on_handles("give_back", handles, most=FEW)

    async def bury(
        self,
        lease_id: str,
        token: int,
        *,
        reason: str,
        detail: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        priority: int = 0,
    ) -> bool:
        """Dead-letter, with *body* and *priority* as for `nack`; the fingerprint stays known until the letter is
        retried, dropped or evicted."""
        shard, number = keys.split_id(lease_id)
        row = (number, token, reason, pack(dict(detail or {})), *_rewritten(body, priority))
        with same_server(self.shards.client):
            return bool(await self.shards.run("bury", shard, *row))

    async def end_gone(self, lease_id: str, token: int, *, reason: str, detail: Mapping[str, Any]) -> bool:
        """Done because the site refuses the page for good: listed in `gone`."""
        shard, number = keys.split_id(lease_id)
        with same_server(self.shards.client):
            return bool(await self.shards.run("gone", shard, number, token, reason, pack(dict(detail))))

    async def renew(self, handles: Sequence[Handle], *, suspended: bool = False, for_room: bool = False) -> list[bool]:
        """Extend leases. False: stale, or on the wire for longer than FRONTIER_HARD_CAP_SECONDS.

        *suspended*: storage is down; the time since the last renewal does not count towards that cap. *for_room*: these
        pages only wait for room in Redis for their requests: they count as never started.
        """
        return await self.shards.on_handles("renew", handles, "room" if for_room else flag(suspended))

    async def put_off(self, handles: Sequence[Handle], *, delay_ms: int) -> list[bool]:
        """Return leases of pages whose requests find no room, uncharged: queued after *delay_ms*, doubled each further
        time (up to 15 minutes), or by `recall`."""
        return await self.shards.on_handles("put_off", handles, str(max(0, delay_ms)), most=FEW)

    async def recall(self) -> int:
        """Queue at once what was put off, as there is room; returns how many requests."""
        queued = 0
        for shard in self.shards.there:
            some = FEW
            while some == FEW:
                some = int(await self.shards.run("recall", shard, FEW))
                queued += some
        return queued


def _rewritten(body: bytes | None, priority: int) -> tuple[int | bytes, ...]:
    """The arguments with which a script replaces a request's body, and with it the priority; none to keep both."""
    return () if body is None else (clamped(priority), body)
