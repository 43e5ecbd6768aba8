"""How extraction is scored."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from benchmarks import extraction, extraction_cost
from crawler.extraction import extract_product
from demo import scoring
from tests.unit.extraction.shop import URL, json_ld, page


@pytest.mark.parametrize(
    ("field", "true", "value", "same"),
    [
        ("price", "229.99 ", Decimal("229.990"), True),
        ("price", "229.99", Decimal(229), False),
        ("price", "229.99", "n/a", False),
        ("currency", "$", "TWD", True),
        ("currency", "$", "EUR", False),
        ("currency", "€", "EUR", True),
        ("currency", "Lei", "RON", True),
        ("currency", "BRL", "BRL", True),
        ("sku", "Acme ", "Acme", True),
        ("sku", "123/4567", "1234567", False),
    ],
)
def test_what_counts_as_the_same(field: str, true: str, value: object, same: bool) -> None:
    assert scoring.same(field, true, value) is same


def test_micro_f1() -> None:
    truth = {"price": ["5"], "sku": ["A", "B"]}
    pairs: list[tuple[dict[str, list[str]], dict[str, Any] | None]] = [
        (truth, {"price": Decimal(5), "sku": "B"}),
        (truth, {"price": Decimal(6), "sku": None}),
        (truth, None),
        ({}, {"price": Decimal(7)}),
    ]
    price, sku = scoring.compare(pairs, ("price", "sku"))
    assert (price.right, price.wrong, price.missed) == (1, 2, 2)
    assert (price.precision, price.recall, price.f1) == (1 / 3, 1 / 3, 1 / 3)
    assert (sku.right, sku.wrong, sku.missed, sku.f1) == (1, 0, 2, 0.5)
    assert scoring.Score("gtin").f1 == scoring.Score("gtin").precision == scoring.Score("gtin").recall == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One saved page with its truth."""
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "a.html.gz").write_bytes(gzip.compress(page(json_ld()).encode()))
    truth = {"a.html.gz": {"url": URL, "price": ["1.00"], "currency": ["€"], "sku": ["KM-20451"]}}
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    return tmp_path


@pytest.mark.parametrize(("shown_only", "source"), [(False, "json-ld"), (True, "html")])
def test_the_benchmark_prints_scores_and_mistakes(folder: Path, shown_only: bool, source: str) -> None:
    with (folder / "out").open("w") as out:
        console = Console(file=out, width=120)
        extraction.run(scoring.load(folder), console, errors=True, shown_only=shown_only)
    text = (folder / "out").read_text()
    assert "precision" in text
    assert "price" in text
    assert "CPU per page" in text
    assert f"price: 49.90 ({source}), accepted ['1.00']" in text
    assert "sku: " not in text


def test_a_field_that_the_truth_has_as_null_is_not_stated() -> None:
    [score] = scoring.compare([({"sku": None}, {"sku": "K1"})], ["sku"])  # type: ignore[dict-item]
    assert (score.right, score.wrong, score.missed) == (0, 1, 0)


def test_a_folder_without_pages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"truth\.json"):
        scoring.load(tmp_path)


def test_the_synthetic_pages_state_one_product_in_three_ways() -> None:
    for name, html in extraction_cost.pages().items():
        item = extract_product(html, extraction_cost.URL)
        assert item is not None, name
        assert (item.price, item.currency, item.sku) == (Decimal("19.99"), "EUR", "KN-20451")
        assert extraction_cost.SIZE <= len(html) < extraction_cost.SIZE * 1.1
    assert extraction_cost.cost(lambda: None) < 1000
