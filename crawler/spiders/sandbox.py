"""Reads doubtful pages in a limited child process: the last line of defence against hostile pages.

`tame` cannot know every way to hurt a parser. So a page that it had to change, or that is very large, is
read in a child process, which the system ends when it takes too much, and not on the event loop. Each worker has one
child, started with the first such page and restarted after its death.
"""

from __future__ import annotations

import asyncio
import copyreg
import logging
import resource
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from random import randrange
from types import MappingProxyType
from typing import Any, Final, Self, TypeVar

from scrapy import signals
from scrapy.crawler import Crawler
from selectolax.lexbor import SelectolaxError

from crawler.errors import TooCostlyError
from crawler.extraction import Document
from crawler.spiders.bounds import Bounds

CROWD: Final = 50_000  # tags; real pages of 2 MB have up to 32,000
EVERY, SAMPLE = 20_000, 2_000  # characters: to count the tags of all of a page takes a thirtieth of reading it
WALL: Final = 30  # wall-clock seconds per CPU second before the child is killed, for a busy machine
NO_MEMORY: Final = 75  # the child's exit status
# Meant for the worker, which finishes its pages: systemd tells all processes of a unit, a terminal those of a job.
ASKED_TO_END: Final = (-signal.SIGTERM, -signal.SIGHUP)
# Of what the child may take, for a page that is parsed on the event loop afterwards, and characters that may take as
# long again: ordinary pages of 5 MB take a fifth of that by default, those of nothing but tags two thirds.
ON_LOOP: Final = 0.1
AS_LONG: Final = 5_000_000
KILLS: Final = 2  # by the system, before a page is taken for their cause: the first may be meant for any page

logger = logging.getLogger(__name__)

R = TypeVar("R")


def _view(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


copyreg.pickle(MappingProxyType, lambda view: (_view, (dict(view),)))  # domain rules contain them


class Sandbox:
    """Sends one page at a time to its child; a page that takes too much raises TooCostlyError. One per crawler."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._turn = asyncio.Lock()
        self._one = threading.Lock()  # who waits for an answer may be cancelled, and leaves its thread behind
        self._child: tuple[SpawnProcess, Connection] | None = None
        self._closed = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raises ConfigError."""
        sandbox = cls(Bounds.from_settings(crawler.settings))
        crawler.signals.connect(sandbox.close, signals.spider_closed)
        return sandbox

    def wants(self, document: Document) -> bool:
        """Whether *document* is to be read in the child."""
        html = document.html
        return self.is_long(len(html)) or is_crowded(html) or document.is_doubtful  # telling that of 4 MB takes 50 ms

    def is_long(self, size: int) -> bool:
        """Whether a page of *size* is read in the child whatever it contains."""
        return size > self._bounds.characters

    async def ask(self, function: Callable[..., R], document: Document, *args: Any) -> R:
        """`function(document, *args)`, in the child; *function* is a module's, *args* and the result are plain
        values."""
        async with self._turn:  # waiting in threads, pages would leave none to others
            result: R = await asyncio.to_thread(self._ask, (function, document.html, document.url, args))
        return result

    def check_loop(self, seconds: float, size: int) -> None:
        """Raises TooCostlyError if a parse of so many CPU seconds, of *size* characters, would hold up the event loop
        for too long."""
        most = ON_LOOP * self._bounds.seconds * (1 + size / AS_LONG)
        if seconds > most:
            raise TooCostlyError(
                f"its parse would hold up all other pages: {seconds:.1f} s of CPU, where one of its size may take "
                f"{most:.1f} (PARSE_MAX_SECONDS)"
            )

    def close(self) -> None:
        """End the child."""
        self._closed = True
        if self._child is not None:
            self._child[0].kill()

    def _ask(self, job: tuple[Any, ...]) -> Any:
        with self._one:
            kills = 0
            while True:
                child, connection = self._running()
                late = False
                try:
                    connection.send(job)
                    if connection.poll(WALL * self._bounds.seconds):
                        return connection.recv()
                    late = True
                except (OSError, EOFError):
                    child.join(WALL)
                child.kill()
                child.join()
                connection.close()
                killed = child.exitcode == -signal.SIGKILL and not late
                kills += killed
                is_spared = killed and kills < KILLS and not self._closed
                if is_spared:
                    logger.warning("The system killed the process that read %s: is memory short? Once more", job[2])
                elif child.exitcode not in ASKED_TO_END:
                    raise TooCostlyError(self._why(child.exitcode, late))

    def _running(self) -> tuple[SpawnProcess, Connection]:
        if self._child is None or not self._child[0].is_alive():
            self._child = _start(self._bounds)
        return self._child

    def _why(self, status: int | None, late: bool) -> str:
        if status == NO_MEMORY:
            return f"it takes more than {self._bounds.memory_bytes // 1_000_000} MB to read (PARSE_MAX_MB)"
        if status == -signal.SIGXCPU or late:
            return f"it takes more than {self._bounds.seconds:g} s of CPU to read (PARSE_MAX_SECONDS)"
        if status == -signal.SIGKILL:
            return (
                f"the system killed the process that read it, {KILLS} times: is the machine, or the container, out of "
                f"memory? A page may take {self._bounds.memory_bytes // 1_000_000} MB (PARSE_MAX_MB)"
            )
        return f"the process that read it ended with status {status}"


def is_crowded(html: str) -> bool:
    """Whether it has so many tags that no more should be asked of it on the event loop: of 2 MB to tell its scripts
    from its markup may take 0.3 s, and as long whether it is doubtful. By samples, so that their number is a guess."""
    places = range(randrange(EVERY), len(html), EVERY)  # noqa: S311 - nobody is to know them, nothing more
    return sum(html.count("<", place, place + SAMPLE) for place in places) * EVERY > CROWD * SAMPLE


def _start(bounds: Bounds) -> tuple[SpawnProcess, Connection]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=serve, args=(theirs, bounds), name="sandbox", daemon=True)
    child.start()
    theirs.close()
    return child, ours


def serve(connection: Connection, bounds: Bounds) -> None:
    """The child's main loop: read pages until the worker closes *connection*, which its death does too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the worker
    with suppress(ValueError, OSError):  # the system lacks this limit, or has a lower one
        resource.setrlimit(resource.RLIMIT_AS, (bounds.memory_bytes, bounds.memory_bytes))
    try:
        with suppress(EOFError):
            while True:
                function, html, url, args = connection.recv()
                _allow(bounds.seconds)
                connection.send(function(Document(html, url), *args))
    except (MemoryError, SelectolaxError):  # selectolax' form of a MemoryError
        sys.exit(NO_MEMORY)


def _allow(seconds: float) -> None:
    """Allow *seconds* more of CPU; then the system ends this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 1, most))
