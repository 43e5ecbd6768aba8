"""Which files a schedule may name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crawler.producers.schedule import ScheduleError
from crawler.producers.schedule_chunks import check_file


def test_what_is_there_and_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(ScheduleError, match="is not a file"):
            check_file(str(path))


@pytest.mark.parametrize("name", ["missing.txt", "x" * 10_000, "a\0b", "urls.txt", "urls.txt/below"])
def test_a_file_and_what_its_reader_names_pass(name: str, tmp_path: Path) -> None:
    (tmp_path / "urls.txt").touch()
    check_file(str(tmp_path / name))
