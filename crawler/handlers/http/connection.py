"""One HTTP/1.1 connection: one exchange at a time, nothing resent, nothing held back."""

from __future__ import annotations

import asyncio
import select
import ssl
from collections.abc import Callable
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final, cast

from crawler.handlers.http.errors import BadResponseError, IncompleteError
from crawler.handlers.http.receiver import Receiver
from crawler.handlers.http.tls import TLS

PLAIN_BYTES: Final = 8 * 1024  # memory of a connection with everything that belongs to it
TLS_BYTES: Final = 40 * 1024  # memory of a TLS session (measured: 14 to 33 KB)
USUAL_BYTES: Final = 16 * 1024  # on the wire of handshakes with the usual certificates, which take some 10 KB
BLOWN_UP: Final = 4  # bytes of memory for each that the certificates have beyond (measured: 3.5)
UNASKED_BYTES: Final = 262_144  # for handshakes and tickets


class Connection(asyncio.Protocol):
    """Carries exchanges until one fails; then it closes.

    `on_lost` is called once it is closed. Unsolicited bytes close it.
    """

    on_lost: Callable[[Connection], object] | None = None
    ip_address: IPv4Address | IPv6Address | None = None
    _transport: asyncio.Transport

    def __init__(self) -> None:
        self._layers: list[TLS] = []  # outermost first
        self._receiver: Receiver | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._unasked = 0
        self.exchanges = 0

    @property
    def is_open(self) -> bool:
        """Whether a request can be written."""
        return not self._transport.is_closing()

    @cached_property
    def certificate(self) -> bytes | None:
        """The peer's, DER-encoded; None without TLS, and where that has broken: then OpenSSL does not give it."""
        if not self._layers or self._layers[-1].error is not None:
            return None
        return self._layers[-1].session.getpeercert(binary_form=True)

    @property
    def tls_session(self) -> ssl.SSLObject | None:
        """The innermost session."""
        return self._layers[-1].session if self._layers else None

    @property
    def weight(self) -> int:
        """Approximate memory in bytes; grows with what comes unasked, and with tickets."""
        tickets = sum(layer.ticket_bytes for layer in self._layers)
        return PLAIN_BYTES + TLS_BYTES * len(self._layers) + BLOWN_UP * max(0, self._unasked - USUAL_BYTES) + tickets

    @property
    def ticket_bytes(self) -> int:
        """Most bytes that the ticket of the innermost TLS session has."""
        return self._layers[-1].ticket_bytes if self._layers else 0

    @property
    def is_usual(self) -> bool:
        """Whether its TLS sessions are as small as those of most servers."""
        return self._unasked <= USUAL_BYTES

    @property
    def has_news(self) -> bool:
        """Whether bytes arrived that the event loop has not read yet. On an idle connection that is mostly its end."""
        look = select.poll()
        look.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(look.poll(0))

    def secure(self, context: ssl.SSLContext, host: str, resumed: ssl.SSLSession | None = None) -> None:
        """Start TLS with *host* inside the present layers, resuming the session *resumed* if given; raises ssl.SSLError
        or ValueError."""
        layer = TLS(context, host, resumed)
        self._expect()
        self._layers.append(layer)
        layer.shake_hands()
        self._flush(layer)

    def send(self, request: bytes, receiver: Receiver) -> None:
        """Write *request* now; *receiver* reads the response."""
        self._expect()
        self._receiver = receiver
        self.exchanges += 1
        self._write(request, len(self._layers))

    async def done(self) -> None:
        """Wait until the exchange or handshake is complete; raises its failure. Cancelling closes the connection."""
        assert self._waiting is not None
        try:
            await self._waiting
        except asyncio.CancelledError:
            self.abort()
            raise
        finally:
            self._waiting = None

    def abort(self) -> None:
        """Close without sending anything more."""
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=0)  # uvloop: write now, not on the next loop iteration
        if peer := transport.get_extra_info("peername"):  # None if it is gone already
            self.ip_address = ip_address(peer[0].partition("%")[0])

    def data_received(self, data: bytes) -> None:
        try:
            self._count(len(data))
            plain = self._decrypted(data)
            if plain:
                self._received(plain)
            self._check()
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            self._fail(error)
        if self._layers and self._layers[-1].is_closed:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc)
        if self.on_lost is not None:
            self.on_lost(self)

    def _end(self, exc: Exception | None) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is None:
            self._answer(exc or ConnectionResetError("the connection was closed during the TLS handshake"))
            return
        try:
            receiver.closed(exc)
        except (BadResponseError, IncompleteError) as error:
            self._answer(error)
        else:
            self._answer(None)

    def _check(self) -> None:
        """End what a layer cannot go on with; what came before that has been received."""
        if (error := next((layer.error for layer in self._layers if layer.error), None)) is not None:
            self.abort()
            self._end(error)

    def _count(self, size: int) -> None:
        """Before decryption: TLS has records without content."""
        if self._receiver is not None:
            self._receiver.arrived(size)
            return
        self._unasked += size
        if self._unasked > UNASKED_BYTES:
            raise BadResponseError(f"more than {UNASKED_BYTES} bytes that no request asked for")

    def _received(self, data: bytes) -> None:
        if self._receiver is None:
            self.abort()  # unsolicited
        elif self._receiver.feed(data):
            receiver, self._receiver = self._receiver, None
            if self._transport.get_write_buffer_size():
                self.abort()  # an answer to half a request: the rest would come before the next one
            elif not receiver.reusable:
                self._transport.close()
            self._answer(None)

    def _decrypted(self, data: bytes) -> bytes:
        for layer in self._layers:
            if not data:
                break
            if layer.is_secured:
                data = layer.decrypt(data)
                self._flush(layer)
            else:
                self._shake_hands(layer, data)
                data = b""
        return data

    def _shake_hands(self, layer: TLS, data: bytes) -> None:
        try:
            secured = layer.shake_hands(data)
        finally:
            self._flush(layer)  # the alert tells the peer what is wrong
        if secured:
            self._answer(None)

    def _flush(self, layer: TLS) -> None:
        if data := layer.to_send():
            self._write(data, self._layers.index(layer))

    def _write(self, data: bytes, depth: int) -> None:
        """Write *data* through the first *depth* layers."""
        for layer in reversed(self._layers[:depth]):
            data = layer.encrypt(data)
        self._transport.write(data)

    def _expect(self) -> None:
        assert self._waiting is None, "one exchange at a time"
        self._waiting = asyncio.get_running_loop().create_future()

    def _fail(self, error: Exception) -> None:
        self._receiver = None
        self.abort()
        self._answer(error)

    def _answer(self, error: Exception | None) -> None:
        if self._waiting is None or self._waiting.done():
            return
        if error is None:
            self._waiting.set_result(None)
        else:
            self._waiting.set_exception(error)
