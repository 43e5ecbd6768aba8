"""The leases that wait in this worker. Locked, because a thread gives back late ones while the event loop is
blocked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from threading import Lock

from crawler.worker.leases.held import HeldLease


class Buffer:
    """First in, first out, thread-safe: a lease is taken out only once."""

    def __init__(self, held: Iterable[HeldLease] = ()) -> None:
        self._waiting: deque[HeldLease] = deque(held)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[HeldLease]:
        """Iterate over a snapshot."""
        with self._lock:
            return iter(list(self._waiting))

    def append(self, held: HeldLease) -> None:
        """Append *held*."""
        with self._lock:
            self._waiting.append(held)

    def pop(self) -> HeldLease | None:
        """The oldest lease; None if there is none."""
        with self._lock:
            return self._waiting.popleft() if self._waiting else None

    def withdraw(self, unwanted: Callable[[HeldLease], bool]) -> list[HeldLease]:
        """Take out and return all that are *unwanted*."""
        with self._lock:
            found = [held for held in self._waiting if unwanted(held)]
            for held in found:
                self._waiting.remove(held)
            return found
