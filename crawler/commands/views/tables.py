"""What tables for people share: narrow columns, and short numbers and times in them."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table

from crawler.utils.durations import in_words


def narrow_table(title: str, names: Sequence[str], numbers: Sequence[str]) -> Table:
    """Narrow, with names folded instead of cut off: it fits 80 columns, and a URL can be copied whole."""
    table = Table(
        title=f"\n{title}" if title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for name in names:
        table.add_column(name, overflow="fold")
    for number in numbers:
        table.add_column(number, justify="right", no_wrap=True)
    return table


def amount(number: int) -> str:
    """`1,234`; from ten million on `12.3M`."""
    return f"{number:,}" if number < 10_000_000 else f"{number / 1_000_000:,.1f}M"


def shortly(milliseconds: float) -> str:
    """`20 ms`, `1.5 s`, `12 min`; `-` for none."""
    if not milliseconds:
        return "-"
    if milliseconds < 100:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 600_000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds / 60_000:.0f} min" if milliseconds < 7_200_000 else in_words(milliseconds / 1000)
