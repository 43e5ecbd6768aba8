"""Hosts whose circuit breaker has opened: whether another port of theirs answers, and when they are given up."""

from __future__ import annotations

from crawler.frontier.server.shards import Shards


class HostBreakers:
    """What follows once a report has opened or closed a host's circuit breaker."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def host_down(self, host: str, *, most: int = 1_000) -> tuple[int, int]:
        """*host*'s circuit breaker opened: returns for how many ms it has been open, and how many of its queued
        requests became dead letters because that reached ROBOTSTXT_UNREACHABLE_SECONDS; *most* per queue and call."""
        down, buried = await self._shards.run("host_down", self._shards.of_host(host), host, most)
        return int(down), int(buried)

    async def probe_other(self, host: str, origin: str) -> bool:
        """*host*'s circuit breaker opened because of *origin* (as in a Report): whether a request to another port is
        queued, which probes it then."""
        return bool(await self._shards.run("probe_other", self._shards.of_host(host), host, origin))

    async def host_up(self, host: str) -> None:
        """*host* works again."""
        shard = self._shards.of_host(host)
        await self._shards.client.delete(self._shards.key(shard, f"down:{host}"))
        await self._shards.client.hdel(self._shards.key(shard, "blamed"), host)
