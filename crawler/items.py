"""What spiders yield and storage keeps: typed dataclasses, accessed through itemadapter."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar


class Hashed:
    """Room on an item for the hash of its content, which several pipelines need."""

    __slots__ = ("_hashed",)
    _hashed: tuple[tuple[Any, ...], str]

    def keep_hash(self, values: tuple[Any, ...], digest: str) -> None:
        """Keep *digest*, computed from the immutable *values*."""
        self._hashed = (values, digest)

    def kept_hash(self, values: tuple[Any, ...]) -> str | None:
        """The digest kept for exactly these objects; None if one was replaced since."""
        known: tuple[tuple[Any, ...], str] | None = getattr(self, "_hashed", None)
        return known[1] if known is not None and all(map(operator.is_, known[0], values)) else None


@dataclass(slots=True, kw_only=True)
class Item(Hashed):
    """The fields that every item has besides its own.

    `url` is the page's canonical URL, `key` tells several items of one page apart (empty for one per page): with
    `collection` they identify the stored document.
    """

    collection: ClassVar[str]

    url: str
    key: str = ""
    fetched_at: datetime | None = None  # aware, UTC; set when the request was leased
    source: dict[str, Any] = field(default_factory=dict)  # spider, worker, request_id, tier
    issues: list[str] = field(default_factory=list)  # names of validation warnings, e.g. suspicious_price


@dataclass(slots=True, kw_only=True)
class ProductItem(Item):
    """One product offer as stated by a page; a field that the page does not state is None."""

    collection: ClassVar[str] = "products"

    title: str | None = None
    price: Decimal | None = None
    currency: str | None = None  # ISO 4217
    availability: str | None = None  # schema.org ItemAvailability without its prefix: InStock, OutOfStock ...
    sku: str | None = None
    gtin: str | None = None
    brand: str | None = None
    rating: float | None = None  # on the page's own scale normalised to 0..5
    review_count: int | None = None
    image: str | None = None  # absolute URL
    description: str | None = None
    category: str | None = None  # "Home > Kitchen > Knives"
    found_in: dict[str, str] = field(default_factory=dict)  # field -> rule, json-ld, html, state ...


@dataclass(slots=True, kw_only=True)
class PageItem(Item):
    """One page of any kind: its main text and metadata."""

    collection: ClassVar[str] = "pages"

    title: str | None = None
    text: str | None = None  # a line for each paragraph, heading, item or row
    markdown: str | None = None  # the same with headings, lists, tables, links and code
    links: list[str] | None = None  # absolute URLs in the main text; None if not requested
    images: list[str] | None = None
    published_at: datetime | None = None
    author: str | None = None
    language: str | None = None  # ISO 639: `de`, `fil`
    metadata: dict[str, Any] = field(default_factory=dict)
