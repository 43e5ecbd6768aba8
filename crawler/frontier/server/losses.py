"""Redis may come back without its data: what this worker has cached from it is then no longer true."""

from __future__ import annotations

from collections.abc import Callable

Listener = Callable[[], None]


class Losses:
    """Caches of Redis data register here and are cleared when data may be lost.

    That is when the frontier has a different birth mark, when a connection was lost and re-established, when another
    server answers (a restart, a failover), and at both ends of an outage. Each can happen without a loss:
    clearing a cache costs a few calls, trusting lost data costs URLs.
    """

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def listen(self, forget: Listener) -> None:
        """Have *forget* called, at once and from anywhere: it must neither wait nor raise."""
        self._listeners.append(forget)

    def forget(self) -> None:
        """Data may have been lost."""
        for listener in self._listeners:
            listener()
