"""What waits in the spool comes back as it went."""

from __future__ import annotations

from datetime import UTC, datetime

import bson
import pytest

from crawler.items import ProductItem
from crawler.storage.items.documents import StoredDocument, document
from crawler.storage.items.rejections import Rejection
from crawler.storage.spool.entries import Entry, UnreadableError, pack, unpack

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


GOOD = bson.encode(document(ITEM, NOW, 2**20)._asdict())
BAD_ROWS: dict[str, tuple[dict[str, object], str]] = {
    "a field of a newer release": ({"flavour": 1}, "field 'flavour' of another release"),
    "a number for a name": ({"collection": 5}, "field 'collection' is a int"),
    "no body": ({"body": None}, "field 'body' is a NoneType"),
    "text for a time": ({"fetched_at": "now"}, "field 'fetched_at' is a str"),
    "a name that MongoDB refuses": ({"collection": "system.users"}, "'system.users' is not the name of a collection"),
}


@pytest.mark.parametrize(("change", "said"), BAD_ROWS.values(), ids=list(BAD_ROWS))
def test_an_entry_that_cannot_be_decoded_is_named_and_its_neighbours_are_read(
    change: dict[str, object], said: str
) -> None:
    row = document(ITEM, NOW, 2**20)._asdict() | change
    first, bad, last = unpack(GOOD + bson.encode(row) + GOOD)
    assert first == last == document(ITEM, NOW, 2**20)
    assert (type(bad), str(bad)) == (UnreadableError, said)


@pytest.mark.parametrize("payload", [b"garbage", b"\x05\0\0\0", bson.encode({}), bson.encode({"0": 1})])
def test_what_is_no_entry_at_all_is_named(payload: bytes) -> None:
    first, bad = unpack(GOOD + payload)
    assert isinstance(first, StoredDocument)
    assert isinstance(bad, UnreadableError)
