"""Users of the bundled servers, as real processes that can be killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import redis

from crawler.embedded import record
from crawler.embedded.processes import Process
from crawler.embedded.record import ServiceRecord
from tests.zygote import PROJECT_DIR

SCRIPT = """
import json, subprocess, sys
from crawler.embedded import ensure, joining
from crawler.errors import ServiceError
options = json.loads(sys.argv[2])
child = options.pop("child", False)
joining.AGAIN_SECONDS = options.pop("again_seconds", joining.AGAIN_SECONDS)
try:
    found = ensure(sys.argv[1], **options)
except ServiceError as error:
    print(json.dumps({"error": str(error)}), flush=True)
    sys.exit(2)
if child:
    subprocess.Popen(["sleep", "30"], stdout=subprocess.DEVNULL)
print(json.dumps({"redis": found.redis_url, "mongodb": found.mongodb_uri}), flush=True)
sys.stdin.read()
"""


class User:
    """One process that called ensure() and stays until closed or killed."""

    def __init__(self, data_dir: Path, **options: object) -> None:
        options = {"mongodb": False, "preferred_ports": False} | options
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(data_dir), json.dumps(options)],
            cwd=PROJECT_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def answer(self) -> dict[str, str]:
        """The URLs that ensure() returned, or its error."""
        assert self.process.stdout is not None
        found: dict[str, str] = json.loads(self.process.stdout.readline())
        return found

    def url(self) -> str:
        """The Redis URL that ensure() returned."""
        return self.answer()["redis"]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.process.communicate()


def said(data_dir: Path, name: str = "redis") -> ServiceRecord:
    """The last word of the supervisor."""
    found = record.read(data_dir / name)
    assert found is not None
    return found


def server(data_dir: Path, name: str = "redis") -> Process:
    """The server's process."""
    found = said(data_dir, name).server
    assert found is not None
    return found


def client(url: str) -> closing[redis.Redis]:
    """A blocking client, closed at the end of its `with`."""
    return closing(redis.Redis.from_url(url, decode_responses=True, socket_timeout=60))


def eventually(condition: Callable[[], object], seconds: float = 60.0) -> bool:
    """Whether *condition* comes true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False
