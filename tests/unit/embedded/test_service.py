"""Where the servers come from, and when they count as ready."""

from __future__ import annotations

import os
import platform
import socket
import stat
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from crawler.embedded import ensure, joining
from crawler.embedded.service import MONGOD, VALKEY, Service
from crawler.errors import ServiceError


def test_another_platform_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    monkeypatch.setattr(joining, "_members", {})
    with pytest.raises(ServiceError) as caught:
        ensure(tmp_path, mongodb=False)
    assert "built for Linux on x86-64, and this is darwin on arm64" in str(caught.value)
    assert "set REDIS_URL" in str(caught.value)
    assert "docker compose up" in str(caught.value)


def test_a_missing_wheel_is_named() -> None:
    with pytest.raises(ServiceError, match="package no-such-wheel is not installed"):
        replace(VALKEY, distribution="no-such-wheel").find_program()


def test_a_wheel_without_its_program_is_named() -> None:
    with pytest.raises(ServiceError, match="package pytest has lost its file valkey-server"):
        replace(VALKEY, distribution="pytest").find_program()


def test_the_run_bit_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "mongod"
    program.write_bytes(b"")
    program.chmod(0o644)
    found = metadata.PackagePath("mongod")
    found.dist = metadata.PathDistribution(tmp_path / "x.dist-info")
    monkeypatch.setattr(metadata, "files", lambda _: [found])
    assert MONGOD.find_program() == program
    monkeypatch.delattr(Path, "chmod")  # nothing is changed once it is set: the file may be another user's
    assert MONGOD.find_program() == program
    assert program.stat().st_mode & stat.S_IXUSR
    assert os.access(program, os.X_OK)


@pytest.mark.parametrize("service", [VALKEY, MONGOD])
def test_a_port_with_nobody_or_a_silent_listener_is_not_ready(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.embedded.service.PROBE_SECONDS", 0.05)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        assert not service.is_ready(port)
        listener.listen()
        assert not service.is_ready(port)
