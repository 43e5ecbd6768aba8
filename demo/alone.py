"""One run at a time in a directory: two would take each other's files for theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from crawler.base_errors import ShoalError
from crawler.embedded.locks import FileLock


class TakenError(ShoalError):
    """Another run is under way there; the text says so."""


@contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """Have *directory* for this process, until the end; raises TakenError while another one has it."""
    directory.mkdir(parents=True, exist_ok=True)
    with closing(FileLock(directory / "run.lock")) as lock:
        if not lock.try_exclusive():
            raise TakenError(f"another run is under way in {directory}: wait for its end")
        yield
