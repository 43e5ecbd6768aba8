"""A directory in memory for the servers that all tests share: a test that stores something mostly waited for a disk.

They keep their flags, and sync as before; what kill -9 leaves of them is the same on a disk.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from crawler.embedded import record

PLACE: Final = Path("/dev/shm")
PREFIX: Final = "shoal-tests-"
ROOM_BYTES: Final = 2 << 30  # a container often has 64 MB there
VARIABLE: Final = "TESTS_MEMORY"
END_SECONDS: Final = 30.0


def take(place: Path = PLACE) -> Path | None:
    """A directory that is this process' own as long as it lives, None where there is no room. What killed runs have
    left there goes."""
    if not os.access(place, os.W_OK):
        return None
    for left in place.glob(f"{PREFIX}*"):
        if _lock(left):
            shutil.rmtree(left, ignore_errors=True)
    if shutil.disk_usage(place).free < ROOM_BYTES:
        return None
    taken = Path(mkdtemp(prefix=f".{PREFIX}", dir=place))
    _lock(taken)
    return taken.rename(place / taken.name.removeprefix("."))  # for others to see, now that it is locked


def given(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The directory that pytest has taken for its workers."""
    return Path(environ[VARIABLE]) if VARIABLE in environ else None


def give_back(taken: Path) -> None:
    """Delete it, as soon as its servers have seen that they have no users left."""
    homes = {found.parent for found in taken.rglob("service.json")}
    deadline = time.monotonic() + END_SECONDS
    while any(_is_served(home) for home in homes) and time.monotonic() < deadline:
        time.sleep(0.05)
    shutil.rmtree(taken, ignore_errors=True)


def _lock(directory: Path) -> bool:
    """For as long as this process lives; False if somebody else has it, or it is another user's."""
    try:
        file = os.open(directory, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return False
    return True


def _is_served(home: Path) -> bool:
    said = record.read(home)
    return said is not None and said.supervised
