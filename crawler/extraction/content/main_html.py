"""Passages as HTML with only headings, paragraphs, lists, quotations, tables, links, images and code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final, TypeAlias
from unicodedata import category

from crawler.extraction.content.markdown import LINE
from crawler.extraction.content.passages import Box, Passage, Piece
from crawler.extraction.content.pictures import address_of
from crawler.extraction.content.tables import placing
from crawler.extraction.tree.document import Document

MAX_LEVELS: Final = 12  # of nested lists and the like
MAX_EMPTY: Final = 50  # cells in a row, one after the other

_HEADINGS: Final = frozenset(str.split("h1 h2 h3 h4 h5 h6"))
_STRUCTURE: Final = _HEADINGS | frozenset(str.split("ul ol li table tr td th blockquote pre"))
_HOLDS_TEXT: Final = _HEADINGS | {"li", "pre"}
_ONE_LINE: Final = _HEADINGS | {"pre"}
_ONLY_TEXT: Final = _ONE_LINE | {"td", "th"}
_ONLY_IN: Final = {"li": ("ul", "ol"), "tr": ("table",), "td": ("tr",), "th": ("tr",)}

_BY_SIGN: Final = ({"<em>": "</em>", "<strong>": "</strong>"}, {"<del>": "</del>"})  # in Markdown
_RUNS: Final = frozenset(("em", "strong", "del", "code"))  # of which two would have their signs side by side
_OUTSIDE: Final = r"[^\s!-/:-@\[-`{-~]"  # what may be a letter
_TOUCHED: Final = re.compile(rf"<(?:(?<={_OUTSIDE}<)(?:em|strong|del)>|/(?:em|strong|del)>(?={_OUTSIDE}|<[esd]))")

Levels: TypeAlias = tuple[Box, ...]


def main_html(document: Document, chosen: Sequence[Passage], *, images: bool = False) -> str:
    """The HTML of *chosen* with absolute URLs; *images*: include images."""
    writer = _Writer()
    known: dict[int, Levels] = {}
    tables = placing(chosen)
    before: Passage | None = None
    for passage in chosen:
        levels = _levels(passage.box, known, tables)
        writer.go(levels)
        inner = levels[-1] if levels else None
        is_code = inner is not None and inner.tag == "pre"
        inside = _code(passage.pieces) if is_code else _inline(document, passage, images)
        line = before is not None and before.box is passage.box and before.breaks == 1
        before = passage
        if is_code:
            writer.code(inside)
        elif line and (inner is None or inner.tag not in _ONE_LINE):
            writer.line(inside)
        elif inner is not None and inner.tag in _HOLDS_TEXT and inner is passage.box:
            writer.parts.append(inside)
        else:
            writer.parts.append(f"<p>{inside}</p>")
    writer.go(())
    return "\n".join(writer.parts)


class _Writer:
    """Opens and closes elements; what a row lacks are empty cells."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._open: Levels = ()
        self._filled: dict[Box, int] = {}  # columns of a row
        self._code: list[str] = []  # the code of one element so far

    def go(self, levels: Levels) -> None:
        """Close and open elements until *levels* are open."""
        if levels is self._open:
            return
        kept = 0
        while kept < min(len(self._open), len(levels)) and self._open[kept] is levels[kept]:
            kept += 1
        for box in reversed(self._open[kept:]):
            self._close(box)
            if box.tag == "table" and any(each.tag in {"blockquote", "li"} for each in levels[:kept]):
                self.parts.append("<br>")  # else the library makes what follows a row
        for box in levels[kept:]:
            if box.parent is not None and box.tag in {"td", "th"}:
                self._fill(box.parent, box.column)
                self._filled[box.parent] = box.column + 1
            elif box.tag in {"blockquote", "table"} and self.parts[-1:] == ["</blockquote>"]:
                self.parts.append("<br>")  # else the library makes one of both
            self.parts.append(f'<{box.tag} start="{box.start}">' if box.start else f"<{box.tag}>")
        self._open = levels

    def line(self, inside: str) -> None:
        """A further line of the text written last."""
        inside = inside.lstrip()
        inside = LINE + inside if inside.startswith("<") else inside
        closed = self.parts[-1].endswith("</p>")
        if self.parts[-1] == "</p>":
            self.parts.pop()
        self.parts[-1] = self.parts[-1].removesuffix("</p>").rstrip() + "<br>"
        self.parts.extend([inside, "</p>"] if closed else [inside])

    def code(self, inside: str) -> None:
        """A line or more of code; those in one element are one piece of code."""
        self._code.append(inside)

    def _close(self, box: Box) -> None:
        if box.tag == "tr":
            self._fill(box, box.cells)
        if box.tag == "pre" and self._code:
            lines = "\n".join(self._code)
            language = f' class="language-{escape(box.language)}"' if box.language else ""
            self.parts[-1] += f"<code{language}>{lines}</code></pre>"
            self._code = []
        else:
            self.parts.append(f"</{box.tag}>")

    def _fill(self, row: Box, columns: int) -> None:
        self.parts.extend(["<td></td>"] * min(columns - self._filled.get(row, 0), MAX_EMPTY))


def _levels(box: Box, known: dict[int, Levels], tables: set[Box]) -> Levels:
    """The boxes around a passage that matter to a reader, outermost first, each in a valid place; without *tables*."""
    inner: list[Box] = []
    step: Box | None = box
    while step is not None and id(step) not in known:
        inner.append(step)
        step = step.parent
    levels = known[id(step)] if step is not None else ()
    for each in reversed(inner):
        levels = known[id(each)] = (*levels, each) if each not in tables and _has_place(each, levels) else levels
    return levels


def _has_place(box: Box, levels: Levels) -> bool:
    """Whether *box* is kept inside *levels*."""
    if box.tag not in _STRUCTURE or len(levels) >= MAX_LEVELS:
        return False
    within = _ONLY_IN.get(box.tag)
    if within and not (levels and levels[-1].tag in within):
        return False
    return not (levels and levels[-1].tag in _ONLY_TEXT)


def link_of(document: Document, target: str) -> str | None:
    """The absolute URL of a link, None for one to nowhere or to a place in the page itself (`#note`)."""
    address = document.absolute(target)
    return None if address is None or ("#" in target and address == document.absolute(document.url)) else address


def _code(pieces: Sequence[Piece]) -> str:
    """Text only: in code, Markdown's own signs would be code."""
    return escape("".join([piece for piece in pieces if isinstance(piece, str)]), quote=False)


def _inline(document: Document, passage: Passage, images: bool) -> str:
    """Text and the inline elements in it, properly nested."""
    if len(passage.pieces) == 1 and passage.text:
        return escape(passage.text, quote=False)
    parts: list[str] = []
    open_: list[str] = []
    for piece in passage.pieces:
        if isinstance(piece, str):
            parts.append(escape(piece, quote=False) if "&" in piece or "<" in piece or ">" in piece else piece)
            continue
        tag, target = piece
        if tag == "img":
            parts.append(_image(document, target) if images else "")
        elif tag.startswith("/"):
            if open_ and open_[-1] == tag[1:]:
                open_.pop()
                if tag == "/a" and _is_blank(parts):
                    del parts[-2]
                else:
                    parts.append(f"<{tag}>")
        elif len(open_) < MAX_LEVELS and _begins(document, parts, open_, piece):
            open_.append(tag)
    parts.extend(f"</{tag}>" for tag in reversed(open_))
    html = "".join(parts)
    html = _without_stuck(parts) if _TOUCHED.search(html) else html
    return " ".join(html.split())  # lines of the source would be paragraphs, or items behind a number


def _begins(document: Document, parts: list[str], open_: Sequence[str], piece: tuple[str, str]) -> bool:
    """Whether an element is kept; one right behind another of its kind goes on with that, one in it is none."""
    tag, target = piece
    if tag == "a":
        address = link_of(document, target)
        if address is None:
            return False
        parts.extend([LINE] if parts and parts[-1].endswith("!") and "code" not in open_ else ())
        parts.append(f'<a href="{escape(address)}">')
        return True
    if tag in _RUNS and parts[-1:] == [f"</{tag}>"]:
        parts.pop()
    elif tag in _RUNS and tag in open_:
        return False
    else:
        parts.append(f"<{tag}>")
    return True


def _without_stuck(parts: list[str]) -> str:
    """*parts* without emphasis that Markdown cannot set: with a sign at its edge and a letter right outside."""
    for tags in _BY_SIGN * 2:  # what goes may leave another stuck
        stuck = set(_stuck(parts, tags))
        parts = [each for at, each in enumerate(parts) if at not in stuck]
    return "".join(parts)


def _stuck(parts: Sequence[str], tags: Mapping[str, str]) -> Iterator[int]:
    """Where those of *tags* and their ends are that touch a letter."""
    ends = frozenset(tags.values())
    kept = [each for each in parts if each and each not in tags and each not in ends]
    open_, behind = list[tuple[int, bool]](), 0
    for at, each in enumerate(parts):
        if each in tags:
            open_.append((at, _is_stuck(kept, behind)))
        elif each in ends:
            start, is_stuck = open_.pop()
            if is_stuck or _is_stuck(kept, behind, ends=True):
                yield from (start, at)
        elif each:
            behind += 1


def _is_stuck(texts: Sequence[str], at: int, *, ends: bool = False) -> bool:
    """Whether emphasis that begins before the text *at*, or *ends* there, touches a letter outside, a sign inside."""
    if not 0 < at < len(texts):
        return False
    outside, inside = texts[at - 1][-1], texts[at][0]
    if ends:
        outside, inside = inside, outside
    return not (outside.isspace() or _is_sign(outside)) and _is_sign(inside)


def _is_sign(character: str) -> bool:
    return category(character)[0] in "PS"  # as CommonMark has it


def _is_blank(parts: Sequence[str]) -> bool:
    """Whether the last part is all that a link shows, and nothing to see."""
    return len(parts) > 1 and parts[-1].isspace() and parts[-2].startswith("<a ")


def _image(document: Document, target: str) -> str:
    address, words = address_of(document, target), target.partition("\n")[2]
    return f'<img src="{escape(address)}" alt="{escape(" ".join(words.split()))}">' if address else ""
