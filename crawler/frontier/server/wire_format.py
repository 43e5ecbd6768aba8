"""The bytes that Python and Lua exchange: struct formats, with counterparts in lua/lib/members.lua, records.lua."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from crawler.frontier.messages import MAX_DEPTH, MAX_MOMENT_MS, MAX_PRIORITY, Lease, Message, Report

_HEAD: Final = struct.Struct(">hQ")  # priority, fingerprint
# not before, delay, cap, burst, whether to deduplicate, pages, pages per host, depth
_TERMS: Final = struct.Struct(">dIHHBIIB")
RANK_MS: Final = 604_800_000  # the twin of RANK_MS in lua/lib/pages.lua
_HANDLE: Final = struct.Struct("<dd")  # id, token
_REPORT: Final = struct.Struct("<ddIIHIB")  # id, token, elapsed, latency, status, Retry-After, flags
_RECORD: Final = struct.Struct("<dddddBBH")  # token, score, reserved, start by, started, deliveries, released, status


class Envelope(NamedTuple):
    """A decoded envelope."""

    priority: int
    fingerprint: int
    generation: str
    body: bytes


def clamped(priority: int) -> int:
    """*priority* within what the frontier counts."""
    return max(-MAX_PRIORITY, min(MAX_PRIORITY, priority))


def seal(message: Message) -> bytes:
    """priority (2 bytes), fingerprint (8), digest and generation (each length-prefixed), body."""
    head = _HEAD.pack(clamped(message.priority), message.fingerprint)
    return head + _prefixed(message.digest, message.generation.encode()) + message.body


def unseal(raw: bytes) -> Envelope:
    """The inverse of `seal`."""
    priority, fingerprint = _HEAD.unpack_from(raw)
    at = _HEAD.size + 1 + raw[_HEAD.size]
    end = at + 1 + raw[at]
    return Envelope(priority, fingerprint, raw[at + 1 : end].decode(), raw[end:])


def push_row(message: Message, pages: int | None = None) -> bytes:
    """*message* as push.lua takes it; *pages*: the shard's share of its own."""
    limits = (message.pages if pages is None else pages, message.pages_per_host, min(message.depth, MAX_DEPTH))
    terms = _TERMS.pack(message.not_before_ms, message.delay_ms, message.cap, message.burst, message.dedupe, *limits)
    names = (message.host.encode(), message.stream.encode(), message.generation.encode())
    return terms + _prefixed(*names, b"%d" % message.fingerprint) + seal(message)


def handle_row(number: int, token: int) -> bytes:
    """A lease of that number as the scripts take it."""
    return _HANDLE.pack(number, token)


def report_row(report: Report, number: int) -> bytes:
    """*report* on the lease of that number as report.lua takes it."""
    elapsed, latency, retry_after = (max(0, ms) for ms in (report.elapsed_ms, report.latency_ms, report.retry_after_ms))
    flags = report.keep + 2 * report.excused + 4 * report.fault + 8 * report.again
    flags += {"link": 16, "redirect": 32}.get(report.led, 0)
    return (
        _REPORT.pack(number, report.token, elapsed, latency, report.status, retry_after, flags) + report.origin.encode()
    )


def read_lease(
    shard: int, now: int, number: int, record: bytes, sealed: bytes, start_within_ms: int, step_ms: float = 0
) -> Lease:
    """A lease from what lease.lua answers; a step of priority is worth *step_ms* of waiting."""
    token, score, _, _, _, deliveries, _, _ = _RECORD.unpack_from(record)
    at = _RECORD.size + 1
    host = record[at : at + record[at - 1]]
    at += len(host) + 1
    stream = record[at : at + record[at - 1]]
    envelope = unseal(sealed)
    return Lease(
        id=f"{shard}:{number}",
        token=int(token),
        host=host.decode(),
        stream=stream.decode(),
        body=envelope.body,
        fingerprint=envelope.fingerprint,
        generation=envelope.generation,
        deliveries=deliveries,
        start_within_ms=start_within_ms,
        priority=envelope.priority,
        leased_at_ms=now,
        waited_ms=_waited_ms(now - score - envelope.priority * step_ms),
    )


def _waited_ms(ms: float) -> int:
    """*ms*, or 0 where the score is damaged: nothing but a figure depends on it. Without what the rank of a request in
    a run with a page limit adds to its score (lua/lib/pages.lua)."""
    if -RANK_MS / 2 < ms < RANK_MS:
        return max(0, int(ms))
    return int(ms % RANK_MS) if -MAX_MOMENT_MS < ms < MAX_MOMENT_MS else 0


def _prefixed(*fields: bytes) -> bytes:
    return b"".join(bytes((len(field),)) + field for field in fields)
