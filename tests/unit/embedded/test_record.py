"""What readers of service.json believe."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.embedded import record
from crawler.embedded.locks import FileLock
from crawler.embedded.processes import Process, holding
from crawler.embedded.record import ServiceRecord


def ourselves() -> Process:
    return Process.of(os.getpid())


def ready() -> ServiceRecord:
    return ServiceRecord("ready", ourselves(), ourselves(), 16379, 1.5)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Path]:
    """A directory whose supervisor we are."""
    (directory := tmp_path / "redis").mkdir()
    lock = FileLock(directory / "supervisor.lock")
    ready().write(directory)
    yield directory
    lock.close()


def test_what_is_written_is_read(running: Path) -> None:
    replace(ready(), server=None, error="no room").write(running)
    assert record.read(running) == replace(ready(), server=None, error="no room")
    assert sorted(path.name for path in running.iterdir()) == ["service.json", "supervisor.lock"]


def test_a_copy_of_a_directory_in_use_has_no_supervisor(running: Path) -> None:
    shutil.copytree(running, running.with_name("copy"))
    copied, original = record.read(running.with_name("copy")), record.read(running)
    assert copied is not None
    assert not copied.supervised
    assert original is not None
    assert original.supervised
    moved = running.rename(running.with_name("moved"))
    assert record.read(moved) == ready()


def test_a_process_works_in_its_directory(tmp_path: Path) -> None:
    assert ourselves().works_in(Path.cwd())
    assert not ourselves().works_in(tmp_path)
    assert not ourselves().works_in(tmp_path / "none")


def test_a_supervisor_that_may_not_be_looked_at_is_believed(running: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(running, running.with_name("copy"))

    def refuse(path: Path) -> Iterator[Path]:
        raise PermissionError(errno.EACCES, "another user's", str(path))

    monkeypatch.setattr(Path, "iterdir", refuse)
    assert record.read(running.with_name("copy")) == ready()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"state": "ready"}', '{"server": 7}'])
def test_what_cannot_be_read_counts_as_absent(tmp_path: Path, text: str) -> None:
    (tmp_path / "service.json").write_text(text)
    assert record.read(tmp_path) is None


def test_a_later_process_with_the_same_number_is_another_one() -> None:
    assert ready().supervised
    assert not replace(ready(), supervisor=replace(ourselves(), started=ourselves().started + 1)).supervised


def test_a_process_that_has_ended_is_not_alive_even_before_it_is_reaped() -> None:
    child = subprocess.Popen(["true"])
    process = Process.of(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not process.alive
    assert child.wait() == 0
    assert Process.of(child.pid) == Process(child.pid, 0)
    assert process.memory_bytes == 0


def test_who_holds_a_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "users.lock"
    path.touch()
    with path.open() as file, subprocess.Popen(["sleep", "30"], stdin=file) as holder:
        assert holding(path) == [holder.pid]
        holder.kill()
    assert holding(path) == []
