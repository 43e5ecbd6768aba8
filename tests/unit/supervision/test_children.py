"""How our own modules are started as programs, and ended with all that they have started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.supervision.children import kill, python_module, spawn


@pytest.mark.parametrize("safe", ["", "1"])
def test_a_module_is_found_whatever_the_environment_says(tmp_path: Path, safe: str) -> None:
    directory = tmp_path / 'it\'s "here"'
    directory.mkdir()
    (directory / "program.py").write_text("import sys; print(__name__, sys.argv[1:])")
    ended = subprocess.run(
        [*python_module("program", directory), "a", "b"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONSAFEPATH": safe},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.stdout, ended.stderr) == ("__main__ ['a', 'b']\n", "")


def test_a_backport_beside_it_does_not_hide_the_standard_library(tmp_path: Path) -> None:
    """Such as the `typing` that scrapy-rotating-proxies asks for."""
    (tmp_path / "typing.py").write_text("raise ImportError('for Python 2')")
    (tmp_path / "program.py").write_text("from typing import Final; print('found')")
    ended = subprocess.run(
        python_module("program", tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.stdout, ended.stderr) == ("found\n", "")


def test_a_child_is_killed_with_its_own_children() -> None:
    program = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'input()']); print('y'); input()"
    child = spawn([sys.executable, "-uc", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin, child.stdout:
        assert child.stdout.read(2) == b"y\n"
        kill([child])
        assert child.stdout.read() == b"", "nobody is left who could write to it"
