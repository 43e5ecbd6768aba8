"""The brand that a page's scripts tell others of: shop systems, counters of sales, data layers.

Read where nothing else states one. No script is run, and no JSON decoded: most are parts of a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape
from itertools import islice
from typing import Final

from crawler.extraction.scripts import objects
from crawler.extraction.structured.site_names import is_site, named_in, squeezed
from crawler.extraction.tree.document import Document
from crawler.extraction.words import values

MAX_FOUND: Final = 100  # places examined per page
MAX_NAME: Final = 24  # letters of a title that are compared: what follows may be a variant
SPACE: Final = 60  # characters of white space around a text

_QUOTE: Final = r"\\{0,3}[\"']"
_VALUE: Final = (
    rf"(?:{_QUOTE})?\s{{0,9}}:\s{{0,9}}(?:\{{[^{{}}]{{0,80}}?\bname(?:{_QUOTE})?\s{{0,9}}:\s{{0,9}}|\[\s{{0,9}})?"
    rf"(?P<quote>{_QUOTE})(?P<value>[^<>{{}}\n]{{1,60}}?)(?P=quote)"
)
# Each begins with letters, which are found fast: of `brand` and `productBrand` what both have.
_BRAND: Final = re.compile(rf"rand(?:_?[nN]ame)?{_VALUE}")
_VENDOR: Final = re.compile(rf"vendor{_VALUE}")  # only one shop system's word for it
_TAGGED: Final = re.compile(
    r"brand(?:[-_]?[nN]ame)?(?:=|(?:\"|&quot;)\s?:\s?)(?:[\"']|&quot;)([^\"'<>&]{1,60})(?:[\"']|&quot;)"
)
MAX_TAG: Final = 4_000  # characters of a tag on each side of a brand
_ESCAPED: Final = re.compile(r"\\u([\da-fA-F]{4})")


def brand(document: Document, title: str, sku: str | None) -> str | None:
    """The one brand stated beside the product's *title* or *sku*, as the title writes it; None if there are several.

    One that the page does not show is none if it is the site's own name, or a vendor: shops fill in what they like
    where nobody looks. Known weakness: a title with letters that the script escapes, and no sku.
    """
    names = [(_word(name), squeezed(name)[:MAX_NAME]) for name in (title, sku or "")]
    names = [(word, name) for word, name in names if len(name) >= objects.MIN_NAME]
    patterns = (_BRAND, _VENDOR) if "hopify" in document.head else (_BRAND,)
    for pattern in patterns if names else ():
        stated = {squeezed(value): value for value in _beside(document, pattern, names)}
        if not stated and pattern is _BRAND:
            stated = {squeezed(value): value for value in _in_tags(document.markup, names)}
        if stated:
            if len(stated) > 1:
                return None
            only = next(iter(stated.values()))
            if _is_shown(only, document.markup):
                return only
            named = named_in(title, squeezed(only))
            return named or (None if pattern is _VENDOR or is_site(only, document) else only)
    return None


def _word(name: str) -> str:
    """The longest word of a name's beginning, which is looked for first."""
    return max(name.lower()[:MAX_NAME].split() or [""], key=len)


def _beside(document: Document, pattern: re.Pattern[str], names: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Brands that *pattern* finds in an object of a script that has one of *names*, each with a word of it."""
    html = document.html
    stated = (
        (each, found)
        for each in document.source.scripts
        for found in pattern.finditer(html, each.start, each.end)
        if pattern is _VENDOR or html[found.start() - 1] in "bB"
    )
    for script, found in islice(stated, MAX_FOUND):
        before = html[max(script.start, found.start() - objects.AROUND) : found.start()].lower()
        after = html[found.end() : min(script.end, found.end() + objects.AROUND)].lower()
        if not any(word in before or word in after for word, _ in names):
            continue
        inside = squeezed(f"{objects.opened(before)} {objects.closed(after, found[0].count('{'))}")
        if any(name in inside for _, name in names):
            value = values.brand(_ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), found["value"]))
            if value is not None and squeezed(value):
                yield value


def _in_tags(markup: str, names: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Brands in attributes of tags that have one of *names*, too."""
    for found in islice(_TAGGED.finditer(markup), MAX_FOUND):
        start, end = markup.rfind("<", max(0, found.start() - MAX_TAG), found.start()), found.end() + MAX_TAG
        tag = squeezed(unescape(markup[max(0, start) : end].partition(">")[0]))
        value = values.brand(found[1]) if any(name in tag for _, name in names) else None
        if value is not None and squeezed(value):
            yield value


def _is_shown(value: str, markup: str) -> bool:
    """Whether *value*, in one of its usual forms, is a text of its own, or all that an image shows."""
    forms = dict.fromkeys((value, value.upper(), value.title(), escape(value, quote=False)))
    return any(
        _is_alone(markup, at, at + len(form)) for form in forms for at in islice(_places(form, markup), MAX_FOUND)
    )


def _places(text: str, markup: str) -> Iterator[int]:
    at = markup.find(text)
    while at >= 0:
        yield at
        at = markup.find(text, at + 1)


def _is_alone(markup: str, start: int, end: int) -> bool:
    before, after = markup[max(0, start - SPACE) : start], markup[end : end + SPACE]
    return (before.rstrip()[-1:] == ">" and after.lstrip()[:1] == "<") or (before[-5:] == 'alt="' and after[:1] == '"')
