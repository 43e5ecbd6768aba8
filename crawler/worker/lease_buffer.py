"""The leases that wait in this worker. A lock, because a thread returns the late ones while the event loop cannot."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.worker.lease_book import Held


class Buffer:
    """First in, first out. Whoever takes a lease out has it alone, whichever thread asks."""

    def __init__(self, held: Iterable[Held] = ()) -> None:
        self._waiting: deque[Held] = deque(held)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Held]:
        """Over what is there at this moment."""
        with self._lock:
            return iter(list(self._waiting))

    def append(self, held: Held) -> None:
        """Behind all others."""
        with self._lock:
            self._waiting.append(held)

    def pop(self) -> Held | None:
        """The one that waits for longest; None when there is none."""
        with self._lock:
            return self._waiting.popleft() if self._waiting else None

    def withdraw(self, unwanted: Callable[[Held], bool]) -> list[Held]:
        """Take out all that are *unwanted*."""
        with self._lock:
            found = [held for held in self._waiting if unwanted(held)]
            for held in found:
                self._waiting.remove(held)
            return found
