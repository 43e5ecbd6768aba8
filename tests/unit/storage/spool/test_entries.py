"""What waits in the spool comes back as it went."""

from __future__ import annotations

from datetime import UTC, datetime

import bson

from crawler.items import ProductItem
from crawler.storage.documents import document
from crawler.storage.rejections import Rejection
from crawler.storage.spool.entries import Entry, pack, unpack

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ITEM = ProductItem(url="http://a.example/", title="Knife", sku="K1")


def test_entries_come_back_in_their_order() -> None:
    entries: list[Entry] = [document(ITEM, NOW, 2**20), Rejection.of(ITEM, ["missing_price: none"], NOW, 2**20)]
    assert list(unpack(pack(entries))) == entries


def test_an_entry_that_does_not_say_whether_it_is_distinctive_is_not() -> None:
    row = document(ITEM, NOW, 2**20)._asdict()
    assert row.pop("distinctive") is True
    (entry,) = unpack(bson.encode(row))
    assert entry == document(ITEM, NOW, 2**20)._replace(distinctive=False)
