"""Cells of tables: in which column each stands, and which is around a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crawler.extraction.content.passages import Box

MAX_COLUMNS: Final = 20  # of one cell
MAX_SPANNED: Final = 100  # columns of a row, to the left of which cells of rows above may reach into it
CELLS: Final = frozenset(("td", "th"))
LEVELS: Final = 8  # of elements between a cell and its text


def _span(attributes: Mapping[str, str | None], name: str) -> int:
    """How many columns or rows a cell has."""
    stated = attributes.get(name) or ""
    return int(stated) or 1 if len(stated) < 6 and stated.isdecimal() else 1


def next_column(row: Box, attributes: Mapping[str, str | None]) -> int:
    """The column of the next cell of *row*, with these *attributes*: behind what reaches into the row from above."""
    part = row.parent or row
    while part.held and part.held.get(row.cells, 0) > part.rows:
        row.cells += 1
    column, rows = row.cells, _span(attributes, "rowspan")
    row.cells += min(_span(attributes, "colspan"), MAX_COLUMNS)
    if rows > 1 and row.cells <= MAX_SPANNED:
        part.held = (part.held or {}) | dict.fromkeys(range(column, row.cells), part.rows + rows)
    return column


def cell_of(box: Box) -> Box | None:
    """The cell around *box*, if it is near."""
    step: Box | None = box
    for _ in range(LEVELS):
        if step is None or step.tag in CELLS:
            return step
        step = step.parent
    return None


def row_of(box: Box) -> Box | None:
    """The row of the cell around *box*."""
    cell = cell_of(box)
    return cell.parent if cell is not None else None
