"""What properties of schema.org items say: texts, names of things, identifiers, whatever form they are stated in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Node: TypeAlias = Mapping[str, Any]


def breadcrumbs(node: Node) -> list[str]:
    """The names of a BreadcrumbList in the order of their positions, if all have one."""
    entries = node.get("itemListElement")
    entries = entries if isinstance(entries, list) else [entries]
    named = [
        (str(entry.get("position") or ""), name_of(entry.get("name")) or name_of(entry.get("item")))
        for entry in entries
        if isinstance(entry, dict)
    ]
    if all(position.isdecimal() and len(position) < 4 for position, _ in named):
        named.sort(key=lambda pair: int(pair[0]))
    return [name for _, name in named if name]


def name_of(value: Any) -> str | None:
    """A text, or the name of a Thing, or the first of a list of them."""
    value = first(value)
    if isinstance(value, dict):
        value = first(value.get("name") or value.get("@value"))
    return value if isinstance(value, str) and value.strip() else None


def image_of(value: Any) -> str | None:
    """The URL of an image, or of the first of several."""
    value = first(value)
    if isinstance(value, dict):
        value = first(value.get("contentUrl") or value.get("url") or value.get("@id"))
    return value if isinstance(value, str) else None


def category_of(value: Any) -> str | None:
    """A category's name; those of several as a trail."""
    if isinstance(value, list):
        return " > ".join(name for entry in value if (name := name_of(entry))) or None
    return name_of(value)


def identifier(*values: Any) -> str | None:
    """The first of *values* that has an identifier, plain or as a PropertyValue."""
    for value in map(first, values):
        plain = value.get("value") if isinstance(value, dict) else value
        if isinstance(plain, (str, int)) and str(plain).strip():
            return str(plain).removeprefix("sku:")
    return None


def gtins(node: Node) -> Iterator[Any]:
    """What its properties for GTINs state, the most frequent first."""
    for key in ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "isbn", "ean"):
        if value := first(node.get(key)):
            yield value


def first(value: Any) -> Any:
    """*value*, or of a list the first entry that says anything."""
    while isinstance(value, list):
        value = next((entry for entry in value if entry), None)
    return value
