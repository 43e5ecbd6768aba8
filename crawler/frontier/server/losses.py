"""Redis may come back without what it knew: what this worker remembers of it is then no longer true."""

from __future__ import annotations

from collections.abc import Callable

Listener = Callable[[], None]


class Losses:
    """Whoever remembers something of Redis listens here, and forgets it when told.

    Told when the frontier has another birth mark, when a connection was lost and made anew, when another server
    answers (a restart, a failover), and at both ends of an outage. Each may happen without anything having been lost:
    forgetting costs a few questions more, remembering what is gone costs URLs.
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
