"""A log file on a full disk: told once, where `logging` writes a traceback for each line."""

from __future__ import annotations

import contextlib
import logging
import sys
from typing import Final

logger = logging.getLogger(__name__)

LOST: Final = "The log file took nothing for a while: %d lines before the last one are missing"


class LogFile:
    """What becomes of the lines of one handler.

    A traceback of `logging` has the whole message in it: with items at DEBUG 0.6 MB a second went to stderr. Known
    weakness: the line in which the disk got full may be cut.
    """

    def __init__(self, handler: logging.FileHandler) -> None:
        self._path = handler.baseFilename
        self._emit = handler.emit
        self._complain = handler.handleError
        self._close = handler.close
        self._lost = 0
        handler.emit = self.emit  # type: ignore[method-assign]
        handler.handleError = self.missed  # type: ignore[method-assign]
        handler.close = self.close  # type: ignore[method-assign]

    def emit(self, record: logging.LogRecord) -> None:
        """Write it; the first line after a gap is followed by one about the gap."""
        before = self._lost
        self._emit(record)
        if before and self._lost == before:
            self._lost = 0
            logger.warning(LOST, before)

    def missed(self, record: logging.LogRecord) -> None:
        """`logging` calls this for each line that is not written."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            self._complain(record)
            return
        if not self._lost:
            with contextlib.suppress(OSError):
                sys.stderr.write(
                    f"{self._path} cannot be written ({error.strerror}): log lines are lost until it can\n"
                )
        self._lost += 1

    def close(self) -> None:
        """What is left in its buffer does not fit either, and is counted already; the file is closed all the same."""
        with contextlib.suppress(OSError):
            self._close()
