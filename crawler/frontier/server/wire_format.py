"""The bytes that Python and Lua exchange: struct formats, with counterparts in members.lua and records.lua of
lua/lib/requests/."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

from crawler.frontier.messages import MAX_DEPTH, MAX_MOMENT_MS, MAX_PRIORITY, Handle, Lease, Message, Report
from crawler.frontier.script_constants import BESIDE, LINKED, RANK_MS, REDIRECTED
from crawler.frontier.server.keys import split_id

T = TypeVar("T")

_HEAD: Final = struct.Struct(">hQ")  # priority, fingerprint
# not before, delay, cap, burst, whether to deduplicate, pages, pages per host, depth
_TERMS: Final = struct.Struct(">dIHHBIIB")
MAX_COUNT: Final = 2**53  # beyond it Lua's numbers are not exact
_PRIORITY: Final = struct.Struct(">h")
_BYTES: Final = [bytes((value,)) for value in range(256)]
_HANDLE: Final = struct.Struct("<dd")  # id, token
_REPORT: Final = struct.Struct("<ddIIHIB")  # id, token, elapsed, latency, status, Retry-After, flags
_LED: Final = {"link": LINKED, "redirect": REDIRECTED, "beside": BESIDE}
# The head of a lease's record, HEAD_FORMAT in lua/lib/shard/damage.lua: token, score, reserved, start by, started,
# deliveries, released, status. Behind it stand host, stream, generation and worker, each length-prefixed.
_RECORD: Final = struct.Struct("<dddddBBH")


class Envelope(NamedTuple):
    """A decoded envelope."""

    priority: int
    fingerprint: int
    generation: str
    body: bytes


def clamped(priority: int) -> int:
    """*priority* limited to the frontier's range."""
    return max(-MAX_PRIORITY, min(MAX_PRIORITY, priority))


def flag(value: object) -> str:
    """'1' for what is true, else '0'."""
    return "1" if value else "0"


def seal(message: Message) -> bytes:
    """priority (2 bytes), fingerprint (8), digest and generation (each length-prefixed), body."""
    head = _HEAD.pack(clamped(message.priority), message.fingerprint)
    return head + _prefixed(message.digest, message.generation.encode()) + message.body


def unseal(raw: bytes) -> Envelope:
    """The inverse of `seal`."""
    priority, fingerprint = _HEAD.unpack_from(raw)
    at = _HEAD.size + 1 + raw[_HEAD.size]
    end = at + 1 + raw[at]
    return Envelope(priority, fingerprint, text_of(raw[at + 1 : end]), raw[end:])


def text_of(raw: bytes) -> str:
    """A name from Redis; a damaged one is still some name, and holds up no other request."""
    return raw.decode(errors="backslashreplace")


def pairs(flat: Sequence[T]) -> zip[tuple[T, T]]:
    """What a script or HGETALL in one answers as a list: name, value, name, value ..."""
    return zip(flat[::2], flat[1::2], strict=True)


def push_row(message: Message) -> bytes:
    """*message* as push.lua takes it."""
    return _push_head(message) + _prefixed(b"%d" % message.fingerprint) + seal(message)


class RowsLike(NamedTuple):
    """Rows of messages that differ from a first one in fingerprint, digest and body only, at a fifth of the cost."""

    terms: bytes
    host: bytes
    behind_host: bytes
    priority: bytes
    generation: bytes

    @classmethod
    def of(cls, message: Message) -> RowsLike:
        """Those of *message*."""
        generation = _prefixed(message.generation.encode())
        priority = _PRIORITY.pack(clamped(message.priority))
        return cls(_terms(message), _prefixed(message.host.encode()), _behind_host(message), priority, generation)

    def at(self, host: str) -> RowsLike:
        """The same for another host, a name as DNS has them."""
        return self._replace(host=_prefixed(host.encode()))

    def row(self, fingerprint: int, digest: bytes, body: bytes) -> bytes:
        """`push_row` of that message with these."""
        terms, host, behind_host, priority, generation = self
        digits = b"%d" % fingerprint
        parts = (terms, host, behind_host, _BYTES[len(digits)], digits, priority, fingerprint.to_bytes(8, "big"))
        return b"".join((*parts, _BYTES[len(digest)], digest, generation, body))


def _push_head(message: Message) -> bytes:
    """What stands before the fingerprint: nothing in it depends on the URL but its host."""
    return _terms(message) + _prefixed(message.host.encode()) + _behind_host(message)


def _terms(message: Message) -> bytes:
    limits = (message.pages, message.pages_per_host, min(message.depth, MAX_DEPTH))
    return _TERMS.pack(message.not_before_ms, message.delay_ms, message.cap, message.burst, message.dedupe, *limits)


def _behind_host(message: Message) -> bytes:
    return _prefixed(message.stream.encode(), message.generation.encode())


def handle_row(handle: Handle) -> bytes:
    """A lease as the scripts take it."""
    return _HANDLE.pack(split_id(handle[0])[1], handle[1])


def report_row(report: Report) -> bytes:
    """*report* as lua/lib/hosts/report.lua takes it."""
    elapsed, latency, retry_after = (max(0, ms) for ms in (report.elapsed_ms, report.latency_ms, report.retry_after_ms))
    flags = report.keep + 2 * report.excused + 4 * report.fault + 8 * report.again + _LED.get(report.led, 0)
    told = (report.token, elapsed, latency, report.status, retry_after, flags)
    return _REPORT.pack(split_id(report.id)[1], *told) + report.origin.encode()


def read_lease(
    shard: int, now: int, number: int, record: bytes, sealed: bytes, start_within_ms: int, step_ms: float = 0
) -> Lease:
    """A lease from lease.lua's answer; a step of priority is worth *step_ms* of waiting."""
    token, score, _, _, _, deliveries, _, _ = _RECORD.unpack_from(record)
    at = _RECORD.size + 1
    host = record[at : at + record[at - 1]]
    at += len(host) + 1
    stream = record[at : at + record[at - 1]]
    envelope = unseal(sealed)
    return Lease(
        id=f"{shard}:{number}",
        token=int(token),
        host=text_of(host),
        stream=text_of(stream),
        body=envelope.body,
        fingerprint=envelope.fingerprint,
        generation=envelope.generation,
        deliveries=deliveries,
        start_within_ms=start_within_ms,
        priority=envelope.priority,
        leased_at_ms=now,
        waited_ms=_waited_ms(now - score - envelope.priority * step_ms),
    )


def read_holder(record: bytes) -> tuple[str, str, str]:
    """Stream, generation and worker of a lease, from its record."""
    _, rest = split_prefixed(record[_RECORD.size :])
    stream, rest = split_prefixed(rest)
    generation, rest = split_prefixed(rest)
    return stream.decode(), generation.decode(), split_prefixed(rest)[0].decode()


def _waited_ms(ms: float) -> int:
    """*ms*, or 0 where the score is damaged: nothing but a figure depends on it. Without what the rank of a request in
    a run with a page limit adds to its score (lua/lib/limits/pages.lua)."""
    if -RANK_MS / 2 < ms < RANK_MS:
        return max(0, int(ms))
    return int(ms % RANK_MS) if -MAX_MOMENT_MS < ms < MAX_MOMENT_MS else 0


def _prefixed(*fields: bytes) -> bytes:
    return b"".join(bytes((len(field),)) + field for field in fields)


def read_count(value: bytes) -> int:
    """A counter; 0 for what is none, or too large for one: the next script that counts sets it aside."""
    try:
        count = int(value)
    except ValueError:
        return 0
    return count if -MAX_COUNT <= count <= MAX_COUNT else 0


def split_prefixed(raw: bytes) -> tuple[bytes, bytes]:
    """The first length-prefixed field of *raw*, and what follows it."""
    return raw[1 : 1 + raw[0]], raw[1 + raw[0] :]
