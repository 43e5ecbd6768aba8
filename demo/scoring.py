"""Scores extracted products: precision, recall and F1 per field against true values.

`load(folder)` reads saved pages, `compare(truth, predictions)` scores them, `table(scores)` prints the result.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from crawler.commands.views.tables import narrow_table

FIELDS: Final = ("price", "currency", "availability", "sku", "gtin", "brand")  # the fields of the truth

# The currency codes of raw symbols; any other truth is the code itself.
_SYMBOLS: Final = {
    "€": ("EUR",), "£": ("GBP",), "₽": ("RUB",), "руб": ("RUB",), "zł": ("PLN",), "lei": ("RON",),
    "¥": ("JPY", "CNY"), "₹": ("INR",), "₪": ("ILS",), "kr": ("SEK", "NOK", "DKK"), "kč": ("CZK",), "r$": ("BRL",),
    "ft": ("HUF",), "₴": ("UAH",), "₺": ("TRY",), "₩": ("KRW",), "฿": ("THB",), "chf": ("CHF",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Page:
    """One saved page: its file, its URL, its source, and the accepted values of each field the page states."""

    name: str
    url: str
    html: bytes
    accepted: dict[str, list[str]]


@dataclass(slots=True)
class Score:
    """Counts for one field. A wrong value is a false positive, and also a false negative if the page states one."""

    field: str
    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 0.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 0.0

    @property
    def f1(self) -> float:
        total = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / total if total else 0.0


def load(folder: Path) -> list[Page]:
    """The pages of *folder*: `truth.json` and `html/*.html.gz`. Raises OSError, ValueError on a bad folder."""
    truth: dict[str, dict[str, Any]] = json.loads((folder / "truth.json").read_text("utf-8"))
    return [
        Page(name, entry["url"], _read(folder / "html" / name), {k: v for k, v in entry.items() if k != "url"})
        for name, entry in sorted(truth.items())
    ]


def compare(
    truth: Iterable[tuple[Mapping[str, Sequence[str]], Mapping[str, Any] | None]], fields: Sequence[str] = FIELDS
) -> list[Score]:
    """Scores of pairs (accepted values of a page, its item's fields; None if nothing was extracted)."""
    scores = [Score(field) for field in fields]
    for accepted, item in truth:
        for score in scores:
            count(score, accepted.get(score.field) or (), (item or {}).get(score.field))
    return scores


def count(score: Score, accepted: Sequence[str], value: Any) -> None:
    """Add one page's *value* to *score*."""
    if value is not None and any(same(score.field, true, value) for true in accepted):
        score.right += 1
        return
    score.wrong += value is not None
    score.missed += bool(accepted)


def same(field: str, true: str, value: Any) -> bool:
    """Whether *value* means the *true* one: prices as numbers, a currency by symbol or code, else equal text."""
    true, given = true.strip(), str(value).strip()
    if field == "price":
        return _decimal(true) is not None and _decimal(true) == _decimal(given)
    if field == "currency":
        code = given.upper()
        if true == "$":
            return code.endswith("D")
        return code == true.upper() or code in _SYMBOLS.get(true.lower().rstrip("."), ())
    return true == given


def table(scores: Iterable[Score], title: str) -> Table:
    """The scores as a table for a terminal."""
    shown = narrow_table(title, ["field"], ["right", "wrong", "missed", "precision", "recall", "F1"])
    for score in scores:
        ratios = (f"{ratio:.3f}" for ratio in (score.precision, score.recall, score.f1))
        shown.add_row(score.field, str(score.right), str(score.wrong), str(score.missed), *ratios)
    return shown


def _read(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def _decimal(raw: str) -> Decimal | None:
    try:
        return Decimal(raw)
    except InvalidOperation:
        return None
