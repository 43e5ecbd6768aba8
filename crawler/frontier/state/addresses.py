"""Hosts that share an IP address: what workers have looked up, for the whole fleet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from crawler.frontier.script_constants import ADDRESS
from crawler.frontier.server.shards import Shards, groups

AT_ONCE: Final = 100  # hosts per call
MOST: Final = 8  # addresses of one host


def address_name(address: str) -> str:
    """The name of the record of an IP address among the hosts."""
    return ADDRESS + address


class Addresses:
    """Which hosts are paced as one, because they have the same address."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def tell(self, found: Mapping[str, Sequence[str]], holds_ms: int) -> dict[str, str]:
        """The IP addresses of hosts, none for one that stands alone; they hold for that long. Returns the name of the
        address' record that is in force for each, "" for none: a host keeps its address while that is among those.
        Hosts of shards that are away are left out."""
        in_force: dict[str, str] = {}
        by_shard: dict[int, list[str]] = {}
        for host in found:
            by_shard.setdefault(self._shards.of_host(host), []).append(host)
        for shard in by_shard.keys() - self._shards.away:
            for some in groups(by_shard[shard], AT_ONCE):
                names = [_names(found[host]) for host in some]
                rows = [part for pair in zip(some, names, strict=True) for part in pair]
                answers = await self._shards.run("addresses", shard, holds_ms, *rows)
                in_force |= {host: name.decode() for host, name in zip(some, answers, strict=True)}
        return in_force

    async def of(self, host: str) -> str:
        """The name of the record of *host*'s address; "" if it stands alone, or nobody has looked."""
        raw = await self._shards.client.hget(self._shards.key(self._shards.of_host(host), "address"), host)
        return raw[8:].decode(errors="replace") if raw else ""


async def with_lines(shards: Shards, shard: int, stream: str, names: Iterable[str], most: int = 0) -> list[str]:
    """Hosts of a stream, and in place of addresses the hosts that wait in their lines, at most *most* of each (0:
    all)."""
    found: list[str] = []
    for name in names:
        line = []
        if name.startswith(ADDRESS):
            line = await shards.client.zrange(shards.key(shard, f"line:{stream}::{name}"), 0, most - 1)
        found += [host.decode(errors="replace") for host in line] or [name]
    return found


def _names(addresses: Sequence[str]) -> str:
    return " ".join(address_name(address) for address in addresses[:MOST])
