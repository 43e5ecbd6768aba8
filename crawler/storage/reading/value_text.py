"""A stored value in a cell of a table."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

LONGEST: Final = 60  # characters


def in_short(value: Any) -> str:
    """*value* as text, cut to LONGEST; `-` for none."""
    text = f"{value:f}" if isinstance(value, Decimal) else "-" if value is None else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
