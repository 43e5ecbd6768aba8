"""Compares stored documents with the truth: which products are lost, which documents are duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlsplit

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a crawl of the shops; perfect if nothing is lost or duplicated."""

    stored: tuple[Document, ...]  # a correct document for each true product that has one
    lost: tuple[str, ...]  # a line per missing or wrong product: its URL and why
    duplicated: tuple[str, ...]  # URL of each document beyond one per true product, including strays

    def perfect(self) -> bool:
        """Whether every product is stored correctly and once."""
        return not self.lost and not self.duplicated

    def line(self) -> str:
        """The last line of the demo."""
        stored, lost, duplicated = len(self.stored), len(self.lost), len(self.duplicated)
        return f"demo: {stored} products stored, {lost} lost, {duplicated} duplicated"


def score(truth: Mapping[str, Any], documents: Iterable[Document]) -> Score:
    """Score *documents* against the shops' *truth*.

    A document belongs to the product with its host and path name (in any case, under any path) or sku. A product that
    is no longer sold may keep one document from an earlier day.
    """
    products = {product["url"]: product for product in [*truth["retired"], *truth["products"]]}
    owner = {name: url for url, product in products.items() for name in _names(url, product["sku"])}
    found: dict[str, list[Document]] = {url: [] for url in products}
    strays: list[str] = []
    for document in documents:
        names = _names(document["url"], document.get("sku"))
        url = next((owner[name] for name in names if name in owner), None)
        found[url].append(document) if url else strays.append(document["url"])
    verdicts = {product["url"]: _verdict(product, found[product["url"]]) for product in truth["products"]}
    return Score(
        stored=tuple(found[url][0] for url, verdict in verdicts.items() if not verdict),
        lost=tuple(f"{url}: {verdict}" for url, verdict in verdicts.items() if verdict),
        duplicated=(*strays, *(extra["url"] for documents in found.values() for extra in documents[1:])),
    )


def _names(url: str, sku: str | None) -> list[tuple[str, str]]:
    parts = urlsplit(url)
    host, last = parts.hostname or "", parts.path.rstrip("/").rsplit("/", 1)[-1].lower()
    return [(host, last), (host, sku or last)]


def _verdict(product: Document, documents: list[Document]) -> str:
    """Why none of *documents* is the product, or ""; the right one is moved to the front."""
    documents.sort(key=lambda document: bool(_faults(product, document)))
    return _faults(product, documents[0]) if documents else "absent"


def _faults(product: Document, document: Document) -> str:
    wrong = [
        f"{name} is {document.get(name)!s}, not {product[name]}"
        for name in ("url", "title", "currency")
        if document.get(name) != product[name]
    ]
    if _decimal(document.get("price")) != Decimal(product["price"]):
        wrong.append(f"price is {document.get('price')!s}, not {product['price']}")
    return "; ".join(wrong)


def _decimal(value: object) -> Decimal | None:
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None
