"""TLS sessions of closed connections: resuming one takes two thirds of a handshake's CPU time and no signature from the
server."""

from __future__ import annotations

import ssl
from typing import Final

from crawler.caches import Recent
from crawler.handlers.route import Route

BYTES: Final = 6 * 1024  # of a session, the peer's certificates included (measured: 3.5 to 5 KB)


class TLSSessions:
    """The last session of each route, for the *most* routes used last.

    By route, so that a ticket obtained through one proxy is never used through another: it identifies a returning
    client. A resumed session was verified when it began. Reading a session from a connection, or setting one, costs
    0.13 ms (Python copies it), so only sessions that are likely to be used are read.
    """

    def __init__(self, most: int) -> None:
        self._known: Recent[Route, tuple[ssl.SSLContext, ssl.SSLSession]] = Recent(most)

    def of(self, route: Route, context: ssl.SSLContext) -> ssl.SSLSession | None:
        """The session to resume, which must be of the same *context*."""
        known = self._known.get(route)
        return known[1] if known is not None and known[0] is context else None

    def keep(self, route: Route, layer: ssl.SSLObject) -> None:
        """Remember the session of *layer*, if its server gave a ticket for it."""
        session = layer.session
        if session is not None and session.has_ticket:
            self._known[route] = layer.context, session

    def forget(self, route: Route) -> None:
        """Drop a session that was of no use."""
        self._known.pop(route, None)
