"""Which lines of a page may tell readers when it was last changed, and signs that they are told when it was written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import Final

from crawler.extraction.content import near_heading
from crawler.extraction.content.marks import READING
from crawler.extraction.content.passages import Passage
from crawler.extraction.tree.document import Document
from crawler.extraction.words.counting import WORD

MAX_LINES: Final = 1_500  # passages searched
LONGEST: Final = 30  # words of a line
LABEL: Final = 3  # words of a label
BY_HEADING: Final = 8  # lines below the heading
OF_CALENDARS: Final = (0, 543, -621, -622)  # years of the Buddhist and the Persian calendar beside this one

_CHANGED: Final = tuple(READING["changed"].split())
_HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_MONTHS: Final = frozenset(name for names in READING["months"] for name in names.split())
_ATTRIBUTES: Final = ("datetime", "title", "content", "data-date")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_SHORT = re.compile(r"(?<!\d)\d{1,2}([./-])\d{1,2}\1(\d\d)(?!\d)")
_OTHER_NUMBERS: Final = "年"  # of an era, or in words


def lines(found: Sequence[Passage], years: set[int]) -> list[Passage]:
    """The lines with one of the *years* that say so in words, also right before them, or stand bare by the heading:
    others are of events, or of pages that are linked."""
    by_heading = {id(each) for each in near_heading.lines(found, BY_HEADING)}
    dated = {id(each) for each in with_years(found, years) if not each.is_prose}
    return [
        each
        for before, each in pairwise([*found[:1], *found[:MAX_LINES]])
        if id(each) in dated and (_tells(before, each) or (id(each) in by_heading and not _is_labelled(each.text)))
    ]


def _tells(before: Passage, line: Passage) -> bool:
    """Whether *line* or a label *before* it is of a change; not a link, or the heading of a list."""
    if 2 * line.linked >= line.words:
        return False
    is_label = before.words <= LABEL and before.box.tag not in _HEADINGS
    return _says(line.text) or (is_label and _says(before.text))


def with_years(found: Sequence[Passage], years: set[int]) -> list[Passage]:
    """The short lines with one of the *years*."""
    written = [str(year) for year in years]
    short = (each for each in found[:MAX_LINES] if each.words <= LONGEST)
    return [each for each in short if any(year in each.text for year in written)]


def hides(document: Document, found: Sequence[Passage], day: date, years: set[int]) -> bool:
    """Whether the page shows *day* in a form that is not read: in two digits, without its day or year, in another
    calendar or script, or in an attribute. The *years* are those of changes."""
    others = {day.year + each for each in OF_CALENDARS} - years
    by_heading = near_heading.lines(found, BY_HEADING)
    return any(_may_be(each.text, day, others) for each in by_heading) or _is_in_attributes(document, day)


def _says(text: str) -> bool:
    lower = text[:400].lower()
    return any(word in lower for word in _CHANGED)


def _is_labelled(text: str) -> bool:
    """Whether a label stands before the first number: `When: 6 May 2020`."""
    before = next((at for at, sign in enumerate(text) if sign.isdigit()), 0)
    return any(sign in text[:before] for sign in ":：")


def _may_be(text: str, day: date, years: set[int]) -> bool:
    text = text[:400]
    named = {int(each) for each in _YEAR.findall(text)}
    if not named.isdisjoint(years) or any(int(each[2]) == day.year % 100 for each in _SHORT.finditer(text)):
        return True
    has_month = any(map(str.isdigit, text)) and not _MONTHS.isdisjoint(WORD.findall(text.lower()))
    return not named and (has_month or _OTHER_NUMBERS in text)


def _is_in_attributes(document: Document, day: date) -> bool:
    body = document.tree.body
    return body is not None and body.css_first(",".join(f"[{name}^='{day}']" for name in _ATTRIBUTES)) is not None
