"""Refused lines: counted, printed, and kept in a file of JSON lines with source and line number."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from crawler.errors import ShoalError
from crawler.producers.lines import Refusal

SHOWN: Final = 1_000  # refusals printed one by one
SHOWN_BESIDE_FILE: Final = 10
MAX_TEXT: Final = 4_096  # characters kept of a line


class Refused:
    """Only keeps what is refused, of a first look at some lines."""

    def __init__(self) -> None:
        self.kept: list[Refusal] = []

    def add(self, refusal: Refusal) -> None:
        self.kept.append(refusal)


class Rejects:
    """Prints the first ones, and writes all of them to *path*, if given. *mask* hides secrets."""

    def __init__(self, path: str, mask: Callable[[str], str], say: Callable[[str], None] | None = None) -> None:
        self.count = 0
        self._path = path
        self._mask = mask
        self._say = say or _to_stderr
        self._file: TextIO | None = None
        self._said = 0

    def open(self, sources: Sequence[str]) -> None:
        """Start the file; raises ShoalError if it cannot be written, or is one of the *sources*."""
        if not self._path:
            return
        for source in sources:
            with suppress(OSError, ValueError):
                if Path(source).samefile(self._path):
                    raise ShoalError(f"--rejects {self._path} is a source of this push: name another file")
        try:
            self._file = Path(self._path).open("w", encoding="utf-8")  # noqa: SIM115 - `close` ends it
        except (OSError, ValueError) as error:
            raise self._failed(error) from None

    def add(self, refusal: Refusal, count: int = 1) -> None:
        """Add *refusal*, of *count* messages. Raises ShoalError if the file cannot be written."""
        self.count += count
        self._show(refusal)
        if self._file is None:
            return
        reason, text = self._mask(refusal.reason), self._mask(refusal.text[:MAX_TEXT])
        try:
            kept = {"source": refusal.source, "line": refusal.number, "reason": reason, "text": text}
            self._file.write(json.dumps(kept) + "\n")
        except OSError as error:
            raise self._failed(error) from None

    def close(self) -> None:
        """Finish the file; raises ShoalError if it cannot be written completely."""
        if self._file is None:
            return
        try:
            self._file.close()
        except OSError as error:
            raise self._failed(error) from None
        finally:
            self._file = None

    def _show(self, refusal: Refusal) -> None:
        most = SHOWN_BESIDE_FILE if self._file is not None else SHOWN
        if self._said < most:
            self._say(self._mask(str(refusal)))
        elif self._said == most:
            rest = f"all are in {self._path}" if self._file is not None else "--rejects FILE keeps all of them"
            self._say(f"... and more, which are counted: {rest}")
        self._said += 1

    def _failed(self, error: Exception) -> ShoalError:
        reason = getattr(error, "strerror", None) or error
        return ShoalError(f"--rejects {self._path} cannot be written ({reason}): name a file in a directory with room")


def _to_stderr(words: str) -> None:
    print(words, file=sys.stderr)
