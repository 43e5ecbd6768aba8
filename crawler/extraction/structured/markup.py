"""Microdata and RDFa as the same nested dicts that JSON-LD yields."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from selectolax.lexbor import LexborNode

from crawler.extraction.tree import elements
from crawler.extraction.tree.document import Document
from crawler.extraction.tree.nodetext import LONG, price_text, text_of
from crawler.extraction.words.url_identifiers import PUNCTUATION

MAX_ELEMENTS = 6_000  # with a property or type, per page
MAX_LONG = 150  # texts of several nodes that are read at length: properties may be nested
MAX_SHORT = 100  # characters of further ones
MAX_NAMES = 20  # properties of one element
MAX_PRICE = 200  # characters of an element with a price
MAX_INSIDE = 20  # elements in one without a text, of which an image names it
MAX_DEPTH = 256  # parents climbed to find the item that a property belongs to

_LINKS: Final = {"a": "href", "link": "href", "area": "href", "img": "src", "source": "src", "iframe": "src"}
_VALUES: Final = {"time": "datetime", "data": "value", "meter": "value", "input": "value", "object": "data"}
# Properties whose link is the value; for others the link is only the target of the text.
_URLS: Final = frozenset(("url", "image", "availability", "itemCondition", "item", "logo", "thumbnailUrl"))
# Properties that are names, also where the element is a link or an image: then it is not the value.
_NAMES: Final = frozenset(("brand", "manufacturer"))
_ALIASES: Final = {
    "offerDetails": "offers",
    "currency": "priceCurrency",
    "photo": "image",
    "review": "reviews",
}


@dataclass(frozen=True, slots=True)
class Syntax:
    """The attributes by which a syntax marks an item, its type and its properties."""

    name: str
    item: str
    kind: str
    prop: str
    signs: tuple[str, str]  # in the source of a page with items
    types: re.Pattern[str]  # what its source states as a type


MICRODATA: Final = Syntax(
    "microdata",
    item="itemscope",
    kind="itemtype",
    prop="itemprop",
    signs=("itemscope", "itemprop="),
    types=re.compile(r"itemtype\s*+=\s*+[\"']?+([^\"'>]*+)"),
)
RDFA: Final = Syntax(
    "rdfa",
    item="typeof",
    kind="typeof",
    prop="property",
    signs=("typeof=", "property="),
    types=re.compile(r"typeof\s*+=\s*+[\"']?+([^\"'>]*+)"),
)


def items(document: Document, syntax: Syntax) -> list[dict[str, Any]]:
    """The top-level items of the page in *syntax*, in document order.

    Known weakness: `itemref` is not followed; a property belongs to the nearest enclosing item.
    """
    if not document.has_tree and not all(sign in document.markup for sign in syntax.signs):
        return []
    top: list[dict[str, Any]] = []
    known: dict[int, dict[str, Any] | None] = {}
    texts = _Texts()
    shared: set[int] = set()  # items that have several names, and what is in them
    for node, attributes in islice(_marked(document, syntax), MAX_ELEMENTS):
        item: dict[str, Any] | None = None
        if syntax.item in attributes:
            item = known[node.mem_id] = {"@type": (attributes.get(syntax.kind) or "").split()}
        owner = _owner(node, known) if known else None
        names = (attributes.get(syntax.prop) or "").split(None, MAX_NAMES)[:MAX_NAMES]
        if owner is None or not names:
            if item is not None:
                top.append(item)
            continue
        if item is not None:
            names = names[:1] if id(owner) in shared else names  # else paths into it double with each level
            if len(names) > 1 or id(owner) in shared:
                shared.add(id(item))
        for name in names:
            plain = _plain(name)
            _add(owner, plain, item if item is not None else _value(node, attributes, plain, texts))
    return top


def has_type(document: Document, syntax: Syntax, wanted: Collection[str]) -> bool:
    """Whether the page's source may state an item of one of the *wanted* types, which are in lower case."""
    if syntax.kind not in document.markup:  # found in half the time that the expression takes
        return False
    stated = {each for written in syntax.types.findall(document.markup) for each in written.lower().split()}
    return any(_plain(each) in wanted for each in stated)


class _Texts:
    """The texts of one page's properties; only so many long ones."""

    def __init__(self) -> None:
        self._left = MAX_LONG

    def of(self, node: LexborNode) -> str:
        """The text of *node*."""
        limit = LONG if self._left > 0 else MAX_SHORT
        only = node.first_child
        self._left -= only is not None and only.next is not None
        return text_of(node, limit)


def _marked(document: Document, syntax: Syntax) -> list[tuple[LexborNode, dict[str, str | None]]]:
    """The elements with its attributes, each once, if there is an item."""
    found = elements.of(document)
    if syntax is MICRODATA:
        return found.microdata
    if not found.has_rdfa:
        return []
    nodes = {node.mem_id: node for node in document.tree.css(f"[{syntax.item}],[{syntax.prop}]")}
    return [(node, node.attributes) for node in nodes.values()]


def _owner(node: LexborNode, known: dict[int, dict[str, Any] | None]) -> dict[str, Any] | None:
    """The nearest item around *node*. *known*: that of each element which was asked already, and items themselves."""
    passed: list[int] = []
    owner: dict[str, Any] | None = None
    parent = node.parent
    while parent is not None and len(passed) < MAX_DEPTH:
        identity = parent.mem_id
        if identity in known:
            owner = known[identity]
            break
        passed.append(identity)
        parent = parent.parent
    known.update(dict.fromkeys(passed, owner))
    return owner


def _plain(name: str) -> str:
    """`schema:name`, `http://schema.org/name` -> `name`."""
    if not name.isalnum():
        name = re.split(r"[/#:]", name)[-1]
    return _ALIASES.get(name, name)


def _add(item: dict[str, Any], name: str, value: Any) -> None:
    if value is None or value == "":
        return
    if name not in item:
        item[name] = value
    elif isinstance(item[name], list):
        item[name].append(value)
    else:
        item[name] = [item[name], value]


def _value(node: LexborNode, attributes: dict[str, str | None], name: str, texts: _Texts) -> str | None:
    tag = node.tag or ""
    if content := attributes.get("content"):
        return _as_shown(node, content) if name == "sku" else content
    if name in _NAMES:
        return texts.of(node) or _name_shown(node)
    if tag == "img":
        return attributes.get("data-src") or attributes.get("src")
    if tag in _VALUES and attributes.get(_VALUES[tag]):
        return attributes[_VALUES[tag]]
    if tag in _LINKS and (name in _URLS or tag == "link"):
        return attributes.get(_LINKS[tag])
    is_price = "price" in name.lower()
    return price_text(node, MAX_PRICE) if is_price else texts.of(node) or attributes.get("href")


def _as_shown(node: LexborNode, identifier: str) -> str:
    """*identifier* as the text of *node* writes it: 4667999 as `466/7999`."""
    shown = text_of(node, MAX_SHORT)
    return shown if PUNCTUATION.sub("", shown) == PUNCTUATION.sub("", identifier) else identifier


def _name_shown(node: LexborNode) -> str | None:
    """What an element without a text, or the image in it, is called: `<a title=Acme>`, `<a><img alt=Acme></a>`."""
    inside = islice(node.traverse(), MAX_INSIDE)
    alts = (each.attributes.get("alt") for each in inside if each.tag == "img")
    return next(filter(None, alts), None) or node.attributes.get("title")
