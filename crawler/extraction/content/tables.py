"""Which tables of the main text hold data: others only place what is in them, and would lose paragraphs and code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from crawler.extraction.content.marks import BITS
from crawler.extraction.content.passages import Box, Passage

MOST_IN_CELL: Final = 6  # passages
LONGEST_CELL: Final = 120  # words of one passage

_TABLE: Final = BITS["table"]
_CELLS: Final = frozenset(("td", "th"))
_NO_DATA: Final = frozenset(("pre", "h1", "h2"))


def placing(chosen: Sequence[Passage]) -> set[Box]:
    """The tables around *chosen* passages that only place them.

    They have one column, or another table, code or a heading of the page inside, or cells as long as a text.
    """
    around: dict[Box, tuple[Box | None, Box | None]] = {}
    found, wide, seen = set[Box](), set[Box](), set[Box]()
    inside: Counter[Box] = Counter()
    for each in chosen:
        if not each.around & _TABLE:
            continue
        table, cell = _around(each.box, around, found)
        if table is None:
            continue
        seen.add(table)
        if each.box.tag in _NO_DATA or each.words > LONGEST_CELL:
            found.add(table)
        if cell is not None:
            inside[cell] += 1
            if inside[cell] > MOST_IN_CELL:
                found.add(table)
            if cell.parent is not None and cell.parent.cells > 1:
                wide.add(table)
    return found | (seen - wide)


def _around(
    box: Box, known: dict[Box, tuple[Box | None, Box | None]], found: set[Box]
) -> tuple[Box | None, Box | None]:
    """The innermost table and cell around *box*; a table with another one inside is put into *found*."""
    path, step = list[Box](), box
    while step not in known:
        path.append(step)
        if step.parent is None:
            break
        step = step.parent
    table, cell = known.get(step, (None, None))
    for each in reversed(path):
        if each.tag == "table":
            if table is not None:
                found.add(table)
            table, cell = each, None
        elif each.tag in _CELLS:
            cell = each
        known[each] = (table, cell)
    return table, cell
