"""The main text as Markdown: headings, lists, quotations, tables and code around the lines of passages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

from crawler.extraction.content.inline import escaped_start, inline
from crawler.extraction.content.passages import Box, Passage
from crawler.extraction.content.tables import placing
from crawler.extraction.tree.document import Document

MAX_MARKDOWN: Final = 1_000_000  # characters; a document with more may be larger than a store takes
MAX_LEVELS: Final = 12  # of nested lists and the like
MAX_EMPTY: Final = 50  # columns of a table up to which its rows are made as long as the longest

_HEADINGS: Final = frozenset(str.split("h1 h2 h3 h4 h5 h6"))
_STRUCTURE: Final = _HEADINGS | frozenset(str.split("ul ol li table tr td th blockquote pre"))
_ONLY_TEXT: Final = _HEADINGS | {"pre", "td", "th"}
_LISTS: Final = frozenset(("ul", "ol"))
_ONLY_IN: Final = {"li": ("ul", "ol"), "tr": ("table",), "td": ("tr",), "th": ("tr",)}
_APART: Final = frozenset(("pre", "blockquote", "table"))  # by empty lines, in an item
_BULLETS: Final = "-*+"  # by level; a page of tiles, a list each, reads better as one
_FENCE: Final = re.compile("`{3,}")
_END_OF_LINE: Final = re.compile(r"\r\n?")
_BARE_PIPE: Final = re.compile(r"(?<!\\)\|")  # in code or an address

Levels: TypeAlias = tuple[Box, ...]


class _Line(NamedTuple):
    """The Markdown of a passage in *levels*; a further line of the one before, or a paragraph: in an item behind an
    empty line."""

    levels: Levels
    text: str
    is_further: bool
    is_paragraph: bool


def markdown(document: Document, chosen: Sequence[Passage], *, images: bool = False) -> str:
    """The Markdown of *chosen* with absolute URLs; *images*: include images. Empty for more than MAX_MARKDOWN."""
    written = "\n\n".join(_blocks(list(_lines(document, chosen, images)), 0))
    return written if len(written) <= MAX_MARKDOWN else ""


def _lines(document: Document, chosen: Sequence[Passage], images: bool) -> Iterator[_Line]:
    known: dict[int, Levels] = {}
    tables = placing(chosen)
    before: Passage | None = None
    levels: Levels = ()
    for passage in chosen:
        box, outer = passage.box, levels[:-1]
        levels = known.get(id(box)) or _levels(box, known, tables)
        tag = levels[-1].tag if levels else ""
        if tag == "pre":
            code = "".join([piece for piece in passage.pieces if isinstance(piece, str)])
            text = _END_OF_LINE.sub("\n", code) if "\r" in code else code
        else:
            text = inline(document, passage, images)
            text = text if tag in _ONLY_TEXT else escaped_start(text)
        is_further = before is not None and before.box is box and before.breaks == 1
        begins_item = tag == "li" and levels[-1] is box and box not in outer
        yield _Line(levels, text, is_further, not (begins_item or tag in _HEADINGS))
        before = passage


def _blocks(lines: Sequence[_Line], depth: int) -> list[str]:
    """The blocks in the element that *lines* are in at *depth*."""
    blocks: list[str] = []
    lists = 0  # one behind the other, of which other signs tell that they are several
    for box, inside in _grouped(lines, depth):
        tag = box.tag if box is not None else ""
        lists = lists + 1 if tag in _LISTS else 0
        if box is None:
            for line in inside:
                if line.is_further and blocks:
                    blocks[-1] += f"  \n{line.text}"
                elif line.text:
                    blocks.append(line.text)
        elif tag in _HEADINGS:
            blocks.append(f"{'#' * int(tag[1])} {' '.join([line.text for line in inside])}")
        elif tag == "pre":
            blocks.append(_code(box.language, "\n".join([line.text for line in inside]).strip("\n")))
        elif tag == "blockquote":
            quoted = "\n\n".join(_blocks(inside, depth + 1)).split("\n")
            blocks.append("\n".join([f"> {line}" if line else ">" for line in quoted]))
        elif tag == "table":
            blocks.extend(_table(inside, depth + 1))
        else:
            blocks.append(_list(box, inside, depth + 1, lists - 1))
    return blocks


def _code(language: str, code: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, _FENCE.findall(code)), default=0))
    return f"{fence}{language}\n{code}\n{fence}"


def _list(box: Box, lines: Sequence[_Line], depth: int, before: int) -> str:
    """Its items, behind so many lists, with empty lines between them where one has several blocks, or one that needs
    them; a list that is in no item belongs to the one before."""
    number, is_ordered = int(box.start or 1), box.tag == "ol"
    level = sum(each.tag == "ul" for each in lines[0].levels[: depth - 1])
    bullet, sign = _BULLETS[level % len(_BULLETS)], ".)"[before % 2]
    items: list[tuple[str, list[str]]] = []
    for item, inside in _grouped(lines, depth):
        if items and item is not None and item.tag in _LISTS:
            items[-1][1].extend(_blocks(inside, depth))
            continue
        is_item = item is not None and item.tag == "li"
        mark = "" if not is_item else f"{number}{sign} " if is_ordered else f"{bullet} "
        items.append((mark, _blocks(inside, depth + is_item)))
        number += is_item
    inner = [(line, line.levels[depth + 1 :]) for line in lines]
    is_loose = any(each[0].tag in _APART if each else line.is_paragraph for line, each in inner)
    # a number other than 1 begins no list right behind a line
    is_loose = is_loose or any(each.start for line in lines for each in line.levels[depth : depth + 2])
    is_loose = is_loose or any(not mark or "\n\n" in "\n".join(blocks) for mark, blocks in items)
    gap = "\n\n" if is_loose else "\n"
    return gap.join([mark + _indented(gap.join(blocks), len(mark)) for mark, blocks in items])


def _indented(text: str, by: int) -> str:
    """*text* with all lines but the first moved to the right."""
    return re.sub(r"\n(?!\n)", f"\n{' ' * by}", text) if "\n" in text else text


def _table(lines: Sequence[_Line], depth: int) -> Iterator[str]:
    """What stands in no row, then the rows, of which the first one is the head."""
    outside: list[_Line] = []
    rows: list[dict[int, str]] = []
    for row, inside in _grouped(lines, depth):
        if row is None or row.tag != "tr":
            outside += inside
            continue
        rows.append({row.cells - 1: ""})
        for cell, texts in _grouped(inside, depth + 1):
            text = "<br>".join([line.text for line in texts])
            rows[-1][cell.column if cell is not None else 0] = _BARE_PIPE.sub(r"\|", text)
    yield from _blocks(outside, depth)
    width = min(max(map(max, rows), default=0), MAX_EMPTY)
    filled = [[row.get(at, "") for at in range(1 + max(width, *row))] for row in rows]
    written = [f"| {' | '.join(row)} |" for row in filled]
    if written:
        yield "\n".join([written[0], f"|{' --- |' * len(filled[0])}", *written[1:]])


def _grouped(lines: Sequence[_Line], depth: int) -> Iterator[tuple[Box | None, list[_Line]]]:
    """*lines* that stand in one element at *depth*, or in none."""
    for box, group in groupby(lines, lambda line: line.levels[depth] if depth < len(line.levels) else None):
        yield box, list(group)


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
