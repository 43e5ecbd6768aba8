"""The moment a request is sent: callbacks right before it is written, and right after.

The delay between two requests to a host counts from the moment the first was written, not from the moment it was
allowed to go: in between come the connection, TLS, and other work of the event loop. So a handler makes the
last clock check, writes and records it without interruption.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class WireTurn:
    """Called around the write of a request: whether it is still *allowed*, and that it was *sent*.

    A handler that learns of the write only afterwards calls *leaving* before it, and *sent* with how many seconds ago.
    """

    allowed: Callable[[], bool]
    sent: Callable[..., None]
    leaving: Callable[[], None] = lambda: None
