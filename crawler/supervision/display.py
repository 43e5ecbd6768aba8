"""What a person sees of several workers: their log, and one line that says how far they are together."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import BinaryIO, Final

LIVE_SECONDS: Final = 0.5  # between two looks of the line on a terminal
PLAIN_SECONDS: Final = 10.0  # between two lines where there is none
RATE_SECONDS: Final = 10.0  # pages per second are of this long
LOOK_SECONDS: Final = 0.5
WIDTH: Final = 79
_CLEAR: Final = b"\r\x1b[2K"

logger = logging.getLogger("crawler.supervision")


class Rate:
    """Pages per second over the last RATE_SECONDS."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def note(self, now: float, done: int) -> None:
        """One more look; those that come too soon after the last are left out."""
        if not self._points or now - self._points[-1][0] >= LOOK_SECONDS:
            self._points.append((now, done))
        while now - self._points[0][0] > RATE_SECONDS:
            self._points.popleft()

    @property
    def now(self) -> float:
        """Pages per second; 0 before there were two looks."""
        if len(self._points) < 2:
            return 0.0
        (since, before), (last, done) = self._points[0], self._points[-1]
        return (done - before) / (last - since)


class Display:
    """Writes to *stream*: on a terminal the line stays below the log, elsewhere it is one line of the log at intervals.

    *how*: "live", "plain", "log" (a record of the log, where that is JSON), or "" for none. A reader that went away
    silences it.
    """

    def __init__(
        self, stream: BinaryIO, how: str, *, log_is_here: bool, clock: Callable[[], float] = monotonic
    ) -> None:
        self._stream: BinaryIO | None = stream
        self._how = how
        self._log_is_here = log_is_here
        self._clock = clock
        self._next = float("-inf")
        self._line = b""

    def due(self) -> bool:
        """Whether the line should be given anew."""
        return bool(self._how) and self._clock() >= self._next

    def show(self, text: str) -> None:
        """The line, cut to 79 columns, or to those that the terminal has now."""
        self._next = self._clock() + (LIVE_SECONDS if self._how == "live" else PLAIN_SECONDS)
        text = text[: self._width()]
        if self._how == "live":
            self._line = text.encode()
            self._write(_CLEAR + self._line)
        elif self._how == "log":
            logger.info("%s", text)
        elif self._how == "plain":
            self._write(f"{text}\n".encode())

    def relay(self, lines: bytes) -> None:
        """Whole lines that a worker wrote."""
        self._write((_CLEAR if self._line else b"") + lines + self._line)

    def note(self, level: int, text: str) -> None:
        """Something worth a line in the log, and here too where the log goes elsewhere."""
        if self._line:
            self._write(_CLEAR)
        logger.log(level, "%s", text)
        if not self._log_is_here and (self._how or level >= logging.ERROR):
            self._write(f"{text}\n".encode())
        self._write(self._line)

    def close(self, text: str) -> None:
        """Leave *text* as the last line."""
        self.show(text)
        if self._line:
            self._line = b""
            self._write(b"\n")

    def _width(self) -> int:
        """A line that wraps could not be cleared."""
        try:
            return min(WIDTH, os.get_terminal_size(self._stream.fileno()).columns - 1) if self._stream else WIDTH
        except (OSError, ValueError):  # no terminal
            return WIDTH

    def _write(self, data: bytes) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(data)
            self._stream.flush()
        except OSError:
            self._how = self._how and "log"
            self._stream = None
