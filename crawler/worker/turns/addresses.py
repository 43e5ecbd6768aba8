"""Looks up the addresses of hosts for the fleet, where hosts with the same one are crawled as one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Final

from scrapy.exceptions import CannotResolveHostError

from crawler.errors import AddressRefusedError
from crawler.frontier.server.outage import RedisOutage
from crawler.frontier.state.addresses import Addresses, address_name
from crawler.policy.shared_addresses import SharedAddresses
from crawler.routing.host_rules import HostRules
from crawler.utils.caches import Recent

AGAIN_SECONDS: Final = 1.0  # until hosts whose shard is away are told again
AT_ONCE: Final = 128  # look-ups: further hosts are asked for again
REMEMBERED: Final = 20_000

Resolve = Callable[[str], Awaitable[list[str]]]


class AddressBook:
    """One worker's part: it looks up what leases ask for, and notices when a host that it is about to dial has moved.

    *shared* says which addresses count; *seconds* is how long a look-up holds for the fleet. Known weakness: a kept
    connection to a host's old address is used until it is closed.
    """

    def __init__(
        self,
        fleet: Addresses,
        rules: HostRules,
        outage: RedisOutage,
        shared: SharedAddresses,
        wake: Callable[[], None],
        failed: Callable[[asyncio.Task[None]], None],
        seconds: float,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """*failed* is called with each task of its own that has ended."""
        self.resolve: Resolve | None = None  # set before the first request, by handlers/addresses.py
        self._fleet = fleet
        self._rules = rules
        self._outage = outage
        self._shared = shared
        self._wake = wake
        self._failed = failed
        self._seconds = seconds
        self._clock = clock
        self._known: Recent[str, tuple[str, float]] = Recent(REMEMBERED)  # host -> name of its address, until
        self._found: dict[str, tuple[str, ...]] = {}  # not told yet
        self._asked: dict[str, asyncio.Task[None]] = {}
        self._telling: asyncio.Task[None] | None = None
        self._moving: set[str] = set()

    def seek(self, hosts: Collection[str]) -> None:
        """The frontier wants to know where *hosts* are."""
        for host in hosts:
            if len(self._asked) < AT_ONCE:
                self._ask(host)

    def learn(self, addresses: Mapping[str, str]) -> None:
        """Leases were paced by *addresses*."""
        for host, name in addresses.items():
            self._note(host, name)

    async def ensure(self, host: str) -> None:
        """Return when the frontier knows where *host* is: for requests that were not leased."""
        if self._rules.by_address and not self._is_known(host):
            await asyncio.shield(self._ask(host))
            while host in self._found and self._telling is not None:
                with suppress(TimeoutError):  # it may wait for shards of other hosts
                    await asyncio.wait_for(asyncio.shield(self._telling), AGAIN_SECONDS)

    def answered(self, host: str, found: Iterable[str]) -> None:
        """The resolver has a new answer for a host that is about to be dialled."""
        known, _ = self._known.get(host, ("", 0.0))
        if not known:
            return
        addresses = self._shared.of(found)
        if known not in {address_name(one) for one in addresses}:
            self._moving.add(host)
            self._tell(host, addresses)

    def is_moving(self, host: str, paced_by: str = "") -> bool:
        """Whether a request to *host* was *paced_by* an address that the host no longer has."""
        if not self._known:
            return False
        return host in self._moving or (paced_by != "" and self._known.get(host, (paced_by, 0.0))[0] != paced_by)

    async def close(self) -> None:
        """Look up no more."""
        unfinished = [*self._asked.values(), *([self._telling] if self._telling else [])]
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)

    def _is_known(self, host: str) -> bool:
        return host in self._known and self._known[host][1] > self._clock()

    def _note(self, host: str, name: str) -> None:
        self._known[host] = (name, self._clock() + self._seconds)

    def _ask(self, host: str) -> asyncio.Task[None]:
        if (task := self._asked.get(host)) is None:
            task = self._asked[host] = asyncio.ensure_future(self._look_up(host))
            task.add_done_callback(self._failed)
        return task

    async def _look_up(self, host: str) -> None:
        try:
            self._tell(host, await self._addresses_of(host))
        finally:
            del self._asked[host]

    async def _addresses_of(self, host: str) -> tuple[str, ...]:
        """() for a name that stands for something else than a host, does not resolve, or must not be dialled."""
        if self.resolve is None or self._rules.is_named_group(host):
            return ()
        try:
            return self._shared.of(await self.resolve(host))
        except (CannotResolveHostError, AddressRefusedError, ValueError):
            return ()

    def _tell(self, host: str, addresses: tuple[str, ...]) -> None:
        self._found[host] = addresses
        if self._telling is None:
            self._telling = asyncio.ensure_future(self._tell_all())
            self._telling.add_done_callback(self._failed)

    async def _tell_all(self) -> None:
        """Tells the frontier in batches: what is found while one is under way goes with the next."""
        try:
            while found := dict(self._found):
                holds_ms = round(self._seconds * 1000)
                names = await self._outage.insist(partial(self._fleet.tell, found, holds_ms))
                for host, name in names.items():
                    self._note(host, name)
                    self._moving.discard(host)
                    if self._found[host] == found[host]:
                        del self._found[host]
                self._wake()
                if not names:
                    await asyncio.sleep(AGAIN_SECONDS)
        finally:
            self._telling = None
