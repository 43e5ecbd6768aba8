"""Thousands and cents in elements of their own: `49` `,90`, `49<sup>90</sup>`, `49<sup>€90</sup>`, `1` `.` `299`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from selectolax.lexbor import LexborNode

from crawler.extraction.tree.nodetext import around, tag_ids
from crawler.extraction.visible.view import View

HAS_CENTS: Final = re.compile(r"[.,]\d{1,2}$")
_CENTS = re.compile(r"([.,]?)(\d\d)")
_SIGN: Final = r"\s?(€|£|\$|zł|lei|ron|kč|лв\.?|)"
_RAISED_CENTS = re.compile(rf"([€£$]?)(\d\d){_SIGN}", re.IGNORECASE)
_BEFORE_RAISED: Final = frozenset("0123456789.,€£")
_BEHIND: Final = ".,€£$ \u00a0"  # what may stand between a number and cents in the next text
_NAMED = re.compile(r"(?<![a-z])cents?(?![a-z])|centime|fraction|decimal", re.IGNORECASE)
_GROUP = re.compile(rf"\d\d\d|\d\d{_SIGN}", re.IGNORECASE)  # or cents
_RAISED: Final = tag_ids("sup small")


def are_cents(texts: Sequence[tuple[str, LexborNode]], index: int) -> bool:
    """Whether a text goes on with the number before it: `49` `,90`, `49,` `90`, `49` `,` `90`, `1` `.` `299`, or
    raised."""
    text, before = texts[index][0], texts[index - 1][0] if index else ""
    if not before:
        return False
    if text[0] in ".,":
        return before[-1].isdigit()
    node, former = texts[index][1], texts[index - 1][1]
    are_likely = before[-1] in _BEFORE_RAISED and _RAISED_CENTS.fullmatch(text)
    if are_likely and _is_raised(node) and _are_together(former, node):
        return True
    if before[-1] not in ".," or _GROUP.fullmatch(text) is None:
        return False
    whole = before[:-1] or (texts[index - 2][0] if index > 1 else "")
    return whole[-1:].isdigit()


def signed(page: View, index: int, number: str) -> tuple[str, str] | None:
    """(number with cents, sign) of a *number* that cents with a sign follow: `49<sup>€90</sup>`, `49,` `90 zł`."""
    text, node = page.texts[index]
    following, cents = page.texts[index + 1] if index + 1 < len(page.texts) else ("", node)
    match = _RAISED_CENTS.fullmatch(following) if text.rstrip(".,") == number else None
    match = match if match and (text != number or _is_raised(cents)) else None
    sign = (match[1] or match[3]) if match else ""
    return (_joined(number, match[2]), sign) if match and sign and _are_together(node, cents) else None


def completed(page: View, index: int, node: LexborNode, number: str) -> str:
    """*number*, at *index* and in *node*, with thousands and cents that stand after it in elements of their own:
    `€ 49,<sup>90</sup>`, `49 €<sup>90</sup>`."""
    text = page.texts[index][0]
    whole = number.rstrip(".,")
    if HAS_CENTS.search(whole) or not text.rstrip(_BEHIND).endswith(whole):
        return number
    if (grouped := _with_groups(page, index, whole)) != whole:
        places = 2 * (grouped.count(".") + grouped.count(","))
        return _with_own(page, node, grouped, index + places, "")
    own = _with_own(page, node, whole, index, text[-1] if text[-1] in ".," else "")
    return number if own == whole else own


def _with_groups(page: View, index: int, whole: str) -> str:
    """*whole* with what follows it in elements of their own: `1` `.` `299`."""
    point = page.texts[index + 1][0] if index + 1 < len(page.texts) else ""
    while point in (".", ",") and index + 2 < len(page.texts) and page.texts[index + 1][0] == point:
        group, node = page.texts[index + 2]
        if len(group) != 3 or not group.isdecimal() or not is_near(node, page.texts[index][1]):
            break
        whole, index = f"{whole}{point}{group}", index + 2
    return whole


def _with_own(page: View, node: LexborNode, whole: str, last: int, point: str) -> str:
    """*whole* with the cents after the text *last*, which ends with *point*."""
    following = page.texts[last + 1 : last + 3]
    if not point and following and following[0][0] in (".", ","):
        point, following = following[0][0], following[1:]
    cents = _CENTS.fullmatch(following[0][0]) if following else None
    if cents is None or not is_near(following[0][1], node):
        return whole
    if not (point or cents[1] or _is_raised(following[0][1])):
        return whole
    return _joined(whole, cents[2])


def _joined(whole: str, cents: str) -> str:
    return f"{whole}{',' if '.' in whole else '.'}{cents}"


def is_near(node: LexborNode, other: LexborNode) -> bool:
    """Whether both stand in one element, or in two that do."""
    those = {each.mem_id for each in around(other)}
    return any(each.mem_id in those for each in around(node))


def _is_raised(node: LexborNode) -> bool:
    """Whether *node* is written above the line, or named for cents."""
    return node.tag_id in _RAISED or _NAMED.search(node.attributes.get("class") or "") is not None


def _are_together(node: LexborNode, raised: LexborNode) -> bool:
    """Whether *raised* stands in *node*, or beside it, or first in what does."""
    inside, current = node.parent, raised.parent
    those = (node.mem_id, inside.mem_id if inside is not None else 0)
    if current is None or current.mem_id in those:
        return current is not None
    return raised.prev is None and current.parent is not None and current.parent.mem_id in those
