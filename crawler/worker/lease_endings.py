"""The ways a lease ends, as the worker hands them to the outbox."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.frontier.messages import Handle


@dataclass(frozen=True, slots=True)
class Nack:
    """Try again after *delay_ms*, with *body* and *priority* instead of the old ones when there is a body."""

    handle: Handle
    delay_ms: int
    reason: str
    body: bytes | None = None
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """Queue on another stream, that of another tier, with *body* and *priority* instead of the old ones when given."""

    handle: Handle
    stream: str
    delay_ms: int = 0
    body: bytes | None = None
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Bury:
    """Keep as a dead letter, with *body* and *priority* instead of the old ones when given."""

    handle: Handle
    reason: str
    detail: dict[str, str | int]
    body: bytes | None = None
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Gone:
    """Done, and kept as a page that its site refuses for good."""

    handle: Handle
    reason: str
    detail: dict[str, str | int]


Ending = Handle | Nack | Move | Bury | Gone  # a bare handle is an ack
