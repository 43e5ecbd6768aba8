"""Small stand-ins for what the parts of a worker talk to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.messages import Batch, Handle, Lease, Message, NackOutcome, PushOutcome, Report, Slot
from crawler.worker.leases.held import HeldLease, HeldSlot
from tests.clock import Clock


class Stats:
    """Counts."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def inc_value(self, name: str, by: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + by


class Outage:
    """Waits for nothing."""

    on = False
    waited = 0

    async def wait(self, error: Exception) -> None:
        self.waited += 1

    async def insist(self, call: Callable[[], Awaitable[Any]]) -> Any:
        while True:
            try:
                return await call()
            except FrontierUnavailableError as error:
                await self.wait(error)

    def over(self) -> None:
        """Nothing to say."""


class Room:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.full = False

    def refused(self) -> None:
        self.full = True


async def _no_time(host: str) -> tuple[int, int]:
    return 0, 0


async def _nothing(host: str) -> None:
    return None


@dataclass
class Frontier:
    """Notes what it is told, and answers as it was set up; *before* runs at each call and may raise."""

    before: Callable[[str], None] = lambda name: None
    told: list[tuple[str, Any]] = field(default_factory=list)
    outcomes: Callable[[Message], PushOutcome] = lambda message: PushOutcome.ACCEPTED
    ours: bool = True  # whether tokens are good
    breaker: int = 1  # what becomes of the host's, with each report
    takes: list[Slot] = field(default_factory=list)
    batch: Batch = field(default_factory=lambda: Batch([], None, 0))
    config: FrontierConfig = field(default_factory=FrontierConfig)
    client: Any = None
    away: set[int] = field(default_factory=set)  # shards
    budgets: Any = None

    async def push(self, messages: Sequence[Message], *, forced: bool = False) -> list[PushOutcome]:
        self._call("forced push" if forced else "push", [message.body for message in messages])
        return [self.outcomes(message) for message in messages]

    @property
    def shards(self) -> Any:
        """Of hosts named s<number>.example, the shard of that number; else 0."""

        def of_host(host: str) -> int:
            return int(host[1:-8]) if host[1:-8].isdecimal() else 0

        def serves(host: str) -> bool:
            return of_host(host) not in self.away

        there = [one for one in (0, 1) if one not in self.away]
        return SimpleNamespace(of_host=of_host, serves=serves, away=self.away, there=there)

    async def renew(self, handles: Sequence[Handle], *, suspended: bool = False, for_room: bool = False) -> list[bool]:
        self._call("renew for room" if for_room else "renew", list(handles))
        return [self.ours] * len(handles)

    async def put_off(self, handles: Sequence[Handle], *, delay_ms: int) -> list[bool]:
        self._call("put_off", list(handles))
        return [self.ours] * len(handles)

    async def start(self, handles: Sequence[Handle], *, on_wire: bool = False) -> list[bool]:
        self._call("start on wire" if on_wire else "start", list(handles))
        return [self.ours] * len(handles)

    async def report(self, reports: Sequence[Report]) -> list[int]:
        self._call("report", list(reports))
        return [self.breaker if self.ours else 0] * len(reports)

    async def back_off(self, host: str, elapsed_ms: int, *, status: int, again: bool) -> int:
        self._call("back_off", again)
        return 0

    async def ack(self, handles: Sequence[Handle]) -> list[bool]:
        self._call("ack", list(handles))
        return [self.ours] * len(handles)

    async def settle(
        self, starts: Sequence[Handle], reports: Sequence[Report], acks: Sequence[Handle]
    ) -> tuple[list[bool], list[int], list[bool]]:
        return (
            await self.start(starts, on_wire=True) if starts else [],
            await self.report(reports) if reports else [],
            await self.ack(acks) if acks else [],
        )

    @property
    def breakers(self) -> Any:
        """Of hosts that have not been down for long."""
        return SimpleNamespace(host_down=_no_time, host_up=_nothing)

    async def give_back(self, handles: Sequence[Handle]) -> list[bool]:
        self._call("give_back", list(handles))
        return [self.ours] * len(handles)

    async def nack(self, *handle: Any, **how: Any) -> NackOutcome:
        self._call("nack", handle)
        return NackOutcome(self.ours)

    async def move(self, *handle: Any, **how: Any) -> bool:
        self._call("move", (handle, how["stream"]))
        return self.ours

    async def bury(self, *handle: Any, **how: Any) -> bool:
        self._call("bury", handle)
        return self.ours

    async def end_gone(self, *handle: Any, **how: Any) -> bool:
        self._call("gone", handle)
        return self.ours

    async def skip(self, handles: Sequence[Handle]) -> list[bool]:
        self._call("skip", list(handles))
        return [self.ours] * len(handles)

    async def lease(self, streams: Sequence[str], limit: int, **how: Any) -> Batch:
        self._call("lease", {"streams": list(streams), "limit": limit} | how)
        return self.batch

    async def reserve_slot(self, host: str, **how: Any) -> Slot:
        self._call("take", {"host": host} | how)
        return self.takes.pop(0)

    def _call(self, name: str, what: Any) -> None:
        self.before(name)
        self.told.append((name, what))

    @property
    def names(self) -> list[str]:
        """The calls in their order."""
        return [name for name, _ in self.told]


def lease(number: int = 1, host: str = "a.example", deliveries: int = 0) -> Lease:
    """A lease on a request of *host*."""
    return Lease(
        id=f"0:{number}",
        token=number,
        host=host,
        stream="s",
        body=b"",
        fingerprint=number,
        generation="0",
        deliveries=deliveries,
        start_within_ms=20_000,
        priority=0,
        leased_at_ms=0,
    )


def held(number: int = 1, host: str = "a.example", deliveries: int = 0) -> HeldLease:
    """The same in a worker's hands since the clock's start."""
    return HeldLease(lease(number, host, deliveries), Clock.now, HeldSlot(Clock.now + 20))


def message(number: int, dedupe: bool = True, host: str = "a.example") -> Message:
    """A request on its way in."""
    return Message(host=host, stream="s", spider="s", body=b"%d" % number, fingerprint=number, dedupe=dedupe)
