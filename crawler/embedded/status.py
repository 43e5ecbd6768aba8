"""Shows and stops what runs in a data directory; starts nothing."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from crawler.base_errors import ServiceError
from crawler.embedded import record
from crawler.embedded.processes import holding
from crawler.embedded.service import SERVICES, Service

STOP_SECONDS = 30.0


@dataclass(frozen=True)
class ServiceStatus:
    """One server's current state; url and numbers are empty unless it runs."""

    name: str
    state: str  # starting, ready, stopping, stopped, or failed
    data_dir: str
    url: str = ""
    pid: int = 0
    supervisor_pid: int = 0
    memory_bytes: int = 0
    users: list[int] = field(default_factory=list)  # pids
    error: str = ""


def status(data_dir: str | Path) -> list[ServiceStatus]:
    """Both servers of *data_dir*."""
    return [_status(service, Path(data_dir).absolute() / name) for name, service in SERVICES.items()]


def stop(data_dir: str | Path, *, force: bool = False) -> list[ServiceStatus]:
    """Stop the servers of *data_dir* cleanly; returns those that ran.

    Raises ServiceError while they are in use, unless *force*, and if one does not stop.
    """
    running = [server for server in status(data_dir) if server.supervisor_pid]
    users = {server.name: server.users for server in running if server.users}
    if users and not force:
        who = "; ".join(f"{name} by {_pids(pids)}" for name, pids in users.items())
        raise ServiceError(f"in use: {who}. End these processes first, or stop the servers with --force")
    for server in running:
        _stop(Path(server.data_dir))
    return running


def _status(service: Service, directory: Path) -> ServiceStatus:
    said = record.read(directory)
    if said is None or not said.supervised:
        failed = said is not None and said.state == "failed"
        return ServiceStatus(
            service.name, "failed" if failed else "stopped", str(directory), error=said.error if said else ""
        )
    return ServiceStatus(
        name=service.name,
        state=said.state,
        data_dir=str(directory),
        url=service.url.format(port=said.port),
        pid=said.server.pid if said.server else 0,
        supervisor_pid=said.supervisor.pid,
        memory_bytes=said.server.memory_bytes if said.server else 0,
        users=[pid for pid in holding(directory / "users.lock") if pid != said.supervisor.pid],
    )


def _stop(directory: Path) -> None:
    said = record.read(directory)
    if said is None:
        return
    said.supervisor.send(signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while said.supervisor.alive:
        if time.monotonic() > deadline:
            raise ServiceError(f"process {said.supervisor.pid} does not stop; its log is in {directory}")
        time.sleep(0.02)


def _pids(pids: list[int]) -> str:
    return f"process{'es' if len(pids) > 1 else ''} {', '.join(map(str, pids))}"
