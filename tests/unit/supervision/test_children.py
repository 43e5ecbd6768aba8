"""How our own modules are started as programs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from crawler.supervision.children import python_module


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
