"""What pytest's workers are forked from."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.preloaded import Importing


@pytest.mark.parametrize(
    "line", ["raise RuntimeError", "import pytest; pytest.skip('not here', allow_module_level=True)"]
)
def test_of_a_module_that_cannot_be_imported_nothing_is_left_for_the_workers_to_find(line: str, tmp_path: Path) -> None:
    """Half a module has half of its tests, and no error."""
    (tmp_path / "test_broken.py").write_text(line)
    before = set(sys.modules)
    assert _imported(tmp_path)
    assert set(sys.modules) == before


def test_a_module_is_there_under_the_name_that_pytest_looks_for(tmp_path: Path) -> None:
    (tmp_path / "some_room").mkdir()
    (tmp_path / "some_room" / "test_good.py").write_text("GOOD = 1")
    assert _imported(tmp_path)
    assert sys.modules.pop("some_room.test_good").GOOD == 1
    sys.modules.pop("some_room", None)


def _imported(directory: Path) -> bool:
    session: Any = SimpleNamespace(config=SimpleNamespace(args=[f"{directory}::test_it"], rootpath=directory))
    return Importing().pytest_collection(session)
