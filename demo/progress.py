"""Progress while the workers crawl: a live line on a terminal, log lines elsewhere."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

PLAIN_SECONDS = 2.0  # between lines without a terminal
RATE_SECONDS = 3.0  # window of the pages per second


@dataclass(frozen=True, slots=True)
class Counts:
    """A snapshot of frontier and store; `done` excludes earlier runs."""

    queued: int
    leased: int
    delayed: int
    done: int
    stored: int

    @property
    def waiting(self) -> int:
        """What is known to be left."""
        return self.queued + self.leased + self.delayed


class Rate:
    """Pages per second over the last few seconds."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def at(self, elapsed: float, done: int) -> float:
        """Add a sample and return the rate."""
        self._points.append((elapsed, done))
        while elapsed - self._points[0][0] > RATE_SECONDS:
            self._points.popleft()
        first_elapsed, first_done = self._points[0]
        return (done - first_done) / (elapsed - first_elapsed) if elapsed > first_elapsed else 0.0


class Display(Protocol):
    """Where progress goes; a context manager."""

    def __enter__(self) -> Self:
        """Start."""

    def __exit__(self, *error: object) -> None:
        """End, leaving the screen readable."""

    def show(self, counts: Counts, elapsed: float) -> None:
        """Show the state, *elapsed* seconds after the workers started."""

    def note(self, text: str) -> None:
        """Print a line of its own."""


def display(console: Console) -> Display:
    """The display for this console."""
    return Living(console) if console.is_terminal else Plain(console)


class Living:
    """A bar that stays in place."""

    def __init__(self, console: Console) -> None:
        self._rate = Rate()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            BarColumn(None),  # what the others leave
            console=console,
            expand=True,
        )
        self._task = self._bar.add_task("starting", total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def show(self, counts: Counts, elapsed: float) -> None:
        """Move the bar."""
        text = _line(counts, self._rate.at(elapsed, counts.done))
        total = counts.done + counts.waiting
        self._bar.update(self._task, description=text, completed=counts.done, total=total or None)

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        self._bar.console.print(text, highlight=False)


class Plain:
    """A line every two seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._rate = Rate()
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to tidy."""

    def show(self, counts: Counts, elapsed: float) -> None:
        """Print a line if the last one is old enough."""
        rate = self._rate.at(elapsed, counts.done)
        if elapsed >= self._next:
            self._next = elapsed + PLAIN_SECONDS
            self.note(f"{elapsed:4.0f} s {_line(counts, rate)}")

    def note(self, text: str) -> None:
        """Print the line."""
        self._console.print(text, highlight=False, soft_wrap=True)


def _line(counts: Counts, rate: float) -> str:
    return (
        f"queued {counts.queued:>4} leased {counts.leased:>2} delayed {counts.delayed:>3} "
        f"done {counts.done:>4} stored {counts.stored:>4} {rate:3.0f}/s"
    )
