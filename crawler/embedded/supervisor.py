"""One detached process per server: starts it, restarts it on the same port when it dies, and stops it after its last
user has ended. `joining.py` runs this module with the arguments NAME DIRECTORY PORT.

It has one thread and imports only the standard library, to stay small: it waits in one place, for a signal or the next
check of its users.
"""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from crawler.base_errors import ServiceError
from crawler.embedded import diagnosis, record
from crawler.embedded.locks import FileLock
from crawler.embedded.processes import Process
from crawler.embedded.record import ServiceRecord, State
from crawler.embedded.service import SERVICES, Service
from crawler.supervision.children import die_with

GRACE_SECONDS = 2.0  # without users before the server stops, so that successive commands share it
STARTING_POLL_SECONDS = 0.02
POLL_SECONDS = 0.25
STOP_SECONDS = 15.0
MAX_FAILURES = 5  # failed starts in a row
LOG_MB = 10
STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}

logger = logging.getLogger("supervisor")


class Supervisor:
    """Keeps one server of one directory."""

    def __init__(self, service: Service, directory: Path, preferred_port: int) -> None:
        self._service = service
        self._directory = directory
        self._users = FileLock(directory / "users.lock")
        self._itself = Process.of(os.getpid())
        self._log = directory / "server.log"
        self._log_offset = 0
        self._server: subprocess.Popen[bytes] | None = None
        self._ready = False
        self._served = False  # somebody may know the port
        self._failures = 0
        self._idle_since: float | None = None
        before = record.read(directory)
        if before and before.server and before.server.works_in(directory / "data"):
            _bury(before.server)
        known = before.port if before and before.state != "stopping" else 0  # users may have outlived its supervisor
        self._port = _free_port((known, preferred_port))

    def run(self) -> None:
        """Run until told to stop, until nobody uses the server, or until it cannot be started."""
        try:
            self._launch()
            while not (self._told_to_stop() or self._abandoned()):
                self._tend()
            self.say("stopping")
        except (ServiceError, OSError) as error:
            logger.exception("giving up")
            self.say("failed", str(error))
        finally:
            self._stop_server()

    def say(self, state: State, error: str = "") -> None:
        """Write service.json for the users.

        If that fails (disk full, directory deleted) a record that they have read still holds; before there is one this
        raises OSError, so that they find this process gone.
        """
        server = Process.of(self._server.pid) if self._server else None
        try:
            self._check_directory()
            ServiceRecord(state, self._itself, server, self._port, time.monotonic(), error).write(self._directory)
        except OSError:
            if state in {"starting", "ready"} and not self._served:
                raise
            logger.exception("cannot write service.json")

    def _check_directory(self) -> None:
        """One that was made anew has another supervisor."""
        if not self._users.in_place:
            raise FileNotFoundError(errno.ENOENT, "the data directory was deleted", str(self._directory))

    def _launch(self) -> None:
        self._check_directory()
        self._ready = False
        data = self._directory / "data"
        data.mkdir(mode=0o700, exist_ok=True)
        if self._log.exists() and self._log.stat().st_size > LOG_MB * 2**20:
            self._log.replace(self._log.with_suffix(".log.1"))
        with self._log.open("ab") as log:
            self._log_offset = log.tell()
            self._server = subprocess.Popen(  # noqa: S603
                self._service.command(data, self._port),
                cwd=data,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=partial(_set_up, os.getpid()),  # noqa: PLW1509  # this process has one thread
            )
        self.say("starting")

    def _tend(self) -> None:
        if self._server is None or self._server.poll() is not None:
            self._launch_again()
        elif not self._ready and self._service.is_ready(self._port) and self._owns_port():
            self._ready = True
            self._failures = 0
            self.say("ready")
            self._served = True

    def _owns_port(self) -> bool:
        """Whether it is our server that answers, not a stranger's that took the port since it was looked at."""
        return self._server is not None and Process.of(self._server.pid).listens_on(self._port)

    def _launch_again(self) -> None:
        words = self._last_words()
        logger.warning("%s ended, its last log lines: %s", self._service.name, words[-1000:])
        self._failures += not self._ready
        may_move = not self._served and diagnosis.PORT_TAKEN in words
        if self._failures >= MAX_FAILURES or not (self._served or may_move):
            raise ServiceError(diagnosis.explain(words, self._directory))
        if may_move:
            self._port = _free_port(())
        time.sleep(0.5 * self._failures)
        self._launch()

    def _last_words(self) -> str:
        with self._log.open("rb") as log:
            log.seek(max(self._log_offset, log.seek(0, os.SEEK_END) - 65_536))
            return log.read().decode(errors="replace")

    def _told_to_stop(self) -> bool:
        seconds = POLL_SECONDS if self._ready else STARTING_POLL_SECONDS
        received = signal.sigtimedwait(STOP_SIGNALS | {signal.SIGCHLD}, seconds)
        # Frozen for longer than that, as by SIGSTOP or a suspended machine, it returns no signal but any number.
        return received is not None and received.si_signo in STOP_SIGNALS

    def _abandoned(self) -> bool:
        """Whether there was no user for the grace time. If so the lock stays taken: a new user waits until this process
        ends."""
        if not self._users.try_exclusive():
            self._idle_since = None
            return False
        self._idle_since = self._idle_since or time.monotonic()
        if time.monotonic() - self._idle_since >= GRACE_SECONDS:
            return True
        self._users.release()
        return False

    def _stop_server(self) -> None:
        if self._server is None:
            return
        self._server.terminate()
        try:
            self._server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            logger.warning("%s did not stop within %.0f s: killed", self._service.name, STOP_SECONDS)
            self._server.kill()
            self._server.wait()


def main() -> int:
    """Supervise in a detached process, unless another one does; returns once that has reported.

    The status is 1 if it ended without a report, as on a full disk.
    """
    name, path, preferred_port = sys.argv[1:]
    directory = Path(path)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    lock = FileLock(directory / record.LOCK)
    if not lock.try_exclusive():
        return 0
    if daemon := os.fork():  # so that the user's process has no child to wait for
        return 0 if _has_spoken(daemon, directory) else 1
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS | {signal.SIGCHLD})
    Supervisor(SERVICES[name], directory, int(preferred_port)).run()
    lock.close()  # before the users' lock: whoever gets that next can start a supervisor at once
    return 0


def _has_spoken(daemon: int, directory: Path) -> bool:
    itself = Process.of(daemon)
    while True:
        lives = os.waitpid(daemon, os.WNOHANG) == (0, 0)
        said = record.read(directory)
        if said and said.supervisor == itself:
            return True
        if not lives:
            return False
        time.sleep(0.005)


def _set_up(parent: int) -> None:
    """Runs in the server's process before its program."""
    die_with(parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS | {signal.SIGCHLD})


def _free_port(preferred: tuple[int, ...]) -> int:
    """The *preferred* port if it is free (0 = none), or one that the system chooses."""
    for port in (*filter(None, preferred), 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:  # taken
                continue
            return int(probe.getsockname()[1])
    raise ServiceError("no port is free on 127.0.0.1")


def _bury(server: Process) -> None:
    """End a server that lost its supervisor: two cannot share a data directory."""
    deadline = time.monotonic() + STOP_SECONDS
    while server.alive and time.monotonic() < deadline:
        server.send(signal.SIGKILL)
        time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(main())
