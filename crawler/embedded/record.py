"""A supervisor's report about its server, in service.json."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from crawler.embedded.processes import Process

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
    """The last record, or None if it is unreadable (another version, truncated by a full disk)."""
    try:
        fields = json.loads((directory / "service.json").read_text())
        server = Process(**fields.pop("server")) if fields["server"] else fields.pop("server")
        return ServiceRecord(supervisor=Process(**fields.pop("supervisor")), server=server, **fields)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
