"""What this machine lacks for one more connection: neither the host nor its page is to blame, and another worker may
have it."""

from __future__ import annotations

import errno
from types import MappingProxyType
from typing import Final

from crawler.policy.endings.failures import causes

NO_THREAD: Final = "can't start new thread"  # Python's words, of a RuntimeError
_MEMORY: Final = "this machine has no memory for another connection"
_LACKS: Final = MappingProxyType(
    {
        errno.EMFILE: "this process may open no more files (`ulimit -n`)",
        errno.ENFILE: "this machine may open no more files (fs.file-max)",
        errno.ENOBUFS: _MEMORY,
        errno.ENOMEM: _MEMORY,
    }
)


def shortage(error: BaseException | None) -> str:
    """What is lacking, where *error*, or what it was raised from, says so; else "".

    Known weakness: ports of this machine's own are not counted (EADDRNOTAVAIL): an address that it cannot dial gives
    the same error, and would be tried for ever.
    """
    return next((found for each in causes(error) if (found := _lack(each))), "")


def _lack(error: BaseException) -> str:
    if isinstance(error, OSError):
        return _LACKS.get(error.errno or 0, "")
    if isinstance(error, MemoryError):
        return _MEMORY
    if isinstance(error, RuntimeError) and NO_THREAD in str(error):
        return "this process may start no more threads (`ulimit -u`, or the pids of its container)"
    return ""
