"""What `scrapy push` reads."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from crawler.commands.push import read_lines
from crawler.errors import MessageError


def test_more_files_than_a_process_may_have_open(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = min(256, soft)
    names = [str(tmp_path / f"{number}.txt") for number in range(few + 10)]
    for name in names:
        Path(name).write_text("https://shop.example/\n\n")
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
    try:
        lines = list(read_lines(names))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert lines == [(f"{name}:1", "https://shop.example/") for name in names]


def test_what_is_no_file_is_said_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("https://shop.example/")
    with pytest.raises(MessageError, match="neither a URL"):
        read_lines([str(tmp_path / "good.txt"), str(tmp_path)])
