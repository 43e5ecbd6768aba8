"""How a browser displays elements: as blocks, in lines, images or not at all; by their numbers in a tree, for speed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.extraction.content.marks import BITS, TAGS

BLOCK, KEPT, INLINE, IMAGE, UNSEEN = range(5)
# Where a script takes an image's URL from, and the URLs of several sizes.
_LAZY: Final = ("data-src", "data-lazy-src", "data-original", "data-lazy", "data-cfsrc", "data-pagespeed-lazy-src")
_SEVERAL: Final = ("srcset", "data-srcset", "data-lazy-srcset")
ANY_LAZY: Final = frozenset((*_LAZY, *_SEVERAL[1:]))
_PLAIN: Final = "/h"  # how most URLs begin, none of them data
_MOST_SOURCES: Final = 10  # elements of one <picture>


@dataclass(frozen=True, slots=True)
class Layout:
    """`name` is what an inline element becomes; `bits` are those of its tag (marks.py)."""

    manner: int  # BLOCK ... UNSEEN
    name: str
    bits: int


_UNSEEN: Final = str.split(
    """
    script style template svg head iframe object embed canvas video audio map datalist link meta title base
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
_KEPT: Final = {
    **dict.fromkeys(("code", "kbd", "samp", "tt"), "code"),
    **dict.fromkeys(("b", "strong"), "strong"),
    **dict.fromkeys(("i", "em"), "em"),
    **dict.fromkeys(("del", "s", "strike"), "del"),
    **{tag: tag for tag in ("a", "q", "sub", "sup")},
}

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
    **_by_number(UNSEEN, _same(("math",))),
    _numbers()[2]: Layout(UNSEEN, "", 0),  # comments
}
MATH: Final = LAYOUT[_SAMPLE.create_node("math").tag_id]
OTHER: Final = Layout(INLINE, "", 0)  # of elements that are not in LAYOUT


def source_of(attributes: Mapping[str, str | None], node: LexborNode) -> str:
    """The URL of the image *node*, also of one that a script loads once it is in sight; then `src` is a placeholder.

    Empty where there is none, or only data in it.
    """
    if not ANY_LAZY.isdisjoint(attributes):
        if source := _first(attributes, _LAZY) or _first_of(attributes, _SEVERAL[1:]):
            return source
    elif (source := attributes.get("src") or "")[:1] in _PLAIN and source:
        return source
    return _first(attributes, ("src",)) or _first_of(attributes, _SEVERAL) or _of_picture(node)


def _first(attributes: Mapping[str, str | None], names: Iterable[str]) -> str:
    return next(
        (value for name in names if (value := (attributes.get(name) or "").strip()) and not _is_data(value)), ""
    )


def _first_of(attributes: Mapping[str, str | None], names: Iterable[str]) -> str:
    """The first URL of several, with the width of each behind it."""
    return (_first(attributes, names).split(maxsplit=1) or [""])[0].rstrip(",")


def _of_picture(image: LexborNode) -> str:
    """What the <picture> around *image* shows on the first kind of screen."""
    step = image.prev if image.parent is not None and image.parent.tag == "picture" else None
    found = ""
    for _ in range(2 * _MOST_SOURCES):
        if step is None:
            break
        if step.tag == "source":
            found = _first_of(step.attributes, _SEVERAL) or found
        step = step.prev
    return found


def _is_data(source: str) -> bool:
    return source[:5].lower() == "data:"
