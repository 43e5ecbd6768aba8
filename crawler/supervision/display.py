"""Shows several workers to a person: their log, and one progress line for all."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import BinaryIO, Final

LIVE_SECONDS: Final = 0.5  # between updates of the line on a terminal
PLAIN_SECONDS: Final = 10.0  # between lines without a terminal
RATE_SECONDS: Final = 10.0  # window of the pages per second
LOOK_SECONDS: Final = 0.5
WIDTH: Final = 79
_CLEAR: Final = b"\r\x1b[2K"

logger = logging.getLogger("crawler.supervision")


class Rate:
    """Pages per second over the last RATE_SECONDS."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def note(self, now: float, done: int) -> None:
        """Add a sample; skipped if too soon after the last one."""
        if not self._points or now - self._points[-1][0] >= LOOK_SECONDS:
            self._points.append((now, done))
        while now - self._points[0][0] > RATE_SECONDS:
            self._points.popleft()

    @property
    def now(self) -> float:
        """Pages per second; 0 before there are two samples."""
        if len(self._points) < 2:
            return 0.0
        (since, before), (last, done) = self._points[0], self._points[-1]
        return (done - before) / (last - since)


class Display:
    """Writes to *stream*: on a terminal the line stays below the log, elsewhere it is a log line at intervals.

    *how*: "live", "plain", "log" (a log record, for JSON logs), or "" for none; "log" once its reader is gone.
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
        """Whether the line is due again."""
        return bool(self._how) and self._clock() >= self._next

    def show(self, text: str) -> None:
        """Write the line, cut to 79 columns or the terminal's current width."""
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
        """Pass on complete lines from a worker."""
        self._write((_CLEAR if self._line else b"") + lines + self._line)

    def note(self, level: int, text: str) -> None:
        """Write a log line, and show it here too if the log goes elsewhere."""
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
        """The width; a line that wraps could not be cleared."""
        try:
            return min(WIDTH, os.get_terminal_size(self._stream.fileno()).columns - 1) if self._stream else WIDTH
        except (OSError, ValueError):  # not a terminal
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
