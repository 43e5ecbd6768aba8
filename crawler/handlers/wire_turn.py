"""The moment a request is sent: callbacks right before it is written, and right after.

The delay between two requests to a host counts from when the first was written, not from when it was allowed: in
between come the connection, TLS, and other work of the event loop. So a handler checks the clock, writes and records
the time without interruption.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from scrapy import Request

from crawler.meta import WIRE_TURN


@dataclass(frozen=True, slots=True, eq=False)
class WireTurn:
    """Called around the write of a request: to ask whether it is still *allowed*, and to say that it was *sent*.

    A handler that learns of the write afterwards calls *leaving* before it, and *sent* with how many seconds ago it
    was. It awaits what comes before through *connecting*, which raises MissedError once nothing may be sent any more.
    """

    allowed: Callable[[], bool]
    sent: Callable[..., None]
    leaving: Callable[[], None] = lambda: None
    connecting: Callable[[Coroutine[Any, Any, Any]], Coroutine[Any, Any, Any]] = lambda step: step

    @classmethod
    def of(cls, request: Request) -> WireTurn:
        """That of *request*, which is taken off it. One that nobody paces, as a call to a scraping API, may always be
        sent."""
        turn: WireTurn | None = request.meta.pop(WIRE_TURN, None)
        return turn or cls(lambda: True, lambda *_: None)
