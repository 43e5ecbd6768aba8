"""A bar chart as SVG text: readable on light and dark pages, no dependency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape

WIDTH: Final = 640
BAR: Final = 30  # height of a bar
STEP: Final = 44  # from bar to bar
TOP: Final = 56  # above the first bar: title and note
LEFT, RIGHT = 150, 90  # room for names and figures
OURS, THEIRS = "#0d9488", "#9ca3af"  # the last bar is what the others are compared with
_STYLE: Final = (
    "text{font:14px system-ui,sans-serif;fill:#1f2937}"
    ".title{font-weight:600;font-size:16px}.note{font-size:12px;opacity:.75}"
    "@media(prefers-color-scheme:dark){text{fill:#e5e7eb}}"
)


def bars(title: str, note: str, figures: Sequence[tuple[str, float]], unit: str) -> str:
    """An SVG with one horizontal bar for each (name, figure), all on one scale that starts at 0.

    Figures are shown with two decimals and *unit*; they must not be negative, and not all 0.
    """
    longest = max(figure for _, figure in figures)
    height = TOP + STEP * len(figures)
    shown = "; ".join(f"{name} {figure:.2f} {unit}" for name, figure in figures)
    label = escape(f"{title}: {shown}", {'"': "&quot;"})
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">',
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="0" y="18">{escape(title)}</text>',
        f'<text class="note" x="0" y="38">{escape(note)}</text>',
    ]
    for place, (name, figure) in enumerate(figures):
        colour = THEIRS if place == len(figures) - 1 else OURS
        parts += _bar(TOP + STEP * place, name, figure, figure / longest, unit, colour)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _bar(top: int, name: str, figure: float, share: float, unit: str, colour: str) -> list[str]:
    length = share * (WIDTH - LEFT - RIGHT)
    line = top + BAR // 2 + 5  # of the texts
    return [
        f'<text x="{LEFT - 10}" y="{line}" text-anchor="end">{escape(name)}</text>',
        f'<rect x="{LEFT}" y="{top}" width="{length:.1f}" height="{BAR}" rx="3" fill="{colour}"/>',
        f'<text x="{LEFT + length + 8:.1f}" y="{line}">{figure:.2f} {escape(unit)}</text>',
    ]
