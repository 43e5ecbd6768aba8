"""The ways in which a lease ends, as passed to the outbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scrapy import Request

from crawler.frontier.messages import Handle


@dataclass(frozen=True, slots=True)
class Nack:
    """Retry after *delay_ms*, with *body* and *priority* in place of the old ones if there is a body. *about*: what its
    log lines carry."""

    handle: Handle
    delay_ms: int
    reason: str
    body: bytes | None = None
    priority: int = 0
    about: Request | Mapping[str, Any] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Move:
    """Move to another tier's stream, with *body* and *priority* in place of the old ones if given."""

    handle: Handle
    stream: str
    delay_ms: int = 0
    body: bytes | None = None
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Bury:
    """Dead-letter, with *body* and *priority* in place of the old ones if given."""

    handle: Handle
    reason: str
    detail: dict[str, str | int]
    body: bytes | None = None
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Gone:
    """Done, and listed as a page that its site refuses for good."""

    handle: Handle
    reason: str
    detail: dict[str, str | int]


@dataclass(frozen=True, slots=True)
class Unsent:
    """Done without having been sent, because a middleware dropped it, say: spends nothing of budgets."""

    handle: Handle


Ending = Handle | Nack | Move | Bury | Gone | Unsent  # a bare handle is an ack


def handle_of(ending: Ending) -> Handle:
    """The lease that *ending* ends."""
    return ending if isinstance(ending, tuple) else ending.handle
