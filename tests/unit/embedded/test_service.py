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
    monkeypatch.setattr(joining, "_joined", {})
    with pytest.raises(ServiceError) as caught:
        ensure(tmp_path, mongodb=False)
    assert "built for Linux on x86-64, and this is darwin on arm64" in str(caught.value)
    assert "set REDIS_URL" in str(caught.value)
    assert "docker compose up" in str(caught.value)


def test_a_missing_wheel_is_named() -> None:
    with pytest.raises(ServiceError, match="package no-such-wheel is not installed"):
        replace(VALKEY, distribution="no-such-wheel").find_program()


def test_a_wheel_without_its_program_is_named() -> None:
    with pytest.raises(ServiceError, match="package pytest lacks its file valkey-server"):
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


def test_valkey_is_given_an_allocator(tmp_path: Path) -> None:
    preload, option, program, *_ = VALKEY.command(tmp_path, 1)[1:]
    assert Path(preload.removeprefix("LD_PRELOAD=")).is_file()
    assert option == "MIMALLOC_ALLOW_THP=0"
    assert program == str(VALKEY.find_program())
    assert MONGOD.command(tmp_path, 1)[0] == str(MONGOD.find_program())


@pytest.mark.parametrize("allocator", [("no-such-wheel", "libmimalloc.so"), ("pytest", "libmimalloc.so")])
def test_valkey_starts_without_that_allocator(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, allocator: tuple[str, str]
) -> None:
    monkeypatch.setattr("crawler.embedded.service.ALLOCATOR", allocator)
    assert VALKEY.command(tmp_path, 1)[0] == str(VALKEY.find_program())


def test_a_library_whose_path_cannot_be_named_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = VALKEY.find_program()
    library = tmp_path / "my crawler" / "libmimalloc.so"
    monkeypatch.setattr(
        "crawler.embedded.service._installed", lambda name, _: program if name == VALKEY.distribution else library
    )
    assert VALKEY.command(tmp_path, 1)[0] == str(program)


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
