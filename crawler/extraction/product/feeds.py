"""Products of XML feeds (RSS or Atom with `g:` fields), one by one while the feed is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from xml.parsers import expat

from crawler.extraction.product.draft import Draft
from crawler.extraction.product.namespaces import Namespaces, is_declaration
from crawler.extraction.tree.document import Document
from crawler.items import ProductItem
from crawler.policy.rules.domain_values import FieldRule
from crawler.policy.rules.domains import DomainRules
from crawler.urls import same_site

CHUNK: Final = 32_768  # characters parsed at a time
MAX_STILL: Final = 32  # most chunks of one tag
MAX_BARREN: Final = 5_000  # elements without a product: while none comes, nobody else has a turn
MAX_DEPTH: Final = 64  # levels of nested elements
MAX_NAME: Final = 200  # characters of an element's name: below it, each path repeats it
MAX_VALUES: Final = 300  # values of one product
MAX_TEXT: Final = 20_000  # characters of one value
MAX_LINKS: Final = 200_000  # remembered links, to tell products that share one apart

# What may stand before a root. Possessive: a prolog of any length is read once.
_PROLOG: Final = re.compile(r"\ufeff?(?:\s++|<!--.*?-->|<\?.*?\?>)*+", re.DOTALL)
_DECLARATION: Final = re.compile(r"<\?xml\s", re.IGNORECASE)
_ROOT: Final = re.compile(r"<(?:!doctype\s+)?(?:[\w.-]+:)?(?:rss|feed|rdf)\b", re.IGNORECASE)
_WEB_PAGE: Final = re.compile(r"<(?:!doctype\s+)?html\b", re.IGNORECASE)
_ITEMS: Final = ("item", "entry", "g:item", "g:entry")
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
    `g:` is Google's namespace, whatever prefix stands for it, else the prefix as written.

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
        begin = _beginning(text)
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
    """Whether *text* starts like a feed, or like XML that is no web page, on a domain with `xml` rules."""
    if not rules.names_elements() or (prolog := _PROLOG.match(text)) is None:
        return False
    if _DECLARATION.search(text, 0, prolog.end()):
        return _WEB_PAGE.match(text, prolog.end()) is None
    return _ROOT.match(text, prolog.end()) is not None


def _beginning(text: str) -> int:
    """Where its XML begins: no parser takes blank lines or comments before a declaration."""
    prolog = _PROLOG.match(text)
    declaration = _DECLARATION.search(text, 0, prolog.end() if prolog else 0)
    return declaration.start() if declaration else max(text.find("<"), 0)


class _Reader:
    """Collects each item's values in `found`: path below the item -> its first text. Paths as written count, too, after
    those with the prefixes that rules have."""

    def __init__(self) -> None:
        self.found: list[dict[str, str]] = []
        self._path: list[str] = []
        self._written: list[str] = []
        self._names = Namespaces()
        self._item: dict[str, str] | None = None
        self._aliases: dict[str, str] = {}  # of the item, as written
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
        parser.AttlistDeclHandler = self._refuse_default

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

    def _open(self, written: str, attributes: dict[str, str]) -> None:
        self.barren += 1
        if len(self._path) >= MAX_DEPTH or len(written) > MAX_NAME:
            raise _RefusedError(f"elements nested deeper than {MAX_DEPTH}, or with names longer than {MAX_NAME}")
        if attributes:
            self._declare(attributes)
        name = self._names.element(written) if self._names.rename else written
        self._path.append(name)
        self._written.append(written)
        if self._item is None:
            if name in _ITEMS:
                self._item, self._aliases, self._base = {}, {}, len(self._path)
        elif attributes and (name != "link" or attributes.get("rel", "alternate") == "alternate"):  # not to the feed
            self._keep_all(attributes)
        self._texts, self._size = [], 0

    def _declare(self, attributes: dict[str, str]) -> None:
        try:
            self._names.enter(len(self._path) + 1, attributes)
        except ValueError as error:
            raise _RefusedError(str(error)) from None

    def _close(self, _: str) -> None:
        depth = len(self._path)
        if self._item is not None:
            if depth == self._base:
                self.found.append({**self._aliases, **self._item} if self._aliases else self._item)
                self._item = None
            elif self._texts:
                self._keep("".join(self._texts))
        self._texts, self._size = [], 0
        if self._names.rename:
            self._names.leave(depth)
        self._path.pop()
        self._written.pop()

    def _text(self, text: str) -> None:
        if self._item is not None and self._size < MAX_TEXT:
            self._texts.append(text[:MAX_TEXT])
            self._size += len(text)

    def _keep_all(self, attributes: dict[str, str]) -> None:
        for key, value in attributes.items():
            if not is_declaration(key):
                self._keep(value, f"/@{key}", f"/@{self._names.attribute(key)}")

    def _keep(self, value: str, written: str = "", named: str = "") -> None:
        """Keep the *value* of the current element, or of its attribute by both its names."""
        if self._item is None or len(self._item) >= MAX_VALUES or not (value := value.strip()[:MAX_TEXT]):
            return
        path = "/".join(self._path[self._base :]) + named
        self._item.setdefault(path, value)
        if self._names.rename:
            alias = "/".join(self._written[self._base :]) + written
            if alias != path and len(self._aliases) < MAX_VALUES:
                self._aliases.setdefault(alias, value)

    def _refuse(self, *declared: Any) -> None:
        raise _RefusedError(f"it declares the entity {str(declared[0])[:80]!r}, which no feed needs")

    def _refuse_default(self, element: str, attribute: str, _kind: str, default: str | None, _required: int) -> None:
        if default is not None:  # each such element would get it, and there may be thousands
            raise _RefusedError(f"it declares that {element[:80]!r} has {attribute[:80]!r}, which no feed needs")


def _first(values: dict[str, str], keys: tuple[str, ...]) -> str | None:
    return next((values[key] for key in keys if values.get(key)), None)
