"""TLS inside a connection: bytes in, bytes out.

The event loop's own TLS transport writes on a later loop iteration; here encrypted data is written at once,
and one tunnel may run inside another.
"""

from __future__ import annotations

import ssl
from typing import Final

_READ_BYTES: Final = 65_536


class TLS:
    """The client's side of one TLS session."""

    def __init__(self, context: ssl.SSLContext, host: str, resumed: ssl.SSLSession | None = None) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.session = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host, session=resumed)
        self.is_secured = False
        self.is_closed = False  # the peer closed the session
        self.error: ssl.SSLError | None = None  # nothing more can be decrypted

    def shake_hands(self, data: bytes = b"") -> bool:
        """Process received bytes; True once the handshake is done. Raises ssl.SSLError."""
        self._incoming.write(data)
        try:
            self.session.do_handshake()
        except ssl.SSLWantReadError:
            return False
        self.is_secured = True
        return True

    def decrypt(self, data: bytes) -> bytes:
        """Process received bytes and return the plain text, up to an *error*."""
        self._incoming.write(data)
        parts: list[bytes] = []
        try:
            while part := self.session.read(_READ_BYTES):
                parts.append(part)
            self.is_closed = True
        except ssl.SSLError as error:
            if not isinstance(error, ssl.SSLWantReadError):  # that was all for now
                self.error = error
        return b"".join(parts)

    def encrypt(self, data: bytes) -> bytes:
        """The encrypted form of *data*."""
        self.session.write(data)
        return self.to_send()

    def to_send(self) -> bytes:
        """Bytes the session has pending for the peer."""
        return self._outgoing.read()
