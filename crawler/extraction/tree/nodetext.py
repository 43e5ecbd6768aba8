"""The text of an element, read only as far as needed: a page may be one element of 10 MB."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

LONG: Final = 10_000  # characters


def tag_ids(tags: str) -> frozenset[int]:
    """The numbers that the space-separated *tags* have in every tree: comparing names takes five times as long."""
    tree = LexborHTMLParser("")
    return frozenset(tree.create_node(tag).tag_id for tag in tags.split())


HIDDEN: Final = tag_ids("script style noscript template svg head title textarea")

_CODE: Final = tag_ids("script style template")
_WHOLE = re.compile(r"(?<![.,\d])\d{1,7}$|\d[ .,]\d{3}$")  # a number without decimals at the end
_BROKEN = re.compile(r"(?<=\d) ?([.,]) ?(?=\d)")  # spaces inside a number


def parts_of(node: LexborNode, limit: int = LONG) -> list[str]:
    """The texts in *node*, white space collapsed, up to the one that passes *limit* characters."""
    only = node.first_child
    # Most that anyone asks for have one text and nothing else.
    if only is not None and (content := only.text_content) is not None and only.next is None:
        text = " ".join(content[: 4 * limit].split())
        return [text] if text and node.tag_id not in _CODE else []
    if only is None and node.text_content is None:  # as most icons
        return []
    parts: list[str] = []
    size = 0
    for count, each in enumerate(node.traverse(include_text=True, skip_empty=True)):
        if size > limit or count > 50 + limit // 5:
            break
        content = each.text_content
        if content and ((parent := each.parent) is None or parent.tag_id not in _CODE):
            text = " ".join(content[: 4 * limit].split())
            if text:
                parts.append(text)
                size += len(text) + 1
    return parts


def nodes_from(start: LexborNode) -> Iterator[LexborNode]:
    """*start*, its descendants, and everything after it in the document."""
    return chain.from_iterable(each.traverse(include_text=True, skip_empty=True) for each in _from(start))


def _from(start: LexborNode) -> Iterator[LexborNode]:
    """*start*, its following siblings, then those of its parent, and so on."""
    yield start
    around: LexborNode | None = start
    while around is not None:  # as `ancestors`: every page is read so
        following = around.next
        while following is not None:
            yield following
            following = following.next
        around = around.parent


def texts_before(end: LexborNode, enough: int) -> Iterator[LexborNode]:
    """The last *enough* texts before *end*, the last one first."""
    return islice(_texts_back(end), enough)


def _texts_back(end: LexborNode) -> Iterator[LexborNode]:
    """The texts before *end* that are not blank, the last one first."""
    around: LexborNode | None = end
    while around is not None:
        before = around.prev
        if before is None:
            around = around.parent
            continue
        around = before
        while (last := around.last_child) is not None:
            around = last
        if around.is_text_node and not around.is_empty_text_node:
            yield around


def text_of(node: LexborNode, limit: int = LONG) -> str:
    """The text of *node*, pieces separated by spaces, cut at *limit*."""
    return " ".join(parts_of(node, limit))[:limit]


def price_text(node: LexborNode, limit: int = LONG) -> str:
    """Like `text_of`, with a point before cents in their own element (12 <sup>99</sup>, 1.299 <sup>99</sup>).

    A longer text is cut somewhere after *limit*.
    """
    parts = parts_of(node, limit)
    if len(parts) == 1:
        return parts[0]
    joined = ""
    for part in parts:
        whole = _WHOLE.search(joined) if len(part) == 2 and part.isdecimal() else None
        joined += f"{',' if '.' in whole[0] else '.'}{part}" if whole else f" {part}"
    return _BROKEN.sub(r"\1", joined.strip())


def enclosing(node: LexborNode, tag: str, steps: int) -> LexborNode | None:
    """*node* or the nearest element around it that is a *tag*, at most *steps* levels up."""
    return next((each for each in islice(ancestors(node), steps + 1) if each.tag == tag), None)


def around(node: LexborNode | None, levels: int = 2) -> list[LexborNode]:
    """*node*, and the elements around it, *levels* of them, which are few: a list costs less than to ask for each."""
    found: list[LexborNode] = []
    while node is not None and len(found) <= levels:
        found.append(node)
        node = node.parent
    return found


def ancestors(node: LexborNode | None) -> Iterator[LexborNode]:
    """*node*, and all elements around it, the innermost first."""
    while node is not None:
        yield node
        node = node.parent
