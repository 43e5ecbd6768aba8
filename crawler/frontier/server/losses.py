"""Redis may come back without its data, which invalidates what this worker has cached."""

from __future__ import annotations

from collections.abc import Callable

Listener = Callable[[], None]


class DataLossListeners:
    """Caches of Redis data register here and are cleared when data may have been lost.

    That is: the frontier has a different birth time, a connection was re-established, another server answers (a
    restart, a failover), or an outage begins or ends. None of these implies a loss, but clearing a cache costs a few
    calls and trusting lost data costs URLs. What costs more, such as fetching a page again, listens to `lose` only:
    another server, or other data.
    """

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._losers: list[Listener] = []

    def listen(self, forget: Listener) -> None:
        """Register *forget*, which is called at once and from anywhere: it must neither wait nor raise."""
        self._listeners.append(forget)

    def listen_to_losses(self, lose: Listener) -> None:
        """Register *lose* in the same way, for `lose` only."""
        self._losers.append(lose)

    def lose(self) -> None:
        """Another server answers, or the data is other: what it confirmed last may be gone."""
        self.forget()
        for listener in self._losers:
            listener()

    def forget(self) -> None:
        """Clear all caches: data may have been lost."""
        for listener in self._listeners:
            listener()
