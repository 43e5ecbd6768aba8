"""References in structured data: a property that only names another node of the page, replaced by that node.

`"brand": {"@id": "#organization"}` is written where the organization is described once for the whole page.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final

MAX_NODES: Final = 20_000  # objects of a page that are looked through
MAX_COPIED: Final = 2_000  # objects of one product, with those referred to
MAX_DEPTH: Final = 4  # a group's variant, its offers, their offers, their specification
# Properties whose objects are read.
_FOLLOWED: Final = frozenset(
    ("brand", "manufacturer", "offers", "hasVariant", "priceSpecification", "aggregateRating", "image")
)
_BARE: Final = frozenset(("@id", "@type"))

Node = Mapping[str, Any]


def resolved(node: Node, items: Iterable[Any]) -> Node:
    """*node* with what its properties refer to among *items*, the page's structured data; itself if it refers to
    nothing.

    References are followed to a depth of four properties and in 2,000 objects, so that circles end; one that leads
    nowhere stays. Known weakness: `#brand` and the same as a whole URL are not taken for one.
    """
    if not any(map(_refers, _values(node))):
        return node
    return _Page(items).resolved(node, MAX_DEPTH)


class _Page:
    """The nodes of a page by their id: of several the outermost, first one that says more than its type."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._known: dict[str, Node] = {}
        self._left = MAX_COPIED
        queue = deque(items)
        for _ in range(MAX_NODES):
            if not queue:
                break
            value = queue.popleft()
            if isinstance(value, dict):
                name = value.get("@id")
                if isinstance(name, str) and not value.keys() <= _BARE:
                    self._known.setdefault(name, value)
                queue.extend(each for each in value.values() if isinstance(each, (dict, list)))
            elif isinstance(value, list):
                queue.extend(value[:MAX_NODES])

    def resolved(self, node: Node, depth: int) -> Node:
        if not depth or not self._left:
            return node
        return {key: self._value(value, depth) if key in _FOLLOWED else value for key, value in node.items()}

    def _value(self, value: Any, depth: int) -> Any:
        """Lists are cut where the room ends: as they are, they would be read as often as somebody refers to them."""
        entries = value[: self._left] if isinstance(value, list) else [value]
        self._left = max(0, self._left - len(entries))
        copied = [self._object(each, depth) for each in entries]
        return copied if isinstance(value, list) else copied[0]

    def _object(self, value: Any, depth: int) -> Any:
        if not isinstance(value, dict):
            return value
        if _is_reference(value):
            if depth == 1 or not self._left:
                return value
            value = self._known.get(value["@id"], value)
        return self.resolved(value, depth - 1)


def _values(node: Node) -> Iterable[Any]:
    return (value for key, value in node.items() if key in _FOLLOWED)


def _refers(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether *value*, or what is read of it, is a reference; of lists the first entries are looked at."""
    if isinstance(value, list):
        return any(_refers(each, depth - 1) for each in value[:MAX_DEPTH]) if depth else False
    if not isinstance(value, dict) or not depth:
        return False
    return _is_reference(value) or any(_refers(each, depth - 1) for each in _values(value))


def _is_reference(value: Node) -> bool:
    return isinstance(value.get("@id"), str) and value.keys() <= _BARE
