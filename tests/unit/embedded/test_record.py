"""What readers of service.json believe."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.embedded import record
from crawler.embedded.processes import Process, holding
from crawler.embedded.record import ServiceRecord

OURSELVES = Process.of(os.getpid())
READY = ServiceRecord("ready", OURSELVES, OURSELVES, 16379, 1.5)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    READY.write(tmp_path)
    replace(READY, server=None, error="no room").write(tmp_path)
    assert record.read(tmp_path) == replace(READY, server=None, error="no room")
    assert [path.name for path in tmp_path.iterdir()] == ["service.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"state": "ready"}', '{"server": 7}'])
def test_what_cannot_be_read_counts_as_absent(tmp_path: Path, text: str) -> None:
    (tmp_path / "service.json").write_text(text)
    assert record.read(tmp_path) is None


def test_a_later_process_with_the_same_number_is_another_one() -> None:
    assert READY.supervised
    assert not replace(READY, supervisor=replace(OURSELVES, started=OURSELVES.started + 1)).supervised


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
