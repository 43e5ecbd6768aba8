"""How a browser displays elements: as blocks, in lines, images or not at all; by their numbers in a tree, for speed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from crawler.extraction.content.marks import BITS, TAGS

BLOCK, KEPT, INLINE, IMAGE, UNSEEN = range(5)
_LAZY: Final = ("data-src", "data-lazy-src", "data-original")  # where a script takes an image's URL from


class Layout(NamedTuple):
    """`name` is what an inline element becomes; `bits` are those of its tag (marks.py)."""

    manner: int  # BLOCK ... UNSEEN
    name: str
    bits: int


_UNSEEN: Final = str.split(
    """
    script style template svg head iframe object embed canvas video audio map datalist math link meta title base
    source track param col colgroup textarea noembed noframes
    """
)
_BLOCKS: Final = str.split(
    """
    noscript address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html label legend li main menu nav ol optgroup
    option p pre search section select summary table tbody td tfoot th thead tr ul
    """
)
_KEPT: Final = {"a": "a", "code": "code", "kbd": "code", "b": "strong", "strong": "strong", "i": "em", "em": "em"}

_SAMPLE: Final = LexborHTMLParser("<body>text<!--comment-->")


def _by_number(manner: int, names: Mapping[str, str]) -> dict[int, Layout]:
    bits = {tag: BITS[tag] if tag in TAGS else 0 for tag in names}
    return {_SAMPLE.create_node(tag).tag_id: Layout(manner, name, bits[tag]) for tag, name in names.items()}


def _same(tags: Iterable[str]) -> dict[str, str]:
    return {tag: tag for tag in tags}


def _numbers() -> list[int]:
    body = _SAMPLE.body
    return [node.tag_id for node in body.traverse(include_text=True)] if body is not None else []


TEXT: Final = _numbers()[1]
LAYOUT: Final = {
    **_by_number(BLOCK, _same(_BLOCKS)),
    **_by_number(KEPT, _KEPT),
    **_by_number(IMAGE, _same(("img",))),
    **_by_number(UNSEEN, _same(_UNSEEN)),
    _numbers()[2]: Layout(UNSEEN, "", 0),  # comments
}
OTHER: Final = Layout(INLINE, "", 0)  # of elements that are not in LAYOUT


def source_of(attributes: Mapping[str, str | None]) -> str:
    """The URL of an image, also of one that a script loads once it is in sight; then `src` is a placeholder."""
    for name in _LAZY:
        if source := attributes.get(name):
            return source
    source = attributes.get("src") or ""
    if source and not source.startswith("data:"):
        return source
    several = (attributes.get("srcset") or attributes.get("data-srcset") or "").split(maxsplit=1)
    return several[0].rstrip(",") if several else source
