"""What a person sees while the workers crawl: a living line on a terminal, log lines elsewhere."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

PLAIN_SECONDS = 2.0  # between two lines where there is no terminal
RATE_SECONDS = 3.0  # pages per second are of this long


@dataclass(frozen=True, slots=True)
class Counts:
    """The frontier and the store at one moment; what this run did not do itself is taken off `done`."""

    queued: int
    leased: int
    delayed: int
    done: int
    stored: int

    @property
    def waiting(self) -> int:
        """What has still to be done, as far as anybody knows."""
        return self.queued + self.leased + self.delayed


class Rate:
    """Pages per second over the last few seconds."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def at(self, elapsed: float, done: int) -> float:
        """Take one more point and return the rate."""
        self._points.append((elapsed, done))
        while elapsed - self._points[0][0] > RATE_SECONDS:
            self._points.popleft()
        first_elapsed, first_done = self._points[0]
        return (done - first_done) / (elapsed - first_elapsed) if elapsed > first_elapsed else 0.0


class Display(Protocol):
    """Where progress goes; a context manager."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(self, *error: object) -> None:
        """End: leave the screen as a person wants to read on."""

    def show(self, counts: Counts, elapsed: float) -> None:
        """The state, *elapsed* seconds after the workers started."""

    def note(self, text: str) -> None:
        """Something worth a line of its own."""


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
            BarColumn(30),
            TimeElapsedColumn(),
            console=console,
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
        """A line above the bar."""
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
        """Print it."""
        self._console.print(text, highlight=False, soft_wrap=True)


def _line(counts: Counts, rate: float) -> str:
    return (
        f"queued {counts.queued:>4}  leased {counts.leased:>2}  delayed {counts.delayed:>3}  "
        f"done {counts.done:>4}  stored {counts.stored:>4}  {rate:3.0f} pages/s"
    )
