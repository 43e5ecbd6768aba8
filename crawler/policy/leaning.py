"""How far a short page leans towards a refusal: weak signs of wording and form, weighed. Pure.

The phrases of blocks.toml know what others have said before; every site words its refusal anew. So here only thoughts
count, each a family of stems in some 40 languages ([families]): a robot, your connection, too many, to prove, to go on.
No thought is a refusal; some together, in the few lines below a heading, are. [weights] were fitted to pages made up in
many languages by a regression whose signs were fixed, and rounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from crawler.policy.block_vendors import ASKS, FAMILIES, WEIGHTS
from crawler.policy.judged_page import OWN_DATA, OWN_FORM, JudgedPage
from crawler.policy.page_shape import asks_code, fields, headline, leads_on, reloads
from crawler.policy.page_text import spelled_out, unquoted, visible_text, width

LEAST_TEXT: Final = 15  # characters: with less, what scripts would write is read
LEAST_PART: Final = 45
MOST_TEXT: Final = 600
PART_BYTES: Final = 8_192
SCRIPT_BYTES: Final = 16_384
MANY_HEADINGS: Final = 2
MOST_HEADINGS: Final = 8
MANY_PARAGRAPHS: Final = 4
MANY_LINKS: Final = 4
MANY_PICTURES: Final = 2
QUOTED: Final = 15  # characters
MUCH_ELSE: Final = 300
_HEADING: Final = re.compile(rb"<[hH][1-6][\s>]")
_PART_END: Final = re.compile(rb"<[hH][1-6][\s>]|</(?:main|section|article)>|<(?:footer|aside)\b")
_LITERAL: Final = re.compile(rb'"([^"<>{}\\=]{12,200})"')
_BUTTON: Final = re.compile(rb"""<button|type=["']?submit|role=["']?button""", re.IGNORECASE)
_PRICE: Final = re.compile(r"[€$£¥₹₽₪]|\b\d+[.,]\d\d\b(?!\.)")
_ADDRESS: Final = re.compile(r"\b\d+\.\d+\.\d+\.\d+")
# Numbers of cases: three digits or more in groups, but no date; long hexadecimal ones; long ones.
_NUMBER: Final = re.compile(
    r"(?<![\w.,/-])(?=(?:[\w./-]*?\d){3})(?!\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b)(?:[a-z0-9]{1,10}[-/._]){1,5}[a-z0-9]{1,14}(?!\w)"
    r"|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b|\b\d{10,}\b"
)
_TEXT: Final[Mapping[str, int]] = WEIGHTS["text"]
_HEADLINE: Final[Mapping[str, int]] = WEIGHTS["headline"]
_PAIRS: Final = tuple((frozenset(pair.split(" & ")), weight) for pair, weight in WEIGHTS["pairs"].items())
_FORM: Final[Mapping[str, int]] = WEIGHTS["form"]
_REFUSAL: Final = frozenset({"stopped", "case", "taken", "guard"})
_VISITED: Final = frozenset({"stopped", "origin", "robot"})
_ADDRESSED: Final = frozenset({"origin", "robot", "human", "task", "tech"})
_WAITING: Final = frozenset({"queue", "wait", "prove"})
_TESTED: Final = frozenset({"robot", "human", "task", "excess"})


class Leaning(NamedTuple):
    """Tenths of a logarithm of odds that a page is a refusal, and those of them that its form takes away."""

    score: int
    against: int


def leaning(page: JudgedPage, body: bytes) -> Leaning:
    """How far *page*, of the document *body*, leans.

    Known weakness: an article or a manual about refusals that is as short as one has the same words.
    """
    source, text = _first_part(page)
    head = FAMILIES.families_in(f"{page.title} . {spelled_out(headline(source))}")
    said = head | FAMILIES.families_in(text)
    words = sum(_TEXT.get(family, 0) for family in said) + sum(_HEADLINE.get(family, 0) for family in head)
    words += sum(weight for pair, weight in _PAIRS if pair <= said)
    against = sum(_FORM[sign] for sign in _against(page, source, text, body, said))
    return Leaning(WEIGHTS["base"] + words + against + sum(_FORM[sign] for sign in _for(page, source, text, said)), against)


def _first_part(page: JudgedPage) -> tuple[bytes, str]:
    """Source and text of the first heading with something below it, up to the next heading; or of the page, or what
    its scripts have to say if it has no text."""
    source = page.source
    if len(page.text) < LEAST_TEXT:
        literals = (found.decode("utf-8", "replace").lower() for found in _LITERAL.findall(source[:SCRIPT_BYTES]))
        return b"", " ".join(said for said in literals if " " in said)[:MOST_TEXT] or page.text
    for heading in islice(_HEADING.finditer(source), MOST_HEADINGS):
        end = _PART_END.search(source, heading.end(), heading.start() + PART_BYTES)
        part = source[heading.start() : end.start() if end else heading.start() + PART_BYTES]
        text = unquoted(spelled_out(visible_text(part.decode("utf-8", "replace"))))
        if len(text) >= LEAST_PART:
            return part, text[:MOST_TEXT]
    return source, page.spoken[:MOST_TEXT]


def _for(page: JudgedPage, source: bytes, text: str, said: frozenset[str]) -> Iterator[str]:
    has_number = _NUMBER.search(text) is not None
    if has_number:
        yield "number"
    if has_number and said & _REFUSAL:
        yield "case_number"
    if said & _VISITED and _ADDRESS.search(text):
        yield "address"
    if said & _WAITING and reloads(page.source):
        yield "waits"
    if asks_code(source):
        yield "code"
    if said & _TESTED and len(fields(source)) == 1:
        yield "field"
    if page.is_for_members and "robot" in said and OWN_FORM.search(source) is None:
        yield "members"


def _against(page: JudgedPage, source: bytes, text: str, body: bytes, said: frozenset[str]) -> Iterator[str]:
    length, asked = width(text), max(len(fields(source)), source.count(b"<label"))
    signs = {
        "longer": length > 200,
        "very_long": length > 550,
        "more_text": width(page.text) - length > MUCH_ELSE,
        "quotes": not page.is_data and len(page.text) - len(page.spoken) > QUOTED,
        "explains": page.explains,
        "asks": ASKS.any_in(text),
        "title_asks": page.title.endswith("?"),
        "title_names": ":" in page.title,
        "price": _PRICE.search(text) is not None,
        "leads_on": page.is_linked,
        "part_leads_on": leads_on(source),
        "links": body.count(b"<a ") > MANY_LINKS,
        "headings": len(_HEADING.findall(page.source)) > MANY_HEADINGS,
        "paragraphs": page.source.count(b"<p") > MANY_PARAGRAPHS,
        "list": b"<li" in source,
        "pictures": body.count(b"<img") > MANY_PICTURES,
        "article": b"<article" in body or b"<time" in body,
        "code_shown": b"<pre" in body or b"<code" in body,
        "own_form": OWN_FORM.search(source) is not None,
        "fields": asked > 1,
        "button": not asked and _BUTTON.search(source) is not None,
        "data": page.is_data and not page.answers,
        "things": page.is_of_things and not said & _ADDRESSED,
        "own_data": any(sign in page.source for sign in OWN_DATA),
    }
    return (sign for sign, is_there in signs.items() if is_there)
