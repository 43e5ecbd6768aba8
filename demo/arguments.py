"""argparse types for demo, benchmarks and chaos run: errors say what is expected."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection


def whole(low: int, high: int | None = None, multiple_of: int = 1) -> Callable[[str], int]:
    """An integer of at least *low*, at most *high* if given, and a multiple of *multiple_of*."""
    expected = f"an integer from {low} to {high}" if high else f"an integer of at least {low}"
    if multiple_of > 1:
        expected += f" that is a multiple of {multiple_of}"

    def number(text: str) -> int:
        found = int(text) if text.isdecimal() else -1
        if found < low or (high and found > high) or found % multiple_of:
            raise argparse.ArgumentTypeError(f"{text!r} is invalid: expected {expected}")
        return found

    return number


def seconds(low: float = 0) -> Callable[[str], float]:
    """A duration in seconds, from *low* to a day."""

    def length(text: str) -> float:
        try:
            found = float(text)
        except ValueError:
            found = -1
        if not low <= found <= 86_400:
            raise argparse.ArgumentTypeError(f"{text!r} is invalid: expected seconds from {low:g} to 86400")
        return found

    return length


def add_parts(parser: argparse.ArgumentParser, names: Collection[str]) -> None:
    """The argument `parts`: some of *names*, or all. (argparse's choices do not accept a list as the default.)"""

    def part(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"{text!r} is invalid: expected one of {', '.join(names)}")
        return text

    help_text = f"of {', '.join(names)} (default: all)"
    parser.add_argument("parts", nargs="*", type=part, default=list(names), help=help_text)
