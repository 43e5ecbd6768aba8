"""One price as a page shows it: what is known of it before one is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(slots=True)  # a frozen one takes three times as long to make
class Price:
    """One price on the page."""

    amount: Decimal
    currency: str | None
    past: bool
    named: bool  # its element is named a price
    repeated: bool  # other prices are in similar elements
    score: float
    wordy: bool  # other words stand with it
    index: int  # of its text on the page
    look: tuple[str, ...]  # the form of its element and those around it
    offered: bool = False  # the lowest of other sellers
    aside: bool = False  # of a unit, or without tax
