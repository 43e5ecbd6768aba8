"""Which tables of the main text hold data, and all that is in their rows: others only place what is in them, and would
lose paragraphs and code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final

from crawler.extraction.content.cells import CELLS, cell_of, row_of
from crawler.extraction.content.marks import BITS
from crawler.extraction.content.passages import Box, Passage

MOST_IN_CELL: Final = 6  # passages
LONGEST_CELL: Final = 120  # words of one passage

_TABLE: Final = BITS["table"]
_IN_CELL: Final = BITS["td"] | BITS["th"]
_NO_DATA: Final = frozenset(("pre", "h1", "h2"))


def whole_rows(chosen: Sequence[Passage]) -> Sequence[Passage]:
    """*chosen*, and what has signs only (✓, –) in the other cells of its rows, if their table holds data."""
    inside = {at: each for at, each in enumerate(chosen) if each.around & _IN_CELL}
    begins = {row: at for at in reversed(inside) if (row := row_of(inside[at].box)) is not None and row.signs}
    if not begins:
        return chosen
    placed = placing(chosen)
    begins = {row: at for row, at in begins.items() if _table(row) not in placed}
    taken = {cell_of(each.box) for each in inside.values()}
    signs = [each for row in begins for each in row.signs or () if cell_of(each.box) not in taken]
    order = [(_place(each, begins) or (at, 0), each) for at, each in enumerate([*chosen, *signs])]
    return [each for _, each in sorted(order, key=itemgetter(0))]


def _place(passage: Passage, begins: Mapping[Box, int]) -> tuple[int, int] | None:
    """Where its row begins, and its column there."""
    cell = cell_of(passage.box) if passage.around & _IN_CELL else None
    if cell is None or cell.parent is None or cell.parent not in begins:
        return None
    return begins[cell.parent], cell.column


def _table(box: Box) -> Box | None:
    step: Box | None = box
    while step is not None and step.tag != "table":
        step = step.parent
    return step


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
        elif each.tag in CELLS:
            cell = each
        known[each] = (table, cell)
    return table, cell
