"""One worker process under the clock: its CPU time and memory as the kernel counts them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

END_SECONDS = 20.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Sample:
    """A moment in a worker's life."""

    at: float  # seconds, monotonic
    cpu: float  # seconds, user and system, of this process
    stored: int

    @classmethod
    def take(cls, pid: int, stored: int) -> Self:
        """Now."""
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return cls(time.monotonic(), (int(fields[11]) + int(fields[12])) / _TICKS, stored)


class Worker:
    """A process that is measured, and ended with SIGTERM; *environment* is added to ours."""

    def __init__(
        self, command: Sequence[str], directory: Path, log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                cwd=directory,
                env=os.environ | (environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.log = log

    def sample(self, stored: int) -> Sample:
        """A sample; raises ChildProcessError when the worker has ended."""
        if self._process.poll() is not None:
            raise self._gone()
        return Sample.take(self._process.pid, stored)

    def cpu_seconds(self) -> float:
        """User and system time, to the nanosecond where `Sample` counts hundredths of a second. Linux's numbers for
        the clocks of other processes."""
        return time.clock_gettime((~self._process.pid << 3) | 2)

    def peak_mb(self) -> float:
        """The most memory it ever held (VmHWM), in MB."""
        text = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(text.partition("VmHWM:")[2].split()[0]) / 1024

    def kill(self) -> None:
        """End it with -9."""
        self._process.kill()
        self._process.wait()

    def end(self) -> float:
        """Ask it to end, insist after a while, and return the CPU seconds of its whole life, as wait4 gives them.
        Raises ChildProcessError where `sample` has found it ended.

        Signals go out by os.kill: Popen's look first whether it has ended, after which wait4 knows nothing of it."""
        if self._process.returncode is not None:
            raise self._gone()
        asked = time.monotonic()
        os.kill(self._process.pid, signal.SIGTERM)
        while True:
            pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                return usage.ru_utime + usage.ru_stime
            if time.monotonic() - asked > END_SECONDS:
                os.kill(self._process.pid, signal.SIGKILL)
            time.sleep(0.02)

    def _gone(self) -> ChildProcessError:
        return ChildProcessError(f"the worker has ended with status {self._process.returncode}, see {self.log}")
