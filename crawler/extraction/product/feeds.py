"""Products of XML feeds (RSS or Atom with `g:` fields), one by one while the feed is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from xml.parsers import expat

from crawler.extraction.product.draft import Draft
from crawler.extraction.tree.document import Document
from crawler.items import ProductItem
from crawler.policy.rules.domain_values import FieldRule
from crawler.policy.rules.domains import DomainRules
from crawler.urls import same_site

CHUNK: Final = 32_768  # characters parsed at a time
MAX_STILL: Final = 32  # most chunks of one tag
MAX_BARREN: Final = 5_000  # elements without a product: while none comes, nobody else has a turn
MAX_DEPTH: Final = 64  # levels of nested elements
MAX_VALUES: Final = 300  # values of one product
MAX_TEXT: Final = 20_000  # characters of one value
MAX_LINKS: Final = 200_000  # remembered links, to tell products that share one apart

_START = re.compile(r"\ufeff?\s*<(?:\?xml\b|rss\b|feed\b|rdf:)", re.IGNORECASE)
_ITEMS: Final = ("item", "entry")
_LINKS: Final = ("g:link", "link", "link/@href", "g:mobile_link")
# Where fields without a rule are.
_FIELDS: Final = {
    "title": ("g:title", "title"),
    "price": ("g:sale_price", "g:price"),
    "currency": ("g:sale_price", "g:price"),
    "availability": ("g:availability",),
    "sku": ("g:id",),
    "gtin": ("g:gtin",),
    "brand": ("g:brand",),
    "image": ("g:image_link",),
    "description": ("g:description", "description", "summary"),
    "category": ("g:product_type", "g:google_product_category"),
}


class _RefusedError(Exception):
    """Something that no feed needs and that may be harmful; the message says what."""


class Feed:
    """The products of the feed in *document*, by the `xml` rules of its domain; the other fields have their `g:` names.

    Reads as it is iterated, once, holding one product in memory. Never raises: if a feed is broken or declares
    entities, the products before that count, and `broken` says why and where. A product's URL is its link, if that is
    within the feed's own site; otherwise, or if two share a link, its identifier is its key.
    """

    def __init__(self, document: Document, rules: DomainRules) -> None:
        self.document = document
        self.rules = rules
        self.broken = ""
        self._links: set[str] = set()

    def __iter__(self) -> Iterator[ProductItem]:
        reader, text = _Reader(), self.document.html
        begin = max(text.find("<"), 0)  # no parser takes blank lines before an XML declaration
        try:
            for start in range(begin, len(text), CHUNK):
                reader.feed(text[start : start + CHUNK])
                for item in self._items(reader):
                    reader.barren = 0
                    yield item
            reader.close()
        except (expat.ExpatError, _RefusedError) as error:
            yield from self._items(reader)
            line = reader.line + text.count("\n", 0, begin)
            self.broken = f"{error} (line {line})"

    def _items(self, reader: _Reader) -> Iterator[ProductItem]:
        found, reader.found = reader.found, []
        yield from (item for values in found if (item := self._item(values)) is not None)

    def _item(self, values: dict[str, str]) -> ProductItem | None:
        draft = Draft(self.document)
        rules = {name: self._ruled(choices, values) for name, choices in self.rules.fields.items()}
        draft.fill({name: value for name, value in rules.items() if value}, "rule")
        draft.fill({name: _first(values, keys) for name, keys in _FIELDS.items()}, "feed")
        if draft.lacks("title"):
            return None
        item = draft.item()
        link = self.document.absolute(_first(values, _LINKS))
        own = link is not None and same_site(link, self.document.url) and link not in self._links
        if link is not None and own and len(self._links) < MAX_LINKS:
            self._links.add(link)
        item.url = link if link is not None and own else self.document.url
        item.key = "" if own else item.sku or item.gtin or item.title or ""
        return item

    @staticmethod
    def _ruled(choices: tuple[FieldRule, ...], values: dict[str, str]) -> str | None:
        for rule in choices:
            text = rule.value if rule.value is not None else rule.part(values.get(rule.xml, "")) if rule.xml else ""
            if text.strip():
                return text
        return None


def is_feed(text: str, rules: DomainRules) -> bool:
    """Whether *text* starts like XML, on a domain with `xml` rules."""
    ruled = any(rule.xml is not None for choices in rules.fields.values() for rule in choices)
    return ruled and _START.match(text) is not None


class _Reader:
    """Collects each item's values in `found`: path below the item -> its first text."""

    def __init__(self) -> None:
        self.found: list[dict[str, str]] = []
        self._path: list[str] = []
        self._item: dict[str, str] | None = None
        self._base = 0  # depth of the current item
        self._texts: list[str] = []
        self._size = 0
        self._still = self._place = 0
        self.barren = 0  # elements since the last product was found
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._open
        parser.EndElementHandler = self._close
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._refuse

    @property
    def line(self) -> int:
        """The parser's line."""
        return self._parser.CurrentLineNumber

    def feed(self, text: str) -> None:
        """Parse *text*; raises ExpatError, _RefusedError."""
        if self.barren > MAX_BARREN:
            raise _RefusedError(f"more than {MAX_BARREN:,} elements without a product")
        self._parser.Parse(text.encode("utf-8", "replace"), False)
        place = self._parser.CurrentByteIndex
        self._still = self._still + 1 if place == self._place else 0
        self._place = place
        if self._still > MAX_STILL:
            raise _RefusedError("an unterminated tag")

    def close(self) -> None:
        """End the feed; raises ExpatError if it is incomplete."""
        self._parser.Parse(b"", True)

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        self.barren += 1
        self._path.append(name)
        if len(self._path) > MAX_DEPTH:
            raise _RefusedError(f"elements nested deeper than {MAX_DEPTH}")
        if self._item is None:
            if name in _ITEMS:
                self._item, self._base = {}, len(self._path)
        elif name != "link" or attributes.get("rel", "alternate") == "alternate":  # not Atom's link to the feed
            for key, value in attributes.items():
                self._keep(f"{self._below()}/@{key}", value)
        self._texts, self._size = [], 0

    def _close(self, name: str) -> None:
        if self._item is not None:
            if len(self._path) == self._base:
                self.found.append(self._item)
                self._item = None
            else:
                self._keep(self._below(), "".join(self._texts))
        self._texts, self._size = [], 0
        self._path.pop()

    def _text(self, text: str) -> None:
        if self._item is not None and self._size < MAX_TEXT:
            self._texts.append(text[:MAX_TEXT])
            self._size += len(text)

    def _below(self) -> str:
        return "/".join(self._path[self._base :])

    def _keep(self, path: str, value: str) -> None:
        if self._item is not None and value.strip() and len(self._item) < MAX_VALUES:
            self._item.setdefault(path, value.strip()[:MAX_TEXT])

    def _refuse(self, *declared: Any) -> None:
        raise _RefusedError(f"it declares the entity {str(declared[0])[:80]!r}, which no feed needs")


def _first(values: dict[str, str], keys: tuple[str, ...]) -> str | None:
    return next((values[key] for key in keys if values.get(key)), None)
