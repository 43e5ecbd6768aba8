"""One worker process as seen by its supervisor: its reports, its output, its end."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import IO, Any, Final

from crawler.supervision.children import spawn

MOST_AT_ONCE: Final = 65_536  # bytes per read, and per line


class WorkerProcess:
    """Runs `scrapy *arguments*` with *told* in its setting WORKER_PROCESS; *relay* gets the lines it writes."""

    def __init__(self, arguments: Sequence[str], told: Mapping[str, Any], relay: Callable[[bytes], None]) -> None:
        reports, end = os.pipe()
        note = json.dumps({**told, "reports": end})
        command = [sys.executable, "-m", "scrapy", *arguments, "-s", f"WORKER_PROCESS={note}"]
        try:
            self.process = spawn(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=[end])
        finally:
            os.close(end)
        assert self.process.stderr is not None
        self._relay = relay
        self._reports = _Lines(os.fdopen(reports, "rb", buffering=0))
        self._errors = _Lines(self.process.stderr)
        self.counts: Counter[str] = Counter()
        self.opened_at = 0.0  # when it reported that its spider is open, monotonic
        self.endpoint = ""  # URL of its metrics and probes
        self.reason = ""  # the reason its spider closed for
        self.stuck = ""  # what keeps its event loop from running
        self._heard_at = 0.0
        self._silence = math.inf  # seconds without a report after which it is stuck

    @property
    def descriptors(self) -> list[int]:
        """The descriptors to wait for: those still open."""
        return [lines.descriptor for lines in (self._reports, self._errors) if lines.open]

    def read(self) -> None:
        """Read what it has written so far, without waiting."""
        for line in self._reports.read().splitlines():
            with suppress(ValueError):  # truncated by its end
                self._take(json.loads(line))
        if lines := self._errors.read():
            self._relay(lines)

    def ended(self) -> int | None:
        """Its exit status once it has ended (negative: the signal) and all its output is read."""
        if (status := self.process.poll()) is not None:
            self.read()
            self._reports.close()
            if rest := self._errors.close():
                self._relay(rest + b"\n")
        return status

    def is_stuck(self) -> bool:
        """Whether it should be killed; *stuck* tells why."""
        if not self.stuck and (silent := monotonic() - self._heard_at) > self._silence:
            self.stuck = f"it has told nothing for {silent:.0f} s"
        return bool(self.stuck)

    def finish(self) -> None:
        """Ask it to end as Ctrl-C does: it gives back what it has not started."""
        self.process.send_signal(signal.SIGTERM)

    def _take(self, report: Mapping[str, Any]) -> None:
        self._heard_at = monotonic()
        if stuck := report.get("stuck"):
            self.stuck = str(stuck)
            return
        self.opened_at = self.opened_at or self._heard_at
        self._silence = float(report.get("silence", math.inf))
        self.counts = Counter(report.get("counts", {}))
        self.endpoint = report.get("endpoint", "")
        self.reason = report.get("reason", "")


class _Lines:
    """Complete lines from a pipe."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.descriptor = pipe.fileno()
        self.open = True
        self._pipe = pipe
        self._rest = b""
        os.set_blocking(self.descriptor, False)

    def read(self) -> bytes:
        """The lines received, with their line ends; one longer than MOST_AT_ONCE comes in parts."""
        while self.open and len(self._rest) < MOST_AT_ONCE:
            try:
                data = os.read(self.descriptor, MOST_AT_ONCE)
            except BlockingIOError:
                break
            self.open = bool(data)
            self._rest += data
        whole, mark, self._rest = self._rest.rpartition(b"\n")
        if not mark and len(self._rest) >= MOST_AT_ONCE:
            whole, self._rest = self._rest, b""
        return whole + mark

    def close(self) -> bytes:
        """Pass on the last, incomplete line."""
        self.open = False
        self._pipe.close()
        return self._rest
