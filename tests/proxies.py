"""Real proxies for the tests: tinyproxy, proxy.py, and one that fails as a test wants it to."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import pytest

from demo.state import any_port
from tests.serving import Handler, Served, Server

START_SECONDS = 60.0


class RealProxy:
    """A proxy process on a loopback port; `url` is without credentials."""

    def __init__(self, port: int, command: Sequence[str]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.name = f"127.0.0.1:{port}"
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)
        deadline = time.monotonic() + START_SECONDS
        while not self._listens(port):
            assert self._process.poll() is None, f"{command[0]} ended at its start"
            assert time.monotonic() < deadline, f"{command[0]} does not listen"
            time.sleep(0.02)

    def with_user(self, user: str, password: str) -> str:
        """The URL with credentials."""
        return self.url.replace("://", f"://{user}:{password}@")

    def kill(self) -> None:
        """kill -9, by its id, with the processes that it has started."""
        if self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @staticmethod
    def _listens(port: int) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0


def tinyproxy(directory: Path, user: str = "", password: str = "", port: int = 0) -> RealProxy:
    """tinyproxy, which asks for credentials if some are given. Without it: fail where CI is set, skip on a laptop."""
    binary = shutil.which("tinyproxy")
    if binary is None:
        reason = "tinyproxy is not installed (Debian and Ubuntu: apt install tinyproxy)"
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    port = port or any_port()
    lines = [
        f"Port {port}",
        "Listen 127.0.0.1",
        "Allow 127.0.0.0/8",
        "MaxClients 50",
        "Timeout 60",
        "LogLevel Critical",
    ]
    if user:
        lines.append(f"BasicAuth {user} {password}")
    config = directory / f"tinyproxy-{port}.conf"
    config.write_text("\n".join(lines) + "\n")
    return RealProxy(port, [binary, "-d", "-c", str(config)])


def proxy_py(user: str, password: str) -> RealProxy:
    """proxy.py, of the development extra."""
    port = any_port()
    options = ["--hostname", "127.0.0.1", "--port", str(port), "--num-workers", "1", "--num-acceptors", "1"]
    return RealProxy(port, [sys.executable, "-m", "proxy", *options, "--basic-auth", f"{user}:{password}"])


class BadProxy(Served):
    """Answers every request and CONNECT with *status*; 0: takes it and hangs up; a *delay* before either in seconds."""

    def __init__(self, status: int, delay: float = 0) -> None:
        self.asked = 0
        self.status, self.delay = status, delay
        super().__init__(_Server(self))

    @property
    def name(self) -> str:
        """As a pool names it."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{self.name}"


class _Server(Server):
    def __init__(self, proxy: BadProxy) -> None:
        self.proxy = proxy
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(Handler):
    server: _Server

    def do_GET(self) -> None:
        proxy = self.server.proxy
        proxy.asked += 1
        time.sleep(proxy.delay)
        if proxy.status:
            self.send_response(proxy.status)
            self.send_header("Content-Length", "0")
            self.end_headers()
        self.close_connection = True

    do_CONNECT = do_POST = do_GET
