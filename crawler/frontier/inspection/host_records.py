"""A host's politeness state as the scripts store it."""

from __future__ import annotations

import math
import struct
from typing import Any, Final

from crawler.frontier.messages import HostState

_HOST: Final = struct.Struct("<9d3HI2HhBHh")  # the twin of HOST_FORMAT in lua/lib/hosts/hosts.lua


def read_host(name: str, raw: bytes | None, now_ms: int) -> HostState:
    """Decode *raw*, the record of *name*, as of *now_ms*, without its queue; defaults for an unknown host.

    Raises ValueError for a damaged record, which the next script that needs it restores.
    """
    fields = _unpacked(raw)
    start, delay, _, _, blocked, *_ = fields[:9]
    cap, _, in_flight, latency, ok, bad, streak, openings, *_ = fields[9:]
    if not all(map(math.isfinite, (start, delay, blocked))):
        raise ValueError(f"the record of {name} is damaged")
    return HostState(
        host=name,
        queued=0,
        delay_ms=round(delay),
        in_flight=in_flight,
        cap=cap,
        waits_ms=max(0, math.ceil(max(start, blocked)) - now_ms),
        blocked_ms=max(0, round(blocked) - now_ms),
        latency_ms=latency,
        success=ok / (ok + bad) if ok + bad else None,
        faults=max(0, -streak),
        openings=openings,
    )


def lead_of(raw: bytes | None) -> int:
    """The priority of the host's most urgent request, as last seen."""
    return int(_unpacked(raw)[-1])


def _unpacked(raw: bytes | None) -> tuple[Any, ...]:
    if raw is not None and len(raw) < _HOST.size:
        raise ValueError(f"a host's record has {len(raw)} bytes: expected {_HOST.size} or more")
    return _HOST.unpack_from(raw or bytes(_HOST.size))
