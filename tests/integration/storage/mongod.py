"""A mongod of a test's own, to be killed, frozen and started again."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from pathlib import Path

from crawler.embedded.service import MONGOD

START_SECONDS = 30.0


class Mongod:
    """Started on creation; keeps its port and its data over kills."""

    def __init__(self, data: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port: int = probe.getsockname()[1]
        self._data = data
        self.uri = MONGOD.url.format(port=self._port)
        self.start()

    def start(self) -> None:
        """Return when it answers."""
        command = MONGOD.command(self._data, self._port)
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while not MONGOD.is_ready(self._port):
            assert self._process.poll() is None, "mongod ended at its start"
            assert time.monotonic() < deadline, "mongod does not answer"
            time.sleep(0.02)

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """It keeps its connections and answers nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)
