"""A collection of ours that is forgotten in `NO_PAGES` would be recrawled as if its ids were URLs."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.storage import collection_names

TABLE = Path(__file__).parents[3] / "docs" / "storage.md"


def test_none_is_taken_for_a_collection_of_pages() -> None:
    ours = {value for name, value in vars(collection_names).items() if name.isupper() and isinstance(value, str)}
    assert len(ours) >= 10
    assert ours == collection_names.NO_PAGES


@pytest.mark.parametrize("name", sorted(collection_names.NO_PAGES))
def test_each_is_told(name: str) -> None:
    assert f"`{name}`" in TABLE.read_text(encoding="utf-8")
