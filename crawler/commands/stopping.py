"""How `scrapy crawl` and `scrapy serve` are asked to end, where Scrapy and asyncio do not listen."""

from __future__ import annotations

import os
import signal
import threading
from typing import Final

from crawler.commands.terminal import INTERRUPTED

FORCED_SECONDS: Final = 2.0  # an unclean end of Scrapy's takes less, if the event loop runs


def hang_up_asks() -> None:
    """From here on a closed terminal (SIGHUP) asks once as SIGTERM does, unless it is ignored (`nohup`)."""
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _ask)


def _ask(*_: object) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # shell and kernel both tell; twice would force the end
    signal.raise_signal(signal.SIGTERM)


class ForcedStop:
    """To be called when the process has to end at once: ends it even if a callback blocks the event loop.

    Known weakness: a C call that holds the GIL, such as a catastrophic regular expression, ends first.
    """

    def __init__(self) -> None:
        self.so = False

    def __call__(self) -> None:
        """Runs in a signal handler."""
        self.so = True
        end = threading.Timer(FORCED_SECONDS, _end)
        end.daemon = True
        end.start()


def _end() -> None:
    os.write(2, b"interrupted: a callback blocks the event loop, the leases of this worker will expire\n")
    os._exit(INTERRUPTED)
