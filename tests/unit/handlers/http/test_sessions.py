"""How many TLS sessions are kept: as many as fit, with their tickets."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from crawler.handlers.http.sessions import BYTES, USUAL_TICKETS, TLSSessions
from crawler.handlers.http.tls import TLS
from crawler.handlers.route import Route
from tests.integration.handlers.test_http import certified

SMALL, LARGE = b"x" * 1_000, b"x" * 1_000_000


class Peers:
    """A client and a server in one process; *tickets* of some 250 bytes are sent behind the handshake."""

    def __init__(self, folder: Path, tickets: int) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        self.client = TLS(self.context, "127.0.0.1")
        at_server = certified(folder)
        at_server.num_tickets = tickets
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.server = at_server.wrap_bio(self._in, self._out, server_side=True)
        self._shake_hands()

    def _shake_hands(self) -> None:
        secured = False
        while not secured:
            secured = self.client.shake_hands(self._out.read())
            self._in.write(self.client.to_send())
            try:
                self.server.do_handshake()
            except ssl.SSLWantReadError:
                assert not secured

    def send(self, content: bytes) -> bytes:
        """What the client reads of what the server sends, in pieces as they come."""
        self.server.write(content)
        sent = self._out.read()
        return b"".join(self.client.decrypt(sent[at : at + 10_000]) for at in range(0, len(sent), 10_000))


@pytest.mark.parametrize("content", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize(("tickets", "least", "most"), [(2, 0, USUAL_TICKETS), (300, 40_000, 100_000)])
def test_tickets_are_weighed_whatever_they_come_with(
    tmp_path: Path, content: bytes, tickets: int, least: int, most: int
) -> None:
    peers = Peers(tmp_path, tickets)
    assert peers.send(content) == content
    assert least <= peers.client.ticket_bytes <= most


def test_large_tickets_leave_room_for_few(tmp_path: Path) -> None:
    peers, known = Peers(tmp_path, 2), TLSSessions(10 * BYTES)
    peers.send(SMALL)
    routes = [Route("https", f"{number}.example", 443) for number in range(20)]

    def kept() -> list[int]:
        return [at for at, route in enumerate(routes) if known.of(route, peers.context) is not None]

    for route in routes:
        known.keep(route, peers.client.session, peers.client.ticket_bytes)
    assert kept() == list(range(10, 20))
    for _ in range(3):
        known.keep(routes[0], peers.client.session, 4 * BYTES + USUAL_TICKETS)
    assert kept() == [0, *range(15, 20)], "five in place of one, once"
    known.keep(routes[1], peers.client.session, 100 * BYTES)
    assert kept() == [], "more than there is room for"
    known.keep(routes[2], peers.client.session)
    known.forget(routes[2])
    known.forget(routes[2])
    known.keep(routes[3], peers.client.session, 9 * BYTES)
    assert kept() == [3]
