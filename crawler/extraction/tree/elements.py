"""The elements that several readers of a page ask for, found in one walk over its tree: each walk costs a tenth of a
parse, and more on large pages, whichever elements it looks for."""

from __future__ import annotations

from typing import Final, NamedTuple

from selectolax.lexbor import LexborNode

from crawler.extraction.tree.document import Document
from crawler.extraction.tree.nodetext import tag_ids

MOST: Final = 50_000  # elements read; real pages have some thousands
_WANTED: Final = "h1,[itemscope],[itemprop],[typeof]"
_H1: Final = tag_ids("h1")


class Elements(NamedTuple):
    """All in document order, each once."""

    h1s: list[LexborNode]
    microdata: list[tuple[LexborNode, dict[str, str | None]]]  # with itemscope or itemprop, if there is an itemscope
    has_rdfa: bool


def of(document: Document) -> Elements:
    """Those of *document*, found once; it is parsed."""
    return document.once(_found)


def _found(document: Document) -> Elements:
    h1s: list[LexborNode] = []
    marked: list[tuple[LexborNode, dict[str, str | None]]] = []
    has_items = has_rdfa = False
    last = 0
    for node in document.tree.css(_WANTED)[:MOST]:
        identity = node.mem_id
        if identity == last:  # once for each selector that it matches
            continue
        last, tag, attributes = identity, node.tag_id, node.attributes
        if tag in _H1:
            h1s.append(node)
        has_items = has_items or "itemscope" in attributes
        has_rdfa = has_rdfa or "typeof" in attributes
        marked.append((node, attributes))
    return Elements(h1s, marked if has_items else [], has_rdfa)
