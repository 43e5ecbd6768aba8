"""Passages as HTML with only headings, paragraphs, lists, quotations, tables, links, images and code."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, TypeAlias

from crawler.extraction.content.passages import LANGUAGE, Box, Passage, Piece
from crawler.extraction.tree.document import Document

MAX_LEVELS: Final = 12  # of nested lists and the like

_STRUCTURE: Final = frozenset(str.split("ul ol li table tr td th blockquote pre h1 h2 h3 h4 h5 h6"))
_HOLDS_TEXT: Final = frozenset(str.split("li td th pre h1 h2 h3 h4 h5 h6"))
_ONLY_TEXT: Final = frozenset(str.split("pre h1 h2 h3 h4 h5 h6"))
_ONLY_IN: Final = {"li": ("ul", "ol"), "tr": ("table",), "td": ("tr",), "th": ("tr",)}

Levels: TypeAlias = tuple[Box, ...]


def main_html(document: Document, chosen: Sequence[Passage], *, images: bool = False) -> str:
    """The HTML of *chosen* with absolute URLs; *images*: include images."""
    parts: list[str] = []
    open_: Levels = ()
    known: dict[int, Levels] = {}
    for passage in chosen:
        levels = _levels(passage.box, known)
        kept = 0
        while kept < min(len(open_), len(levels)) and open_[kept] is levels[kept]:
            kept += 1
        parts.extend(f"</{box.tag}>" for box in reversed(open_[kept:]))
        parts.extend(f"<{box.tag}>" for box in levels[kept:])
        open_ = levels
        code = bool(levels) and levels[-1].tag == "pre"
        inside = _inline(document, passage.pieces, images, code)
        if code:
            parts.append(f"<code{_language(passage.pieces)}>{inside}</code>")
        elif levels and levels[-1].tag in _HOLDS_TEXT and levels[-1] is passage.box:
            parts.append(inside)
        else:
            parts.append(f"<p>{inside}</p>")
    parts.extend(f"</{box.tag}>" for box in reversed(open_))
    return "\n".join(parts) if not any(box.tag == "pre" for box in open_) else "".join(parts)


def _levels(box: Box, known: dict[int, Levels]) -> Levels:
    """The boxes around a passage that matter to a reader, outermost first, each in a valid place."""
    inner: list[Box] = []
    step: Box | None = box
    while step is not None and id(step) not in known:
        inner.append(step)
        step = step.parent
    levels = known[id(step)] if step is not None else ()
    for each in reversed(inner):
        levels = known[id(each)] = (*levels, each) if _has_place(each, levels) else levels
    return levels


def _has_place(box: Box, levels: Levels) -> bool:
    """Whether *box* is kept inside *levels*."""
    if box.tag not in _STRUCTURE or len(levels) >= MAX_LEVELS:
        return False
    within = _ONLY_IN.get(box.tag)
    if within and not (levels and levels[-1].tag in within):
        return False
    return not (levels and levels[-1].tag in _ONLY_TEXT)


def _inline(document: Document, pieces: Sequence[Piece], images: bool, code: bool) -> str:
    """Text and the inline elements in it, properly nested."""
    parts: list[str] = []
    open_: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            parts.append(escape(piece, quote=False))
            continue
        tag, target = piece
        if tag == LANGUAGE:
            continue
        if tag == "img":
            parts.append(_image(document, target) if images else "")
        elif tag.startswith("/"):
            if open_ and open_[-1] == tag[1:]:
                parts.append(f"<{tag}>")
                open_.pop()
        elif not (code and tag == "code") and len(open_) < MAX_LEVELS:
            address = document.absolute(target) if tag == "a" else ""
            if address is None:
                continue
            parts.append(f'<a href="{escape(address)}">' if address else f"<{tag}>")
            open_.append(tag)
    parts.extend(f"</{tag}>" for tag in reversed(open_))
    return "".join(parts)


def _language(pieces: Sequence[Piece]) -> str:
    """The attribute that says in which language the code is written, or ""."""
    named = next((piece[1] for piece in pieces if isinstance(piece, tuple) and piece[0] == LANGUAGE), "")
    return f' class="language-{escape(named)}"' if named else ""


def _image(document: Document, target: str) -> str:
    source, _, words = target.partition("\n")
    address = document.absolute(source)
    return f'<img src="{escape(address)}" alt="{escape(" ".join(words.split()))}">' if address else ""
