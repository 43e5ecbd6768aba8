"""Names of files that no page can choose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crawler.commands.export import _target
from crawler.storage.reading.markdown_files import file_name, page


@pytest.mark.parametrize(
    "url",
    [
        "https://Shop.Example/a/B c?d=1#e",
        "https://x/../../etc/passwd",
        "https://x/" + "a" * 5_000,
        "https://[broken",
        "",
        "https://x/\x00\n/..",
        "https://x/CON",
        "https://aux.example/",
        "https://COM1.shop.example/a",
        "https://x/\ud800",
    ],
)
def test_names_are_safe_and_differ(url: str) -> None:
    name = file_name(url, url)
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,120}-[0-9a-f]{12}\.md", name)
    assert ".." not in name
    assert name.partition(".")[0] not in {"con", "aux", "com1"}, "a device on Windows, whatever follows the dot"
    assert file_name(url, url) == name != file_name(f"{url}2", url)


def test_a_page_without_anything() -> None:
    assert page({"_id": "x"}) == "---\n---\n\n\n"


def test_two_exports_of_one_file_at_once_are_each_whole(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    with _target(str(path)) as first:
        first.write("the first\n" * 3)
        with _target(str(path)) as second:
            second.write("the second\n")
        assert path.read_text() == "the second\n"
    assert path.read_text() == "the first\n" * 3
    assert list(tmp_path.iterdir()) == [path]
