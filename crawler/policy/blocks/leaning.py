"""How far a short page leans towards a refusal: weak signs of wording and form, weighed. Pure.

The phrases of blocks.toml know what others have said before; every site words its refusal anew. So here only thoughts
count, each a family of stems in some 40 languages ([families]): a robot, your connection, too many, to prove, to go on.
No thought is a refusal; some together, in the few lines below a heading, are. [weights] come from a logistic regression
over pages written for it in many languages, with the direction of each sign given, and are rounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Final, NamedTuple

from crawler.policy.blocks.judged_page import JudgedPage
from crawler.policy.blocks.page_shape import OWN_FORM, asks_code, fields, headline, leads_on, reloads
from crawler.policy.blocks.page_text import spelled_out, unquoted, visible_text, width
from crawler.policy.blocks.vendors import ASKS, FAMILIES, WEIGHTS

# Tenths of a logarithm of odds.
LEAST: Final = 7
LEAST_TURNED_AWAY: Final = -3
MOST_AWAY: Final = 0
FAR_AWAY: Final = -35  # without a site's design
LEAST_ASIDE: Final = 10  # of a page that lists something below a heading about something else
LEAST_TEXT: Final = 15  # characters: with less, what scripts would write is read
LEAST_PART: Final = 45
MUCH_AGAINST: Final = -15
MOST_TEXT: Final = 600
ONLY_TEXT: Final = 60  # of a page that says one thing
LONGER: Final = 200
VERY_LONG: Final = 550
PART_BYTES: Final = 8_192
SCRIPT_BYTES: Final = 16_384
MOST_LITERALS: Final = 8
MANY_HEADINGS: Final = 2
MOST_HEADINGS: Final = 8
MANY_PARAGRAPHS: Final = 4
MANY_LINKS: Final = 4
MANY_CELLS: Final = 5  # of a table that lists something
MANY_PICTURES: Final = 2
QUOTED: Final = 15  # characters
MUCH_ELSE: Final = 300
_HEADING: Final = re.compile(rb"<[hH][1-6][\s>]")
_PART_END: Final = re.compile(rb"<[hH][1-6][\s>]|</(?:main|section|article)>|<(?:footer|aside)\b|\xc2\xa9|&copy;")
_LITERAL: Final = re.compile(rb'"([^"<>{}\\=]{12,200})"')
_LISTED: Final = re.compile(rb"<li[\s>]")
_PARAGRAPH: Final = re.compile(rb"<p[\s>]")
_BUTTON: Final = re.compile(rb"""<button|type=["']?submit|role=["']?button""", re.IGNORECASE)
_PRICE: Final = re.compile(r"[€$£¥₹₽₪]|(?<![\d.])\d+[.,]\d\d\b(?!\.)")
# Who is kept waiting is thanked as well: such thanks are none for an order or a letter.
_PATIENCE: Final = re.compile(
    r"\b(?:thank you|thanks|dank|danke|merci|gracias|obrigad[oa]|grazie|bedankt|dziękujemy|děkujeme|спасибо|благодарим"
    r"|teşekkür|terima kasih)\b[^.!?]{0,12}\b(?:patien|understanding|cooperation|geduld|verständnis|compréhension"
    r"|pacien|comprens|paciên|compreens|pazien|begrip|cierpliw|wyrozumia|trpěliv|pochopení|терпени|понимани"
    r"|anlayış|pengertian|kesabaran)"
)
_SITED: Final = re.compile(r" [|–—-] ")  # a title, and the site's name
_LIMIT: Final = re.compile(r"\b429\b")
_PAGE: Final = re.compile(r"https?://\S+\.")
_ADDRESS: Final = re.compile(r"\b\d+\.\d+\.\d+\.\d+")
# Addresses that stand for others: nobody's, or those of a whole network.
_EXAMPLE: Final = re.compile(r"\b(\d{1,3})(?:\.\1){3}\b|\b(?:\d{1,3}\.){2,3}(?:\*|\d{1,3}/\d)")
# Numbers of cases: three digits or more in groups, but no date; long hexadecimal ones; long ones.
_NUMBER: Final = re.compile(
    r"(?<![\w.,/-])(?=(?:[\w./-]*?\d){3})(?!\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b)"
    r"(?:[a-z0-9]{1,10}[-/._]){1,5}[a-z0-9]{1,14}(?!\w)"
    r"|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b|\b\d{10,}\b"
)
_TEXT: Final[Mapping[str, int]] = WEIGHTS["text"]
_HEADLINE: Final[Mapping[str, int]] = WEIGHTS["headline"]
_PAIRS: Final = tuple((frozenset(pair.split(" & ")), weight) for pair, weight in WEIGHTS["pairs"].items())
_FORM: Final[Mapping[str, int]] = WEIGHTS["form"]
_BASE: Final[int] = WEIGHTS["base"]
_LISTED_ADDRESS: Final = frozenset({"origin"})  # what an address is: nothing is refused
_ROBOTS: Final = frozenset({"robot", "human", "taken"})
_REFUSED: Final = frozenset({"access", "stopped"})
_FLOOD: Final = frozenset({"origin", "excess", "wait"})
_REFUSAL: Final = frozenset({"stopped", "case", "taken", "guard"})
_VISITED: Final = frozenset({"stopped", "origin", "robot"})
_ADDRESSED: Final = frozenset({"origin", "robot", "human", "task", "tech"})
_OUTSIDERS: Final = frozenset({"robot", "human", "origin", "excess", "unusual", "task", "queue", "guard", "geo"})
_STRANGERS: Final = frozenset({"robot", "human", "geo"})
_WAITING: Final = frozenset({"queue", "wait", "prove"})
_CHECKS: Final = frozenset({"access", "case", "guard", "prove"})  # of a site's visitors, or of boilers and doors
_TESTED: Final = frozenset({"robot", "human", "task", "excess"})


class _Opening(NamedTuple):
    """What a page says first: source, text, and the families in its title or headline, and in all of it."""

    source: bytes
    text: str
    head: frozenset[str]
    said: frozenset[str]

    @property
    def keeps_out(self) -> bool:
        """Whether its heading refuses access, which others have."""
        return self.head >= _REFUSED and "only" in self.said


def leans(page: JudgedPage, body: bytes) -> bool:
    """Whether *page*, of the document *body*, leans towards a refusal far enough to be one; less is enough under a
    status that turns visitors away.

    Known weakness: an article or a manual about refusals that is as short as one has the same words. A refusal at 200
    whose title asks what happened, with neither address nor number, passes for one of these.
    """
    is_turned_away = page.is_turned_away and not (page.is_data or page.is_for_members or page.is_like_servers)
    least = LEAST_TURNED_AWAY if is_turned_away else LEAST
    opening = _opening(page)
    if not page.is_good and page.is_like_servers and opening.said.isdisjoint(_STRANGERS):
        return False
    if page.is_good and opening.said == _LISTED_ADDRESS:
        return False
    score = _score(page, opening)
    if score < least or (page.is_good and page.tells and not _is_to_visitor(page, opening)):
        return False
    return score + _against(page, body, opening) >= least


def leans_away(page: JudgedPage, body: bytes, *, is_framed: bool) -> bool:
    """Whether the form of *page* says that it is no refusal, and its words hardly that it is one. Where it *is_framed*
    by the design of its site, as pages are, less is enough, and that it has nothing but robots to speak of. A check is
    no refusal if nothing says that it is the visitor's."""
    opening = _opening(page)
    against = _against(page, body, opening)
    score = _score(page, opening) + against
    if page.is_aside and (_lists(opening.source) or b"<table" in opening.source):
        return score <= LEAST_ASIDE
    if is_framed and opening.said <= _ROBOTS:
        return True
    if opening.said and opening.said <= _CHECKS and not (any(page.told_robots) or page.traced or page.heads_refuse):
        return True
    is_plain = is_framed or not opening.said  # a page that its scripts write has a title, and no words yet
    return score <= (MOST_AWAY if is_plain and against <= MUCH_AGAINST else FAR_AWAY)


def asks_members(page: JudgedPage) -> bool:
    """Whether *page*, sent as if all were well, asks for a login or a right, and says nothing to those who have none
    to ask for: robots, or visitors whose number, network or country is in doubt."""
    if not page.is_good or not page.is_for_members or page.traced is not None or page.is_refusal:
        return False
    return FAMILIES.families_in(f"{page.title} . {page.spoken[:MOST_TEXT]}").isdisjoint(_OUTSIDERS)


def _score(page: JudgedPage, opening: _Opening) -> int:
    received = {"received"} if opening.said >= _FLOOD else set()  # too many requests, and no letters
    words: int = sum(_TEXT.get(family, 0) for family in opening.said - received)
    words += sum(_HEADLINE.get(family, 0) for family in opening.head - received)
    words += sum(weight for pair, weight in _PAIRS if pair <= opening.said)
    return _BASE + words + _weight(_in_favour(page, opening))


def _against(page: JudgedPage, body: bytes, opening: _Opening) -> int:
    return _weight(_against_opening(page, opening)) + _weight(_against_page(page, body))


def _opening(page: JudgedPage) -> _Opening:
    source, text = _first_part(page)
    text = _EXAMPLE.sub(" ", _PATIENCE.sub(" ", text))
    lines = _PATIENCE.sub(" ", f"{page.title} . {spelled_out(headline(source))}")
    head, said = FAMILIES.families_in(lines), FAMILIES.families_in(text)
    if "received" in head - said and _SITED.search(page.title):
        head -= {"received"}  # the site may be called so
    return _Opening(source, text, head, head | said)


def _first_part(page: JudgedPage) -> tuple[bytes, str]:
    """Source and text of the first heading with something below it, up to the end of its part of the page; or of the
    page; or what the scripts of a page without text have to say."""
    if len(page.text) < LEAST_TEXT:
        return b"", _in_scripts(page.source[:SCRIPT_BYTES]) or page.text
    for heading in islice(_HEADING.finditer(page.source), MOST_HEADINGS):
        start, stop = heading.start(), heading.start() + PART_BYTES
        end = _PART_END.search(page.source, heading.end(), stop)
        part = page.source[start : end.start() if end else stop]
        text = unquoted(spelled_out(visible_text(part.decode("utf-8", "replace"))))
        if len(text) >= LEAST_PART:
            return part, text[:MOST_TEXT]
    return page.source, page.spoken[:MOST_TEXT]


def _in_scripts(source: bytes) -> str:
    """The few sentences that its scripts hold; of many, an app will show some only."""
    said = [found.decode("utf-8", "replace").lower() for found in _LITERAL.findall(source) if b" " in found]
    return " ".join(said)[:MOST_TEXT] if len(said) <= MOST_LITERALS else ""


def _in_favour(page: JudgedPage, opening: _Opening) -> dict[str, bool]:
    source, said = opening.source, opening.said
    has_number = _NUMBER.search(opening.text) is not None
    return {
        "number": has_number,
        "case_number": has_number and not said.isdisjoint(_REFUSAL),
        "address": not said.isdisjoint(_VISITED) and _ADDRESS.search(opening.text) is not None,
        "bare": _refuses_only(page, said),
        "names_page": said >= _REFUSED and _PAGE.search(opening.text) is not None,
        "limit": "excess" in opening.head and _names_limit(page),
        "waits": not said.isdisjoint(_WAITING) and reloads(page.source),
        "code": asks_code(source),
        "field": not said.isdisjoint(_TESTED) and len(fields(source)) == 1,
        "members": "robot" in said and page.is_for_members and OWN_FORM.search(source) is None,
    }


def _is_to_visitor(page: JudgedPage, opening: _Opening) -> bool:
    """Whether it gives the visitor's address, or the number of the refusal."""
    signs = _in_favour(page, opening)
    return signs["case_number"] or signs["address"]


def _names_limit(page: JudgedPage) -> bool:
    """Whether the headline gives status 429, or the title is nothing else, or gives it under a status that refuses."""
    in_title = _LIMIT.search(page.title) if page.refused else _LIMIT.fullmatch(page.title)
    return _LIMIT.search(page.headline) is not None or in_title is not None


def _refuses_only(page: JudgedPage, said: frozenset[str]) -> bool:
    """Whether a page has nothing to tell but that access is refused."""
    is_all = width(page.text) <= ONLY_TEXT and not page.is_linked and not page.is_data
    return is_all and said >= _REFUSED and not (page.is_for_members or ASKS.any_in(page.text))


def _against_opening(page: JudgedPage, opening: _Opening) -> dict[str, bool]:
    source, text = opening.source, opening.text
    length, asked = width(text), max(len(fields(source)), source.count(b"<label"))
    return {
        "longer": length > LONGER,
        "very_long": length > VERY_LONG,
        "more_text": width(page.text) - length > MUCH_ELSE,
        "asks": ASKS.any_in(text),
        "price": _PRICE.search(text) is not None,
        "part_leads_on": leads_on(source),
        "list": _lists(source),
        "own_form": page.has_own_form and OWN_FORM.search(source) is not None,
        "fields": asked > 1,
        "button": not asked and _BUTTON.search(source) is not None,
        "things": page.is_of_things and opening.said.isdisjoint(_ADDRESSED) and not opening.keeps_out,
    }


def _lists(source: bytes) -> bool:
    return _LISTED.search(source) is not None or source.count(b"<td") > MANY_CELLS


def _against_page(page: JudgedPage, body: bytes) -> dict[str, bool]:
    return {
        "quotes": not page.is_data and len(page.text) - len(page.spoken) > QUOTED,
        "data": page.is_data and not page.answers,
        "explains": page.explains,
        "title_asks": page.title.endswith("?"),
        "title_names": ":" in page.title,
        "leads_on": page.is_linked,
        "links": body.count(b"<a ") > MANY_LINKS,
        "pictures": body.count(b"<img") > MANY_PICTURES,
        "headings": len(_HEADING.findall(page.source)) > MANY_HEADINGS,
        "paragraphs": len(_PARAGRAPH.findall(page.source)) > MANY_PARAGRAPHS,
        "article": b"<time" in body or page.has_article,
        "code_shown": b"<pre" in body or b"<code" in body,
        "own_data": page.states_data,
    }


def _weight(signs: Mapping[str, bool]) -> int:
    return sum(_FORM[sign] for sign, is_there in signs.items() if is_there)
