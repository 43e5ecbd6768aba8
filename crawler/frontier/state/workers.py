"""Which workers are alive, and what they say of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgpack.exceptions import UnpackException

from crawler.frontier.messages import WorkerState
from crawler.frontier.server.shards import Shards, pack, unpack

SILENT_MS: Final = 15_000  # three missed heartbeats: a killed worker's outbox is gone with it


class Workers:
    """The fleet's workers, by their heartbeats."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def heartbeat(
        self, worker: str, info: Mapping[str, Any], streams: Sequence[str] = (), *, newest: str = "0"
    ) -> int:
        """Record that *worker* is alive, what it holds (leases, outbox ...), the *newest* generation of a run among
        that, and which *streams* it leases from; returns the frontier's time in ms."""
        return int(await self._shards.run("heartbeat", 0, worker, pack(dict(info)), newest, *streams))

    async def leave(self, worker: str) -> None:
        """Remove *worker* from the list."""
        await self._shards.run("heartbeat", 0, worker, b"")

    async def alive(self, within_ms: int = SILENT_MS) -> list[WorkerState]:
        """The workers with a heartbeat within that time."""
        client = self._shards.client
        now = await self._shards.now_ms()
        around = (now - within_ms, now + within_ms)  # one of the far future is no heartbeat
        alive = await client.zrangebyscore(self._shards.key(0, "workers"), *around, withscores=True)
        if not alive:
            return []
        infos = await client.hmget(self._shards.key(0, "workers:info"), [name for name, _ in alive])
        return [
            WorkerState(name.decode(errors="replace"), int(now - at), _info(info))
            for (name, at), info in zip(alive, infos, strict=True)
            if info is not None
        ]


def _info(raw: bytes) -> dict[str, Any]:
    try:
        return _texts(unpack(raw))
    except (ValueError, AttributeError, UnpackException):
        return {}  # damaged: its worker sends it again within seconds


def _texts(info: Mapping[bytes, Any]) -> dict[str, Any]:
    return {name.decode(): value.decode() if isinstance(value, bytes) else value for name, value in info.items()}
