"""Start URLs from `<spider>:start_urls`, as scrapy-redis keeps them, but leased instead of popped."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ConfigError
from crawler.frontier.errors import FrontierRefusedError
from crawler.frontier.server.failures import Commands
from crawler.frontier.server.scripts import Client, Scripts
from crawler.frontier.server.wire_format import pairs

Kind = Literal["list", "set", "zset"]


@dataclass(frozen=True, slots=True)
class Seed:
    """An entry and the handle that ends its lease; *raw* is what was pushed."""

    handle: bytes
    raw: bytes


class Seeds:
    """The entries of one start-URLs key. Leases live in `{<key>}:leases`, in the same Cluster slot.

    A dead worker's entries return when their leases expire; if it only stalled for that long they may be leased twice.
    An entry returns to the front of a list.
    """

    def __init__(
        self,
        client: Client,
        key: str,
        kind: Kind = "list",
        lease_ms: int = 120_000,
        *,
        claim: Callable[[], str] | None = None,
    ) -> None:
        self._scripts = Scripts(client, {})
        self._client = Commands(client, rights=self._scripts.rights)
        self.key = key
        self._leases = f"{{{key}}}:leases"
        self.kind = kind
        self._lease_ms = lease_ms
        self._claim = claim or (lambda: uuid.uuid4().hex)

    @classmethod
    def from_settings(cls, client: Client, key: str, settings: BaseSettings) -> Seeds:
        """Reads the type of *key* as scrapy-redis does: REDIS_START_URLS_AS_SET, then REDIS_START_URLS_AS_ZSET."""
        kind: Kind = "list"
        if config.boolean(settings, "REDIS_START_URLS_AS_SET"):
            kind = "set"
        elif config.boolean(settings, "REDIS_START_URLS_AS_ZSET"):
            kind = "zset"
        return cls(client, key, kind, round(config.number(settings, "FRONTIER_LEASE_SECONDS") * 1000))

    async def lease(self, limit: int) -> list[Seed]:
        """Up to *limit* entries: a list from the left, a zset from the highest score. Raises ConfigError for a key of
        another type."""
        try:
            flat = await self._scripts.run(
                "lease_seeds", [self.key, self._leases], self.kind, limit, self._claim(), self._lease_ms
            )
        except FrontierRefusedError as error:
            raise await self._explained(error) from None
        return [Seed(handle, raw) for handle, raw in pairs(flat)]

    async def ack(self, seeds: Sequence[Seed]) -> int:
        """Remove entries whose requests are in the frontier; returns how many leases were still ours."""
        return int(await self._client.zrem(self._leases, *(seed.handle for seed in seeds))) if seeds else 0

    async def give_back(self, seeds: Sequence[Seed]) -> int:
        """Return entries unused."""
        keys = [self.key, self._leases]
        return int(await self._scripts.run("return_seeds", keys, self.kind, *(seed.handle for seed in seeds)))

    async def pending(self) -> int:
        """How many entries wait or are leased."""
        count = {"list": self._client.llen, "set": self._client.scard, "zset": self._client.zcard}[self.kind]
        try:
            waiting = await count(self.key)
        except FrontierRefusedError as error:
            raise await self._explained(error) from None
        return int(waiting) + int(await self._client.zcard(self._leases))

    async def _explained(self, error: FrontierRefusedError) -> Exception:
        if "WRONGTYPE" not in str(error):
            return error
        found = (await self._client.type(self.key)).decode()
        wanted = {
            "list": "both False",
            "set": "REDIS_START_URLS_AS_SET = True",
            "zset": "REDIS_START_URLS_AS_ZSET = True",
        }
        return ConfigError(
            "REDIS_START_URLS_AS_SET, _AS_ZSET",
            self.kind,
            f"the type of key {self.key}, a {found}: {wanted.get(found, 'delete or rename that key')}",
        )
