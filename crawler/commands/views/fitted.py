"""A live view cut to the lines of its terminal."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from crawler.utils.plural import several


class Fitted:
    """As much of *view* as fits, and how much does not: rich shows three dots in its place."""

    def __init__(self, view: RenderableType) -> None:
        self._view = view

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._view, options, pad=False)
        left = 0 if len(lines) <= console.height else len(lines) - console.height + 1
        for line in lines[: len(lines) - left]:
            yield from (*line, Segment.line())
        if left:
            yield Text(f"... {several(left, 'more line')}: a taller terminal shows them")
