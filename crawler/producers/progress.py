"""The progress of a push on one line of a terminal, which is gone at the end; silent elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from crawler.producers import sources
from crawler.utils.plural import several


class PushProgress:
    """Counts lines, and bytes of *given* as stored: their total is known if all are files."""

    def __init__(self, given: Sequence[str]) -> None:
        sizes = [sources.size_of(source) for source in given if not sources.is_url(source)]
        known = [size for size in sizes if size is not None]
        console = Console(stderr=True)
        told = TextColumn("{task.fields[lines]}, {task.fields[rate]:,.0f}/s")
        columns = (told, BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        total = sum(known) if sizes and len(known) == len(sizes) else None
        self._task = self._bar.add_task("push", total=total, lines=several(0, "line"), rate=0.0)
        self._lines = 0

    def advance(self, lines: int, read: int) -> None:
        """Add *lines* handled lines and *read* bytes of their sources."""
        self._lines += lines
        elapsed = self._bar.tasks[0].elapsed or 0
        rate = self._lines / elapsed if elapsed else 0.0
        self._bar.update(self._task, advance=read, lines=several(self._lines, "line"), rate=rate)

    def say(self, words: str) -> None:
        """Print a line above the bar."""
        self._bar.console.print(words, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
