"""The demo's processes, each with a log file, never left behind."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from crawler.supervision import children
from crawler.supervision.children import STOP_SECONDS


class Child:
    """One process with its log file."""

    def __init__(self, name: str, arguments: Sequence[str], log: Path) -> None:
        self.name = name
        self.log = log
        with log.open("wb") as output:
            command = [sys.executable, "-m", *arguments]
            self.process = children.spawn(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)

    @property
    def status(self) -> int | None:
        """Its exit status (negative: the signal that ended it); None while it runs."""
        return self.process.poll()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def send(self, number: signal.Signals) -> None:
        """Send a signal; ignored if the process has ended."""
        self.process.send_signal(number)

    def wait(self, seconds: float) -> int | None:
        """Its exit status once it ends, None after *seconds*."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(seconds)
        return None

    def tail(self, lines: int = 15) -> str:
        """The last lines of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class Family:
    """All children of the demo; leaving the context ends running ones, last started first."""

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


def stop(family: Sequence[Child], seconds: float = STOP_SECONDS) -> list[Child]:
    """SIGTERM to all, then SIGKILL to those (returned) that did not end in *seconds*."""
    stubborn = children.stop([child.process for child in family], seconds)
    return [child for child in family if child.process in stubborn]
