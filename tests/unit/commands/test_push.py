"""What `scrapy push` reads."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from crawler.commands.push import read_lines


def test_more_files_than_a_process_may_have_open(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = min(256, soft)
    names = [str(tmp_path / f"{number}.txt") for number in range(few + 10)]
    for name in names:
        Path(name).write_text("https://shop.example/\n\n")
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
    try:
        lines = list(read_lines(names, pytest.fail))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert lines == [(f"{name}:1", "https://shop.example/") for name in names]


def test_a_source_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("\ufeffhttps://shop.example/")
    (tmp_path / "bytes.txt").write_bytes(b"https://shop.example/caf\xe9\nhttps://shop.example/b\n")
    sources = [
        str(tmp_path),
        "good.tx",
        "https://shop.example/a",
        str(tmp_path / "good.txt"),
        "a\0b",
        str(tmp_path / "bytes.txt"),
    ]
    complaints: list[str] = []
    lines = [line for _, line in read_lines(sources, complaints.append)]
    assert lines == [
        "https://shop.example/a",
        "https://shop.example/",
        "https://shop.example/caf\udce9",
        "https://shop.example/b",
    ]
    assert len(complaints) == 3
    assert complaints[1] == (
        "'good.tx' is neither a URL with http:// or https:// nor a file that can be read (No such file or directory)"
    )
