"""TLS sessions of closed connections: resuming one takes two thirds of a handshake's CPU time and no signature from the
server."""

from __future__ import annotations

import ssl
from typing import Final

from crawler.handlers.route import Route

BYTES: Final = 6 * 1024  # of a session, the peer's certificates included (measured: 3.5 to 5 KB)
USUAL_TICKETS: Final = 1_024  # which that includes


class TLSSessions:
    """The last session of each route, for the routes used last, in *room* bytes.

    By route, so that a ticket obtained through one proxy is never used through another: it identifies a returning
    client. A resumed session was verified when it began. Reading a session from a connection, or setting one, costs
    0.13 ms (Python copies it), so only sessions that are likely to be used are read.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._taken = 0
        self._known: dict[Route, tuple[ssl.SSLContext, ssl.SSLSession, int]] = {}  # the oldest first

    def of(self, route: Route, context: ssl.SSLContext) -> ssl.SSLSession | None:
        """The session to resume, which must be of the same *context*."""
        known = self._known.get(route)
        return known[1] if known is not None and known[0] is context else None

    def keep(self, route: Route, layer: ssl.SSLObject, ticket_bytes: int = 0) -> None:
        """Remember the session of *layer*, if its server gave a ticket for it, of at most *ticket_bytes*: servers may
        send one of 64 KB."""
        session = layer.session
        if session is None or not session.has_ticket:
            return
        self.forget(route)
        size = BYTES + max(0, ticket_bytes - USUAL_TICKETS)
        self._known[route] = layer.context, session, size
        self._taken += size
        while self._taken > self._room:
            self.forget(next(iter(self._known)))

    def forget(self, route: Route) -> None:
        """Drop a session that is of no use."""
        if (known := self._known.pop(route, None)) is not None:
            self._taken -= known[2]
