"""A supervisor's report about its server, in service.json."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Literal

from crawler.embedded.processes import Process

LOCK: Final = "supervisor.lock"  # of a directory; its supervisor keeps it open
State = Literal["starting", "ready", "failed", "stopping"]


@dataclass(frozen=True)
class ServiceRecord:
    """The state of one server."""

    state: State
    supervisor: Process
    server: Process | None
    port: int
    at: float  # seconds on the system-wide monotonic clock
    error: str = ""

    @property
    def supervised(self) -> bool:
        """Whether the supervisor that wrote this is alive; otherwise the record is outdated."""
        return self.supervisor.alive

    def write(self, directory: Path) -> None:
        """Replace service.json atomically."""
        draft = directory / f"service.json.{self.supervisor.pid}"
        draft.write_text(json.dumps(asdict(self)))
        draft.replace(directory / "service.json")


def read(directory: Path) -> ServiceRecord | None:
    """The last record, or None if it is unreadable (another version, truncated by a full disk).

    One that came here with a copy of a directory in use counts as outdated: its server must not be joined from here.
    """
    said = _parsed(directory)
    if said and said.supervised and not said.supervisor.holds(directory / LOCK):
        return replace(said, supervisor=replace(said.supervisor, started=0))
    return said


def _parsed(directory: Path) -> ServiceRecord | None:
    try:
        fields = json.loads((directory / "service.json").read_text())
        server = Process(**fields.pop("server")) if fields["server"] else fields.pop("server")
        return ServiceRecord(supervisor=Process(**fields.pop("supervisor")), server=server, **fields)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
