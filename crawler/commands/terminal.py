"""How a command meets whoever runs it: errors and Ctrl-C as one line, exit statuses, closed pipes, questions."""

from __future__ import annotations

import errno
import io
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, Final

from rich.console import Console
from scrapy.exceptions import UsageError

from crawler.errors import ShoalError, clipped
from crawler.policy.endings.shortages import shortage

INTERRUPTED = 130  # as shells say for Ctrl-C
TERMINATED: Final = 143  # and for SIGTERM
PIPE_WIDTH = 160  # columns when writing to a file or pipe: fits whole host names
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
_BELOW_0: Final = re.compile(r"-[0-9]+")


class PlainConsole(Console):
    """Prints texts as they are: rich would take `[b]` and `:on:` in the URL of a page for its own markup, `[/b]` for a
    mistake in it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, **options)

    def on_broken_pipe(self) -> None:
        """As `print` does."""
        raise BrokenPipeError  # rich would exit with status 1


def console() -> PlainConsole:
    """The console for a command's readable output."""
    return PlainConsole() if sys.stdout.isatty() else PlainConsole(width=PIPE_WIDTH)


@contextmanager
def answering(args: Sequence[str]) -> Iterator[None]:
    """Wraps a command's work: exit status 2 for what a person has to fix, 130 for Ctrl-C, 143 for SIGTERM, which ends
    the work in the same way, 0 after `| head`.

    Refuses *args* as `_check_arguments` does. What it prints to a closed stream (`>&-`) goes nowhere.
    """
    open_streams()
    _check_arguments(args)
    terminations: list[int] = []
    try:
        with _terminable(terminations):
            yield
            sys.stdout.flush()
    except BrokenPipeError:
        print_nothing_more()
    except KeyboardInterrupt:
        print("terminated" if terminations else "interrupted", file=sys.stderr)
        raise SystemExit(TERMINATED if terminations else INTERRUPTED) from None
    except UnicodeEncodeError as error:
        words = f"{error.object!a:.200} cannot be written in {error.encoding}: give it as valid text"
        raise UsageError(words) from None
    except ShoalError as error:
        raise UsageError(str(error)) from error
    except (OSError, RuntimeError) as error:
        if not (words := _unwritable(error) or shortage(error)):
            raise
        raise UsageError(words) from None


def _unwritable(error: OSError | RuntimeError) -> str:
    """What is wrong with standard output, of which an error has no file name; "" for any other."""
    if not isinstance(error, OSError) or error.filename is not None or error.errno not in _FULL:
        return ""
    print_nothing_more()
    return f"standard output cannot be written: {error.strerror}"


def _check_arguments(args: Sequence[str]) -> None:
    """Scrapy takes unknown options for arguments; one that is empty would mean every spider."""
    if unknown := [arg for arg in args if arg.startswith("-") and arg != "-" and not _BELOW_0.fullmatch(arg)]:
        raise UsageError(f"there is no option {clipped(unknown[0])}: see --help")
    if "" in args:
        raise UsageError("an argument is empty: leave it out, or name what is meant")


@contextmanager
def _terminable(terminations: list[int]) -> Iterator[None]:
    """Here SIGTERM does what Ctrl-C does, and is noted in *terminations*, unless somebody else listens to it. Only
    the main thread may listen."""

    def end(number: int, frame: FrameType | None) -> None:
        terminations.append(number)
        interrupt = signal.getsignal(signal.SIGINT)  # asyncio's while an event loop runs
        if callable(interrupt):
            interrupt(signal.SIGINT, frame)
        else:  # Ctrl-C is ignored, as in a background job
            raise KeyboardInterrupt

    if signal.getsignal(signal.SIGTERM) != signal.SIG_DFL or current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is end:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def agreed(question: str) -> bool:
    """Whether whoever sits at the terminal agrees to *question*; raises UsageError where nobody does."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(f"{question} There is no terminal to ask on: add --yes")
    return _answer(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


def _answer(prompt: str) -> str:
    """`input` that the first Ctrl-C or Ctrl-D ends: the handler of an event loop, which then gets it, waits for its
    turn. (An exception that ends the loop from inside of a task would be shown with a traceback.)"""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or current_thread() is not main_thread():  # ignored, as in a background job
        with suppress(EOFError):
            return input(prompt)
        return ""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return input(prompt)
    except (KeyboardInterrupt, EOFError):
        signal.signal(signal.SIGINT, before)
        signal.raise_signal(signal.SIGINT)
        return ""
    finally:
        signal.signal(signal.SIGINT, before)


def open_streams() -> None:
    """Give closed standard streams (`>&-`) a place where what is printed goes nowhere.

    Else `print` shows on standard output what is for standard error, and a pipe or socket with the number of either
    gets what is written there.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() not in {"utf-8", "utf8"}:
        sys.stdout.reconfigure(errors="backslashreplace")  # a listing goes on at a title that it cannot show


def print_nothing_more() -> None:
    """Python writes what is left when it exits, and would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
