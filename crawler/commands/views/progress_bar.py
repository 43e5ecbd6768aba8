"""The progress bar of a command that goes through documents or pages."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def progress_bar(title: str, *, shown: bool) -> Progress:
    """One on standard error, which is gone at the end; only on a terminal, and if it is to be *shown*."""
    console = Console(stderr=True)
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not (console.is_terminal and shown))
