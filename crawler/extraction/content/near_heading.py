"""What stands by a page's heading and may be about the page: who wrote it, and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import Final

from crawler.extraction.content.marks import BITS
from crawler.extraction.content.passages import Box, Passage

NEAR_HEADING: Final = 2  # elements around a heading that may hold the date above it
LONGEST_LABELLED: Final = 5  # words of a date with a label: `Last updated: 6 May 2020`

_META: Final = BITS["meta"]
_HEADER: Final = BITS["header"] | BITS["nav"] | BITS["aside"]
_OWN: Final = BITS["main"] | BITS["article"]


def place(found: Sequence[Passage]) -> int:
    """Where the first heading of the page is, behind all passages without one."""
    return next((at for at, each in enumerate(found) if each.is_main_heading), len(found))


def lines(found: Sequence[Passage], most: int) -> Iterator[Passage]:
    """The line right above the first heading, if it may be about the page, and those below it up to the first prose."""
    head = place(found)
    if 0 < head < len(found):
        above = found[head - 1]
        if is_above(above, found[head].box) or (above.own & _META and not above.is_prose):
            yield above
    yield from takewhile(lambda each: not each.is_prose, islice(found, head + 1, head + 1 + most))


def is_above(passage: Passage, heading: Box) -> bool:
    """Whether what stands above a *heading* may be about the page, not the bar on top with the day of today."""
    if passage.is_prose:
        return False
    if passage.around & _OWN or (passage.own & _META and not passage.around & _HEADER):
        return True
    near = [box for box in islice(_around(heading), 1, 1 + NEAR_HEADING) if box.tag != "body"]
    return passage.words <= LONGEST_LABELLED and any(box in near for box in _around(passage.box))


def _around(box: Box | None) -> Iterator[Box]:
    while box is not None:
        yield box
        box = box.parent
