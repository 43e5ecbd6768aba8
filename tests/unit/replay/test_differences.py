"""What a re-parse says about an item, and whether storing it would change anything."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crawler.items import ProductItem
from crawler.replay.differences import Judgement, _judged

AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
URL = "http://shop.example/p/1"
ITEM = ProductItem(url=URL, title="Knife", brand="Acme")


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (None, Judgement("new", {})),
        ({"last_seen_at": AT, "content_hash": "now"}, Judgement("unchanged", {}, decided=True)),
        ({"last_seen_at": AT - timedelta(days=1), "content_hash": "now"}, Judgement("unchanged", {}, decided=False)),
        ({"last_seen_at": AT + timedelta(days=1), "content_hash": "now"}, Judgement("older", {})),
        (
            {"last_seen_at": AT, "content_hash": "then"},
            Judgement("changed", {"brand": {"old": None, "new": "Acme"}}),
        ),
    ],
)
def test_only_what_is_stored_just_so_from_the_same_fetch_is_settled(
    stored: dict[str, Any] | None, expected: Judgement
) -> None:
    heads = {} if stored is None else {URL: stored}
    whole = {URL: {"_id": URL, "url": URL, "title": "Knife"}}
    assert _judged(ITEM, URL, "now", AT, heads, whole) == expected


def test_an_item_that_cannot_be_stored_is_left_to_the_store_to_refuse() -> None:
    assert _judged(ITEM, "", "", None, {}, {}) == Judgement("refused", {})
