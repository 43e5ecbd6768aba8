"""The moment a request leaves: what is called right before it is written, and right after.

The space between two requests to a host counts from the moment the first was written, not from the moment it was
allowed to go: in between lie the connection, TLS, and whatever else the event loop had to do. So a handler takes the
last look at the clock, writes and notes it without a break.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class WireTurn:
    """What is called around the writing of a request: whether it is still *allowed*, and that it was *sent*.

    A handler that sees the writing only afterwards calls *leaving* before it, and *sent* with how many seconds ago.
    """

    allowed: Callable[[], bool]
    sent: Callable[..., None]
    leaving: Callable[[], None] = lambda: None
