"""Which of several elements belong to the entries of a list, each with an author and a date of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborNode

from crawler.extraction.content.passages import Passage
from crawler.extraction.tree.nodetext import around, tag_ids, text_of

MANY: Final = 3  # elements that are named alike are those of entries

_LONGEST: Final = 200  # characters
_LEVELS: Final = 3  # of elements whose names are compared
_ENOUGH: Final = 60  # elements that are looked at in one: an entry with more says more than enough
_SAID: Final = tag_ids("a p h1 h2 h3 h4 h5 h6")  # what an entry has beside its author and date
_NEAR_TERM: Final = 8  # texts and elements between a term and what is said of it
_LABEL: Final = 30  # characters of a label: `Last reviewed:`


def without_entries(nodes: Sequence[LexborNode]) -> list[LexborNode]:
    """*nodes* without those of MANY entries that have the same names, by their class and those around them.

    Several in one entry are its own: its authors, the days when it was published, changed and reviewed.
    """
    if len(nodes) < MANY:
        return [*nodes]
    places = [_place(node) for node in nodes]
    entries = defaultdict[object, set[int]](set)
    for node, place in zip(nodes, places, strict=True):
        entries[place].add(_entry(node))
    return [node for node, place in zip(nodes, places, strict=True) if len(entries[place]) < MANY]


def _place(node: LexborNode) -> tuple[tuple[str | None, str | None], ...]:
    return tuple((each.tag, each.attributes.get("class")) for each in islice(around(node), _LEVELS))


def _entry(node: LexborNode) -> int:
    """The identity of the innermost element, of the next _LEVELS, that says more than *node* and a label."""
    said, size = _said(node), len(text_of(node, _LONGEST))
    entry = node.mem_id
    for each in around(node, _LEVELS):
        if (term := _term(each)) is not None:
            return term.mem_id
        if each.mem_id == node.mem_id:
            continue
        entry = each.mem_id
        said += each.tag_id in _SAID
        more = len(text_of(each, _LONGEST)) - size
        if _said(each) > said or more > (_LABEL if each.tag != "a" else 0):
            break
    return entry


def _term(node: LexborNode) -> LexborNode | None:
    """The term that *node* is, or that it explains if that links to a page: others are labels."""
    if node.tag != "dd":
        return node if node.tag == "dt" else None
    before = node.prev
    for _ in range(_NEAR_TERM):
        if before is None or before.tag == "dt":
            break
        before = before.prev
    return before if before is not None and before.tag == "dt" and before.css_first("a[href]") is not None else None


def _said(node: LexborNode) -> int:
    elements = [*islice(node.traverse(), _ENOUGH)]
    return sum(each.tag_id in _SAID for each in elements) if len(elements) < _ENOUGH else _ENOUGH


def place_of(passage: Passage) -> tuple[int, int, str, int]:
    """Where *passage* stands: those of one place are alike."""
    return passage.around, passage.own, passage.box.tag, passage.box.depth
