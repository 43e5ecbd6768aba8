"""Processes as /proc shows them (Linux)."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
LOOPBACK, LISTEN = "0100007F", "0A"  # in its table of connections: 127.0.0.1, and the state of a port that is open


@dataclass(frozen=True)
class Process:
    """A process and its start time, which together tell it from a later process with the same pid."""

    pid: int
    started: int  # clock ticks since boot

    @classmethod
    def of(cls, pid: int) -> Process:
        return cls(pid, _start_time(pid) or 0)

    @property
    def alive(self) -> bool:
        return self.started > 0 and _start_time(self.pid) == self.started

    @property
    def memory_bytes(self) -> int:
        """Resident memory; 0 if it has ended."""
        try:
            pages = int((PROC / str(self.pid) / "statm").read_text().split()[1])
        except OSError:
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    def holds(self, path: Path) -> bool:
        """Whether the process has the file *path* open, or is another user's, whose files cannot be seen."""
        try:
            wanted = path.stat()
            descriptors = list((PROC / str(self.pid) / "fd").iterdir())
        except PermissionError:
            return True
        except OSError:
            return False
        return any(_is(descriptor, wanted) for descriptor in descriptors)

    def works_in(self, directory: Path) -> bool:
        """Whether *directory* is the working directory of the process, as far as this user may see it."""
        try:
            return self.alive and _is(PROC / str(self.pid) / "cwd", directory.stat())
        except OSError:
            return False

    def listens_on(self, port: int) -> bool:
        """Whether it is this process that takes connections on *port* of 127.0.0.1, and no other."""
        lines = (PROC / "net" / "tcp").read_text().splitlines()[1:]
        entries = (line.split() for line in lines)
        listening = {f"socket:[{one[9]}]" for one in entries if (one[1], one[3]) == (f"{LOOPBACK}:{port:04X}", LISTEN)}
        return not listening.isdisjoint(_open_files(self.pid))

    def send(self, number: signal.Signals) -> None:
        """Signal the process unless it has ended."""
        if self.alive:
            os.kill(self.pid, number)


def holding(path: Path) -> list[int]:
    """Pids of the processes that have *path* open, of those this user may inspect, without ourselves."""
    pids = (int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())
    wanted = str(path.resolve())
    return sorted(pid for pid in pids if pid != os.getpid() and wanted in _open_files(pid))


def _open_files(pid: int) -> Iterator[str]:
    try:
        descriptors = list((PROC / str(pid) / "fd").iterdir())
    except OSError:  # it has ended, or is another user's
        return
    for descriptor in descriptors:
        try:
            yield str(descriptor.readlink())
        except OSError:  # closed meanwhile
            continue


def _is(link: Path, wanted: os.stat_result) -> bool:
    try:
        return os.path.samestat(link.stat(), wanted)
    except OSError:  # closed meanwhile
        return False


def _start_time(pid: int) -> int | None:
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else int(fields[18])
