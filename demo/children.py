"""The processes of the demo: started with a log file each, and never left behind."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

STOP_SECONDS: Final = 30.0
_PR_SET_PDEATHSIG: Final = 1
_libc = ctypes.CDLL(None)  # looked up before any fork


class Child:
    """One process with its log file."""

    def __init__(self, name: str, arguments: Sequence[str], log: Path) -> None:
        self.name = name
        self.log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is the demo's to answer: it ends its children in order
                preexec_fn=_die_with_parent,  # noqa: PLW1509 (nothing but one system call)
            )

    @property
    def status(self) -> int | None:
        """Its exit status (negative: the signal that ended it), None while it runs."""
        return self._process.poll()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def send(self, number: signal.Signals) -> None:
        """Send a signal; nothing happens when it has ended."""
        self._process.send_signal(number)

    def wait(self, seconds: float) -> int | None:
        """Its exit status once it ends, None after *seconds*."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def tail(self, lines: int = 15) -> str:
        """The last lines of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class Family:
    """Every child of the demo; leaving the context ends those that still run, the last started first."""

    def __init__(self, log_dir: Path) -> None:
        self._log_dir = log_dir
        self._children: list[Child] = []
        log_dir.mkdir(parents=True, exist_ok=True)

    def start(self, name: str, *arguments: str) -> Child:
        """Run `python -m *arguments*`, its output going to `<name>.log`."""
        child = Child(name, arguments, self._log_dir / f"{name}.log")
        self._children.append(child)
        return child

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stop(self._children[::-1])


def stop(children: Sequence[Child], seconds: float = STOP_SECONDS) -> list[Child]:
    """SIGTERM to all, then SIGKILL to those (returned) that did not end in *seconds*."""
    for child in children:
        if child.status is None:
            child.send(signal.SIGTERM)
    deadline = time.monotonic() + seconds
    stubborn = [child for child in children if child.wait(max(0, deadline - time.monotonic())) is None]
    for child in stubborn:
        child.send(signal.SIGKILL)
        child.wait(seconds)
    return stubborn


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
