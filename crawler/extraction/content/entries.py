"""Which of several elements belong to the entries of a list, each with an author and a date of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborNode

from crawler.extraction.content.passages import Passage
from crawler.extraction.tree.nodetext import around

MANY: Final = 3  # elements that are named alike are those of entries

_LEVELS: Final = 3  # of elements whose names are compared


def without_entries(nodes: Sequence[LexborNode]) -> list[LexborNode]:
    """*nodes* without those of which MANY have the same names, by their class and those around them."""
    places = [_place(node) for node in nodes] if len(nodes) >= MANY else []
    many = Counter(places)
    return [node for node, place in zip(nodes, places, strict=True) if many[place] < MANY] if places else [*nodes]


def _place(node: LexborNode) -> tuple[tuple[str | None, str | None], ...]:
    return tuple((each.tag, each.attributes.get("class")) for each in islice(around(node), _LEVELS))


def place_of(passage: Passage) -> tuple[int, int, str, int]:
    """Where *passage* stands: those of one place are alike."""
    return passage.around, passage.own, passage.box.tag, passage.box.depth
