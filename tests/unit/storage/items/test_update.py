"""Which observations take a shortcut, judged by what is stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pymongo import InsertOne, UpdateOne

from crawler.items import ProductItem
from crawler.storage.items.documents import document
from crawler.storage.items.update import shortcut

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BEFORE = NOW.replace(tzinfo=None) - timedelta(hours=1)
ENTRY = document(ProductItem(url="http://a.example/", title="Knife"), NOW, 2**20)


def head(**values: Any) -> dict[str, Any]:
    return {"_id": ENTRY.id, "content_hash": ENTRY.content_hash, "last_seen_at": BEFORE} | values


def test_what_is_new_is_inserted() -> None:
    assert shortcut(ENTRY, None) == InsertOne(ENTRY.body)


@pytest.mark.parametrize("hours", [-1, 1])
def test_what_is_unchanged_is_only_seen(hours: int) -> None:
    query = {"_id": ENTRY.id, "content_hash": ENTRY.content_hash}
    found = shortcut(ENTRY, head(last_seen_at=NOW.replace(tzinfo=None) + timedelta(hours=hours)))
    assert found == UpdateOne(query, {"$max": {"last_seen_at": NOW}})


@pytest.mark.parametrize(
    "stored",
    [
        head(content_hash="other"),
        head(pending_changes=[{"version": 2}]),  # not on record yet
        head(last_seen_at=NOW.replace(tzinfo=None)),  # this very observation
        {"_id": ENTRY.id},  # not ours
        {"_id": ENTRY.id, "content_hash": ENTRY.content_hash},
    ],
)
def test_all_else_is_decided_by_the_server(stored: dict[str, Any]) -> None:
    assert shortcut(ENTRY, stored) is None
