"""Real servers and real `scrapy` processes for the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from crawler.embedded import Endpoints, ensure
from crawler.errors import ServiceError

PROJECT_DIR = Path(__file__).resolve().parent.parent
COMMAND_SECONDS = 60.0


def start(data_dir: Path, *, redis: bool = False, mongodb: bool = False) -> Endpoints:
    """Bundled servers on ports of their own. Without them: fail where CI is set, skip on a laptop."""
    try:
        return ensure(data_dir, redis=redis, mongodb=mongodb, preferred_ports=False)
    except ServiceError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


def environment(data_dir: Path) -> dict[str, str]:
    """The environment of a `scrapy` process: test settings, bundled servers in *data_dir*."""
    ours = ("SCRAPY", "REDIS_URL", "MONGODB")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return inherited | {"SCRAPY_PROJECT": "test", "EMBEDDED_DATA_DIR": str(data_dir)}


class ScrapyRunner:
    """Runs `scrapy ...` in the project, as processes of their own."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = dict(env)
        self._started: list[subprocess.Popen[str]] = []

    def run(
        self,
        *args: str,
        input: str = "",  # noqa: A002  # subprocess.run's name
        env: Mapping[str, str] | None = None,
        timeout: float = COMMAND_SECONDS,
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end; the result has returncode, stdout and stderr (the log)."""
        return subprocess.run(
            self._command(args),
            cwd=PROJECT_DIR,
            env=self.env | dict(env or {}),
            input=input,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def start(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start it and go on; what still runs when the test ends is killed."""
        process = subprocess.Popen(
            self._command(args),
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

    def _command(self, args: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "scrapy", *args]
