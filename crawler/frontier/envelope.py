"""The bytes of a queued request: what Lua has to read of it in front, the body behind."""

from __future__ import annotations

import struct
from typing import NamedTuple

from crawler.frontier.messages import MAX_PRIORITY, Message

_HEAD = struct.Struct(">hQ")  # priority, fingerprint


class Envelope(NamedTuple):
    """An envelope taken apart."""

    priority: int
    fingerprint: int
    generation: str
    body: bytes


def seal(message: Message) -> bytes:
    """priority (2 bytes), fingerprint (8), digest and generation (each length-prefixed), body."""
    priority = max(-MAX_PRIORITY, min(MAX_PRIORITY, message.priority))
    generation = message.generation.encode()
    head = _HEAD.pack(priority, message.fingerprint)
    return b"".join(
        (head, bytes((len(message.digest),)), message.digest, bytes((len(generation),)), generation, message.body)
    )


def unseal(raw: bytes) -> Envelope:
    """The inverse of `seal`."""
    priority, fingerprint = _HEAD.unpack_from(raw)
    at = _HEAD.size + 1 + raw[_HEAD.size]
    end = at + 1 + raw[at]
    return Envelope(priority, fingerprint, raw[at + 1 : end].decode(), raw[end:])
