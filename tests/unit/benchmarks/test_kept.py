"""What a page leaves on disk: pages by thirds of their size, and documents on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import kept, storage
from benchmarks.document import table
from demo.scoring import Page


def test_pages_are_grouped_by_size_and_documents_measured(
    tmp_path: Path, mongodb_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "DOCUMENT", tmp_path / "storage.md")
    monkeypatch.setenv("MONGODB_URI", mongodb_uri)
    pages = [Page(f"{size}.html.gz", "https://a.example/", b"<p>a</p>" * size, {}) for size in (900, 10, 300)]
    rows = kept.of_pages(pages)
    assert [(row[0], row[1], row[2]) for row in rows] == [
        *(("small", "1", "0.1"), ("middle", "1", "2.4"), ("large", "1", "7.2"), ("all", "3", "3.2"))
    ]
    base = storage.bundled_settings()
    base.set("MONGODB_URI", mongodb_uri, priority="cmdline")
    base.set("MONGODB_DATABASE", "test_kept", priority="cmdline")
    found = storage.with_pipelines(base, base["FRONTIER_ITEM_PIPELINES"], lambda settings: kept.stored(settings, 100))
    assert all(size > 100 and disk > 0 for size, disk in found.values())
    kept.publish(found, rows)
    assert [row[0] for row in table("kept", tmp_path / "storage.md")] == ["a product", "a change of price"]
    assert table("pages", tmp_path / "storage.md") == rows
