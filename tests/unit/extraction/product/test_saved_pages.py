"""Real product pages with known values: `PAGES=DIR pytest` (the folder that `make extraction` reads)."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import pytest

from crawler.extraction import extract_product
from demo import scoring

FOLDER = Path(os.environ.get("PAGES") or "no-saved-pages")
LEAST = {"price": 0.95, "currency": 0.90, "availability": 0.95, "sku": 0.92, "brand": 0.82}


@pytest.fixture(scope="module")
def scores() -> dict[str, float]:
    """F1 by field."""
    if not (FOLDER / "truth.json").is_file():
        pytest.skip("no saved pages: PAGES names no folder with truth.json")
    pairs = []
    for page in scoring.load(FOLDER):
        item = extract_product(page.html, page.url)
        pairs.append((page.accepted, asdict(item) if item is not None else None))
    return {score.field: score.f1 for score in scoring.compare(pairs)}


@pytest.mark.parametrize("field", LEAST)
def test_fields_are_right_on_real_pages(scores: dict[str, float], field: str) -> None:
    assert scores[field] >= LEAST[field]
