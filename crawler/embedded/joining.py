"""How a process becomes a user of a bundled server: it takes the users' lock, then makes sure that a supervisor
runs."""

from __future__ import annotations

import errno
import logging
import subprocess
import threading
import time
from pathlib import Path

from crawler.base_errors import ServiceError
from crawler.embedded import diagnosis, record
from crawler.embedded.locks import FileLock
from crawler.embedded.service import Service
from crawler.supervision.children import python_module

START_SECONDS = 120.0  # Valkey may have to load millions of queued URLs from its file
POLL_SECONDS = 0.02
TELL_SECONDS = 5.0  # until those who wait are told what for
WATCH_SECONDS = 1.0  # between two looks at whether the supervisor lives
AGAIN_SECONDS = 10.0  # until a server that gave up, as on a full disk, is started again
MOST_WORDS = 65_536  # bytes read of a supervisor that could not begin
PROJECT_DIR = Path(__file__).resolve().parents[2]

logger = logging.getLogger(__name__)
_joined: dict[tuple[str, Path], JoinedServer] = {}


class JoinedServer:
    """This process as a user of one server, for its lifetime: the lock is never released."""

    def __init__(self, service: Service, directory: Path, *, preferred_port: bool) -> None:
        self.service = service
        self._directory = directory
        self._port = service.preferred_port if preferred_port else 0
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = FileLock(directory / "users.lock")
        self._began = 0.0  # to wait for the server
        self._told = False  # what is waited for
        self._watcher: threading.Thread | None = None
        self._complained = False  # about a server that is gone

    def begin(self) -> None:
        """Take the lock and start a supervisor if there is none. Waits while one is shutting down."""
        self._began = time.monotonic()
        while not self._lock.try_shared():
            self._pause("another process is stopping it and has not finished")
        said = record.read(self._directory)
        if not (said and said.supervised):
            self._start_supervisor()

    def wait(self) -> str:
        """The server's URL, once it answers."""
        while True:
            said = record.read(self._directory)
            if said and said.state == "ready" and said.supervised:
                self._watch()
                return self.service.url.format(port=said.port)
            if said and said.state == "failed" and said.at >= self._began:
                raise self._error(said.error)
            if not (said and said.supervised):
                self._start_supervisor()
            self._pause("it is still starting")

    def listens_on(self, port: int) -> bool:
        """Whether it is the server of this directory that takes connections on *port*."""
        said = record.read(self._directory)
        return said is not None and said.server is not None and said.server.listens_on(port)

    def _watch(self) -> None:
        """Start a thread that brings back a supervisor that was killed or gave up: without it the server would be gone
        for as long as this process lives."""
        if self._watcher is None:
            self._watcher = threading.Thread(
                target=self._keep_supervised, name=f"{self.service.name}-watch", daemon=True
            )
            self._watcher.start()

    def _keep_supervised(self) -> None:
        while True:
            time.sleep(WATCH_SECONDS)
            said = record.read(self._directory)
            if said is not None and said.supervised and said.state == "ready" and self._complained:
                logger.warning("The bundled %s server runs again", self.service.name)
                self._complained = False
            if said is None or said.supervised or said.state == "stopping":
                continue  # it lives, was told to stop, or its directory was deleted
            if said.state == "failed":
                self._complain(said.error)
                time.sleep(AGAIN_SECONDS)
            self._bring_back(was_killed=said.state != "failed")

    def _bring_back(self, *, was_killed: bool) -> None:
        try:
            self._start_supervisor()
        except ServiceError as error:
            self._complain(str(error))
            time.sleep(AGAIN_SECONDS)
        else:
            if was_killed:
                logger.warning("The supervisor of the bundled %s server was killed: started again", self.service.name)

    def _complain(self, reason: str) -> None:
        """Once per outage."""
        if not self._complained:
            logger.error(
                "The bundled %s server has ended: %s. It is started again every %.0f s. Its logs are in %s",
                *(self.service.name, reason, AGAIN_SECONDS, self._directory),
            )
        self._complained = True

    def _start_supervisor(self) -> None:
        try:
            self.service.find_program()
            with (self._directory / "supervisor.log").open("a+b") as log:
                before = log.tell()
                started = subprocess.run(  # noqa: S603
                    [
                        *python_module("crawler.embedded.supervisor", PROJECT_DIR),
                        *(self.service.name, str(self._directory), str(self._port)),
                    ],
                    cwd=PROJECT_DIR,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C is for the crawl, which needs the server to drain
                    check=False,
                )
                log.seek(before)
                words = log.read(MOST_WORDS).decode(errors="replace")
        except ServiceError as error:
            raise self._error(str(error)) from error
        except OSError as error:
            raise self._error(diagnosis.explain(str(error), self._directory)) from error
        if started.returncode:
            raise self._error(diagnosis.explain(words, self._directory))

    def _pause(self, why: str) -> None:
        waited = time.monotonic() - self._began
        if waited > START_SECONDS:
            raise self._error(f"{why} after {START_SECONDS:.0f} s")
        if waited > TELL_SECONDS and not self._told:
            words = "The bundled %s server is not ready, waiting for up to %.0f s: %s. Its logs are in %s"
            logger.warning(words, self.service.name, START_SECONDS, why, self._directory)
            self._told = True
        time.sleep(POLL_SECONDS)

    def _error(self, reason: str) -> ServiceError:
        return unavailable(self.service, self._directory, reason)


def enter(service: Service, data_dir: Path, preferred_port: bool) -> JoinedServer:
    """Make this process a user of *service* in *data_dir*, once; the server is then starting."""
    directory = _directory(service, data_dir)
    try:
        found = joined(service, data_dir) or JoinedServer(service, directory, preferred_port=preferred_port)
        found.begin()
    except OSError as error:
        raise unavailable(service, data_dir, _disk_error(error, data_dir)) from error
    _joined[service.name, directory] = found
    return found


def joined(service: Service, data_dir: Path) -> JoinedServer | None:
    """The server that this process is a user of, if it is."""
    return _joined.get((service.name, _directory(service, data_dir)))


def _directory(service: Service, data_dir: Path) -> Path:
    return data_dir.absolute() / service.name


def unavailable(service: Service, directory: Path, reason: str) -> ServiceError:
    written = [*directory.glob("*.log"), *directory.glob(f"{service.name}/*.log")]
    logs = f"Its logs are in {directory}. " if written else ""
    return ServiceError(
        f"the bundled {service.name} server did not start: {reason}. {logs}"
        f"Or set {service.setting} to a server of yours, for instance one that `docker compose up` starts"
    )


def _disk_error(error: OSError, data_dir: Path) -> str:
    if error.errno == errno.ENOSPC:
        return diagnosis.explain(str(error), data_dir)
    return f"EMBEDDED_DATA_DIR = {str(data_dir)!r} is invalid: expected a writable directory ({error.strerror})"
