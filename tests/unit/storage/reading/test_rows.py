"""Documents as lines: stable columns, no digit lost."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.items import ProductItem
from crawler.storage.reading.rows import Csv, JsonLines, columns

DOCUMENT: dict[str, Any] = {
    "_id": "http://a.example/",
    "title": 'A "knife", ñ\nnew',
    "price": Decimal("1E+2"),
    "rating": 4.5,
    "gtin": None,
    "issues": ["suspicious_price"],
    "found_in": {"price": "json-ld"},
    "last_seen_at": datetime(2026, 3, 1, 12, tzinfo=UTC),
    "bytes": b"\x01\xff",
    "on": True,
}


def test_json_lines() -> None:
    target = io.StringIO()
    writer = JsonLines(target)
    writer.write(DOCUMENT)
    writer.write({"_id": 2})
    first, second = map(json.loads, target.getvalue().splitlines())
    assert first["price"] == "100"
    assert first["last_seen_at"] == "2026-03-01T12:00:00+00:00"
    assert (first["bytes"], first["gtin"], first["title"]) == ("01ff", None, DOCUMENT["title"])
    assert second == {"_id": 2}
    assert "ñ" in target.getvalue()


def test_numbers_that_json_lacks_are_text() -> None:
    target, odd = io.StringIO(), {"_id": float("nan"), "a": [{"b": float("-inf")}, 1.5], "c": Decimal("Infinity")}
    JsonLines(target).write(odd)
    found = json.loads(target.getvalue(), parse_constant=pytest.fail)
    assert found == {"_id": "NaN", "a": [{"b": "-Infinity"}, 1.5], "c": "Infinity"}
    target = io.StringIO()
    Csv(target, ["a"]).write(odd)
    assert [row for (row,) in csv.reader(io.StringIO(target.getvalue()))] == ["a", '[{"b": "-Infinity"}, 1.5]']


def test_csv() -> None:
    target = io.StringIO()
    names = [*DOCUMENT, "absent"]
    writer = Csv(target, names)
    writer.write(DOCUMENT)
    header, row = csv.reader(io.StringIO(target.getvalue()))
    assert header == names
    cells = dict(zip(header, row, strict=True))
    assert cells["title"] == DOCUMENT["title"]
    assert (cells["price"], cells["rating"], cells["gtin"], cells["absent"]) == ("100", "4.5", "", "")
    assert (cells["issues"], cells["found_in"]) == ('["suspicious_price"]', '{"price": "json-ld"}')
    assert (cells["last_seen_at"], cells["on"]) == ("2026-03-01T12:00:00+00:00", "true")


def test_columns_of_our_classes_follow_their_fields() -> None:
    found = columns("products")
    assert found is not None
    assert found[0] == "_id"
    assert found[1 : 1 + len(dataclasses.fields(ProductItem))] == [
        each.name for each in dataclasses.fields(ProductItem)
    ]
    assert found[-1] == "version"
    assert columns("offers") is None


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"])
def test_what_a_spreadsheet_would_run_is_a_text(first: str) -> None:
    text = f'{first}cmd|" /C calc"!A0'
    document = {"a": text, "b": -1.5, "c": Decimal("-2.50"), "d": [text], "e": f"a{first}", f"{first}f": 1}
    for raw in (False, True):
        target = io.StringIO(newline="")
        Csv(target, list(document), raw=raw).write(document)
        header, row = csv.reader(io.StringIO(target.getvalue(), newline=""))
        assert row == [
            text if raw else f"'{text}",
            "-1.5",
            "-2.50",
            json.dumps([text], ensure_ascii=False),
            f"a{first}",
            "1",
        ]
        assert header[-1] == (f"{first}f" if raw else f"'{first}f")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_defused_text_differs_by_one_sign_at_most(text: str) -> None:
    target = io.StringIO(newline="")
    Csv(target, ["a"]).write({"a": text})
    _, (cell,) = csv.reader(io.StringIO(target.getvalue(), newline=""))
    assert cell in {text, f"'{text}"}
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.dictionaries(st.text("abc", min_size=1), st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_any_text_survives_csv(document: dict[str, str]) -> None:
    target = io.StringIO(newline="")
    Csv(target, list(document), raw=True).write(document)
    _, row = csv.reader(io.StringIO(target.getvalue(), newline=""))
    assert row == list(document.values())
