"""`make setup` without its downloads: what it does around them, in a folder as people name them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from settings.base import PROJECT_DIR

# Stands for python3, and makes an environment whose pip installs nothing.
PYTHON = """#!/bin/sh
mkdir -p .venv/bin .venv/lib/site-packages
echo 'exit 0' > .venv/bin/pip
echo 'case "$1" in -c) echo "$PWD/.venv/lib/site-packages";; esac' > .venv/bin/python
chmod +x .venv/bin/pip .venv/bin/python
"""
# Says that it is older than it is.
OLD = f"""#!/bin/sh
[ "$1" = -c ] && exec {sys.executable} -c "import sys; sys.version_info = (3, 11, 2); sys.version = '3.11.2 (main)'; $2"
touch too-late
"""
# What is copied from crawler/commands, and its name there.
HOOK = {"shoal_uncaught.pth": "shoal_uncaught.pth", "uncaught.py": "shoal_uncaught.py"}


def test_setup_works_in_a_folder_with_spaces_and_umlauts(tmp_path: Path) -> None:
    checkout = tmp_path / "Läden und Co"
    (checkout / "crawler/commands").mkdir(parents=True)
    for name in ("Makefile", "requirements.run.lock", *(f"crawler/commands/{one}" for one in HOOK)):
        shutil.copy(PROJECT_DIR / name, checkout / name)
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    ended = subprocess.run(
        ["make", "setup", f"PYTHON={python}"], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    for source, name in HOOK.items():
        installed = checkout / ".venv/lib/site-packages" / name
        assert installed.read_text() == (PROJECT_DIR / "crawler/commands" / source).read_text()
    assert "Next: make demo" in ended.stdout


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("blocks", "blocks: name the folder of labelled pages: make blocks PAGES=DIR"),
        ("main-text", "main-text: name the folder of labelled pages: make main-text PAGES=DIR"),
        ("test TESTS=tests/nowhere.py::test_it", "TESTS: there is no tests/nowhere.py"),
    ],
)
def test_what_is_missing_is_said_before_a_gigabyte_is_installed(given: str, said: str, tmp_path: Path) -> None:
    shutil.copy(PROJECT_DIR / "Makefile", tmp_path)
    (tmp_path / "requirements.lock").touch()
    ended = subprocess.run(["make", *given.split()], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[0] == said
    assert "Installing" not in ended.stdout


def test_a_python_whose_regular_expressions_are_wrong_is_refused(tmp_path: Path) -> None:
    for name in ("Makefile", "requirements.run.lock"):
        shutil.copy(PROJECT_DIR / name, tmp_path / name)
    python = tmp_path / "python"
    python.write_text(OLD)
    python.chmod(0o755)
    command = ["make", "setup", f"PYTHON={python}"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    said = ended.stderr.splitlines()[0]
    assert said.startswith("Shoal needs Python 3.11.5 or newer: ")
    assert f" {python} is 3.11.2. " in said
    assert not (tmp_path / "too-late").exists()
    project = tomllib.loads((PROJECT_DIR / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=3.11.5"  # for those who install the package


def test_a_missing_path_of_tests_is_named(tmp_path: Path) -> None:
    for name in ("Makefile", "requirements.lock"):
        shutil.copy(PROJECT_DIR / name, tmp_path / name)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/.installed").touch()
    (tmp_path / "tests").mkdir()
    command = ["make", "test", "TESTS=tests tests/nope.py::test_a"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert "TESTS: there is no tests/nope.py\n" in ended.stderr


def test_help_shows_every_target_on_a_screen_of_80_columns() -> None:
    shown = subprocess.run(["make", "help"], cwd=PROJECT_DIR, capture_output=True, text=True, check=True).stdout
    targets = re.findall(r"^([a-z-]+):.*## ", (PROJECT_DIR / "Makefile").read_text(), re.MULTILINE)
    assert re.findall(r"^([a-z-]+) ", shown, re.MULTILINE) == targets
    assert max(map(len, shown.splitlines())) <= 80
