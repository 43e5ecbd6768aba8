"""Lines of code, and the numbers beside them."""

from __future__ import annotations

from typing import Final

from crawler.extraction.content.cells import cell_of, row_of
from crawler.extraction.content.passages import Box, Passage

LINES: Final = frozenset(("div", "ol", "ul", "li", "p"))  # what places a line in <pre>


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
    row = row_of(one)
    part = row.parent if row is not None else None
    return row is row_of(other) and cell_of(one) is not cell_of(other) and part is not None and part.rows == 1
