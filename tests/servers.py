"""Real servers and real `scrapy` processes for the tests."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from crawler.embedded import Endpoints, ensure
from crawler.embedded.service import Service
from crawler.errors import ServiceError
from crawler.supervision.children import spawn
from demo.state import any_port
from tests.effort import PATIENCE
from tests.zygote import PROJECT_DIR, Forked, Zygote

SERVER_SECONDS = 60.0


def start(data_dir: Path, *, redis: bool = False, mongodb: bool = False) -> Endpoints:
    """Bundled servers on ports of their own. Without them: fail where CI is set, skip on a laptop."""
    try:
        return ensure(data_dir, redis=redis, mongodb=mongodb, preferred_ports=False)
    except ServiceError as error:
        missing(error)


def missing(error: ServiceError) -> NoReturn:
    """A bundled server cannot be had here."""
    if os.environ.get("CI"):
        pytest.fail(str(error), pytrace=False)
    pytest.skip(str(error))


def environment(data_dir: Path) -> dict[str, str]:
    """The environment of a `scrapy` process: test settings, bundled servers in *data_dir*."""
    ours = ("SCRAPY", "REDIS_URL", "MONGODB")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return inherited | {"SCRAPY_PROJECT": "test", "EMBEDDED_DATA_DIR": str(data_dir)}


class Server:
    """A server of a test's own, to be killed, frozen and started again; keeps its port and its data.

    Start it in the main thread: it ends with the thread that did, and so with a test run that is killed.
    """

    def __init__(self, service: Service, data: Path, port: int = 0) -> None:
        self.port = port or any_port()
        self.url = service.url.format(port=self.port)
        self._service = service
        self._data = data
        self.start()

    def start(self) -> None:
        """Return when it answers."""
        self._launch()
        self._until_ready()

    async def start_again(self) -> None:
        """As `start`, while the event loop goes on."""
        self._launch()
        await asyncio.to_thread(self._until_ready)

    def bring_up(self) -> None:
        """As `start`, but for one that runs; a frozen one goes on."""
        self.thaw()
        if self._process.poll() is not None:
            self.start()

    def _launch(self) -> None:
        self._process = spawn(self._service.command(self._data, self.port), stdout=subprocess.DEVNULL)

    def _until_ready(self) -> None:
        deadline = time.monotonic() + SERVER_SECONDS
        while not self._service.is_ready(self.port):
            assert self._process.poll() is None, f"{self._service.name} ended at its start"
            assert time.monotonic() < deadline, f"{self._service.name} does not answer"
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


class ScrapyRunner:
    """Runs `scrapy ...` in the project, as processes of their own."""

    def __init__(self, env: Mapping[str, str], zygote: Zygote) -> None:
        self.env = dict(env)
        self._zygote = zygote
        self._started: list[subprocess.Popen[str]] = []
        self._forked: list[Forked] = []

    def run(
        self,
        *args: str,
        input: str = "",  # noqa: A002  # subprocess.run's name
        env: Mapping[str, str] | None = None,
        timeout: float = PATIENCE,
        cwd: Path = PROJECT_DIR,
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end; the result has returncode, stdout and stderr (the log)."""
        process = self._zygote.fork(args, self.env | dict(env or {}), cwd, input)
        self._forked.append(process)
        stdout, stderr = process.communicate(timeout)
        return subprocess.CompletedProcess(process.arguments, process.wait(), stdout, stderr)

    def fork(self, *args: str, env: Mapping[str, str] | None = None, terminal: int | None = None) -> Forked:
        """Start it without the time that loading takes, at a *terminal* if given; what still runs when the test ends
        is killed."""
        process = self._zygote.fork(args, self.env | dict(env or {}), PROJECT_DIR, terminal=terminal)
        self._forked.append(process)
        return process

    def start(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start it as a person does, and go on; what still runs when the test ends is killed."""
        process = subprocess.Popen(
            [sys.executable, "-m", "scrapy", *args],
            cwd=PROJECT_DIR,
            env=self.env | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def close(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()
        for forked in self._forked:
            status = forked.poll()
            print(f"--- scrapy {forked.arguments[:2]} {status}\n{forked.log[-4000:]}")  # seen when the test fails
            forked.close()
