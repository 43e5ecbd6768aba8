"""A second run in a directory refuses in a line, before it touches anything."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import demo.__main__
import tests.chaos.__main__
import tests.operate.__main__
from demo.alone import alone_in
from demo.jobs import Shops
from demo.state import directory_of

BUSY = "another run is under way in "


def test_a_second_demo_of_the_same_shops_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with alone_in(directory_of(tmp_path, Shops(104).identity)):
        assert demo.__main__.main(["--root", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"demo: {BUSY}{tmp_path}")


@pytest.mark.parametrize("module", [tests.chaos.__main__, tests.operate.__main__])
def test_a_second_proof_refuses(
    module: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = module.__name__.split(".")[1]  # type: ignore[attr-defined]
    monkeypatch.setattr(sys, "argv", [name, "--home", str(tmp_path)])
    (tmp_path / "cap-1").mkdir()
    with alone_in(tmp_path):
        assert module.main() == 2  # type: ignore[attr-defined]
    assert capsys.readouterr().err == f"{name}: {BUSY}{tmp_path}: wait for its end\n"
    assert (tmp_path / "cap-1").exists()
