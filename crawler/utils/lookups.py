"""Threads that wait for the system's resolver; the process does not wait for them to end."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from threading import Condition, Thread
from typing import Any, Final, TypeVar

MOST_AT_ONCE: Final = 32
MOST_THREADS: Final = 1_000  # the highest REACTOR_THREADPOOL_MAXSIZE
IDLE_SECONDS: Final = 30.0  # a thread without work ends after that

R = TypeVar("R")


class LookupThreads:
    """At most *most* daemon threads: a look-up cannot be interrupted, and one that hangs must not keep the process
    alive after its crawl, as threads of concurrent.futures would."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._work: deque[tuple[Future[Any], Callable[[str], Any], str]] = deque()
        self._changed = Condition()
        self._threads = self._idle = 0
        self._closed = False

    async def run(self, function: Callable[[str], R], host: str) -> R:
        """`function(host)`, run in a thread; cancelled if not started before `close`. Raises RuntimeError if the system
        starts no thread."""
        future: Future[R] = Future()
        with self._changed:
            if self._closed:
                raise RuntimeError(f"{host}: look-up after close")
            if self._idle <= len(self._work) and self._threads < self._most:
                Thread(target=self._serve, name="resolver", daemon=True).start()
                self._threads += 1  # only now: the system may refuse one
            self._work.append((future, function, host))
            self._changed.notify()
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Start no more look-ups; running ones end by themselves. May be called more than once."""
        with self._changed:
            self._closed = True
            while self._work:
                self._work.popleft()[0].cancel()
            self._changed.notify_all()

    def serve(self, loop: asyncio.AbstractEventLoop) -> None:
        """Look up for *loop*, in place of its executor, whose threads are waited for at its end."""

        async def getaddrinfo(host: Any, port: Any, **how: int) -> Any:
            return await self.run(lambda name: socket.getaddrinfo(name, port, **how), host)

        loop.getaddrinfo = getaddrinfo  # type: ignore[method-assign]

    def _serve(self) -> None:
        while (work := self._next()) is not None:
            future, function, host = work
            if future.set_running_or_notify_cancel():
                _answer(future, partial(function, host))

    def _next(self) -> tuple[Future[Any], Callable[[str], Any], str] | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._work or self._closed, timeout=IDLE_SECONDS)
            self._idle -= 1
            if self._work:
                return self._work.popleft()
            self._threads -= 1
            return None


def start_apart(work: Callable[[], R], name: str) -> Future[R]:
    """What *work* returns or raises, in a daemon thread: the end of the process does not wait for it."""
    future: Future[R] = Future()
    future.set_running_or_notify_cancel()  # whoever waits for it may give up; it is answered all the same
    Thread(target=_answer, args=(future, work), name=name, daemon=True).start()
    return future


def ipv4_address(host: str, seconds: float) -> str:
    """The address of *host* for who cannot await it; raises OSError, after *seconds* at the latest."""
    try:
        return start_apart(lambda: socket.gethostbyname(host), "resolver").result(seconds)
    except TimeoutError:
        raise TimeoutError(errno.ETIMEDOUT, f"no name server answers within {seconds:g} s") from None
    except UnicodeError as error:  # a label that is empty or too long
        raise OSError(errno.EINVAL, f"not a name ({error})") from None


def _answer(future: Future[R], work: Callable[[], R]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 - whoever waits gets it
        future.set_exception(error)
