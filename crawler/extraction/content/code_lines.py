"""Lines of code, and the numbers beside them."""

from __future__ import annotations

from typing import Final

from crawler.extraction.content.passages import Box, Passage

LINES: Final = frozenset(("div", "ol", "ul", "li", "p"))  # what places a line in <pre>

_CELLS: Final = frozenset(("td", "th"))


def numbers_lines(before: Passage, box: Box, code: str) -> bool:
    """Whether *before* holds the numbers of the lines of *code* in *box*, beside it in the one row of a table."""
    if before.box.tag != "pre" or before.words < 2 or before.words != code.count("\n") + 1:
        return False
    first, *others = before.text.split()
    if not (first.isdecimal() and len(first) < 9 and _share_one_row(before.box, box)):
        return False
    return others == [str(int(first) + at) for at in range(1, before.words)]


def _share_one_row(one: Box, other: Box) -> bool:
    """Whether both are in different cells of a table's only row."""
    one, other = _cell(one), _cell(other)
    part = one.parent.parent if one.parent is not None else None
    return one is not other and one.parent is other.parent and part is not None and part.rows == 1


def _cell(box: Box) -> Box:
    """The cell around *box*, else the outermost box."""
    while box.tag not in _CELLS and box.parent is not None:
        box = box.parent
    return box
