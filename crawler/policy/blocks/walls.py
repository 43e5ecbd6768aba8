"""Walls before a site's pages: they ask for an age, a choice, a click or patience, and have nothing else. Pure.

Pages speak of all of this, too, in banners and dialogs above what they have to say, and small ones (courses for adults,
eighteen years in business, a boiler's maintenance) of hardly anything else. So the words only say what a wall is about;
that it is one, its form does: it begins with it, no heading is about something else, it sells, lists and states
nothing, leads nearly nowhere, and it wants to be answered, which an answer waits for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import re2

from crawler.policy.blocks.judged_page import JudgedPage
from crawler.policy.blocks.page_shape import OWN_FORM, fields, leads_on, reloads
from crawler.policy.blocks.page_text import spelled_out, visible_text, width
from crawler.policy.blocks.shells import carries_data
from crawler.policy.blocks.signs import Phrasings
from crawler.policy.blocks.vendors import (
    AGE,
    AGE_CHECK,
    ANSWER,
    CHOICE,
    CHOOSING,
    CONFIRMING,
    ENTRY,
    EXPLAINS,
    FAMILIES,
    GENERIC,
    PRESSING,
    PROVING,
    RETURNING,
    SHUT,
    SORRY,
    UPKEEP,
)

AGES: Final = "age"  # names of vendors
CHOICES: Final = "consent"
WORKS: Final = "maintenance"
MOST_TEXT: Final = 700  # characters
MOST_CHOICE_TEXT: Final = 1_200
MOST_WORKS_TEXT: Final = 250
MOST_ELSE: Final = 120  # of a wall of consent, about something else
MOST_CONTROL_TEXT: Final = 110
MOST_CONTROL_LINKS: Final = 3  # to rules and help
FIRST: Final = 200  # of its text, where it comes to the point
MOST_LINKS: Final = 8
MOST_ITEMS: Final = 4
MOST_PICTURES: Final = 3
_HEADING: Final = re.compile(rb"<h([1-4])\b[^<>]*>(.{0,400}?)</h\1", re.IGNORECASE | re.DOTALL)
_ANSWER: Final = re.compile(
    rb"""<(?:button|select)\b|<input\b(?![^<>]*type\s*=\s*["']?hidden)|role\s*=\s*["']?button""", re.IGNORECASE
)
# By RE2, which reads no place twice, where one is not closed.
_LABELLED: Final = re2.compile(rb"(?is)<(?:button|a|label)\b[^<>]*>(.*?)</(?:button|a|label)\b")
_CONTROL: Final = re2.compile(rb"(?is)<(?:button|a|select)\b.*?</(?:button|a|select)\b[^<>]*>")
_PART_END: Final = re.compile(rb"</(?:h\d|p|div|li|td)\b[^<>]*>", re.IGNORECASE)
_VALUE: Final = re.compile(rb"""<input\b[^<>]*\bvalue\s*=\s*["']?([^"'<>]{1,100})""", re.IGNORECASE)
_PICKED: Final = re.compile(rb"""type\s*=\s*["']?radio""", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"[.!?。！？](?:\s|$)|[。！？]")
_STOP: Final = re.compile(r"([.!?;。！？؟])")
_QUESTIONS: Final = ("?", "？", "؟", ";")  # the last in Greek
_ASKING: Final = ("か", "吗", "嗎", "หรือไม่", "ไหม")  # ends of a question without a sign


def wall(page: JudgedPage) -> str:
    """The vendor's name for the wall that *page* is, or "".

    Works on a site are one only if sent as if all were well: else the status says so, and when to come back.
    Known weakness: a page of some lines that asks for an age or a choice for its own sake (a quiz, settings).
    """
    if not page.is_bare or not page.text or width(page.text) > MOST_CHOICE_TEXT:
        return ""
    name = _named(page)
    return "" if name and _has_own(page) else name


def _named(page: JudgedPage) -> str:
    """The name of the wall whose words and form *page* has."""
    if _asks_age(page):
        return AGES
    if _asks_choice(page):
        return CHOICES
    if _is_one_control(page):
        return GENERIC.name
    return WORKS if page.is_good and _says_works(page) else ""


def _has_own(page: JudgedPage) -> bool:
    """Whether it has what only a page has."""
    source = page.source
    return (
        source.count(b"<a ") > MOST_LINKS
        or source.count(b"<li") > MOST_ITEMS
        or source.count(b"<img") > MOST_PICTURES
        or page.is_data
        or page.has_article
        or page.states_data
        or OWN_FORM.search(source) is not None
        or carries_data(source)
    )


def _asks_age(page: JudgedPage) -> bool:
    if width(page.text) > MOST_TEXT or page.sells or page.explains or _PICKED.search(page.source) is not None:
        return False
    return _is_headed(page, AGE) and _wants_age(page)


def _wants_age(page: JudgedPage) -> bool:
    """Whether it asks for an age, or makes it the condition to go on, and has what to answer with."""
    prose = f"{page.title}. {_text(_CONTROL.sub(b'. ', page.source))}"
    checks = AGE_CHECK.any_in(f"{page.title}. {page.heading}") or _is_condition(prose)
    if fields(page.source):
        return checks
    return (checks or any(map(AGE.any_in, _questions(prose)))) and any(
        ANSWER.any_in(f"^{label}") or AGE.any_in(label) for label in _labels(page.source)
    )


def _questions(prose: str) -> Iterator[str]:
    parts = _STOP.split(prose)
    for part, stop in zip(parts[::2], [*parts[1::2], ""], strict=True):
        if stop in _QUESTIONS or part.rstrip().endswith(_ASKING):
            yield part


def _is_condition(prose: str) -> bool:
    """Whether a sentence says that who wants to go on has to be of an age, or the next, to confirm that."""
    sentences = _SENTENCE.split(prose)
    pairs = zip(sentences, [*sentences[1:], ""], strict=True)
    return any(AGE.any_in(one) and (ENTRY.any_in(one) or CONFIRMING.any_in(following)) for one, following in pairs)


def _labels(source: bytes) -> list[str]:
    """What its buttons, links and things to tick say."""
    return [_text(label) for label in (*_LABELLED.findall(source), *_VALUE.findall(source))]


def _asks_choice(page: JudgedPage) -> bool:
    if _ANSWER.search(page.source) is None or not CHOOSING.any_in(f"{page.title}. {page.spoken}"):
        return False
    if EXPLAINS.any_in(page.title) or _goes_on(page.source, CHOICE, is_first=True):
        return False
    others = (sentence for sentence in _SENTENCE.split(page.spoken) if not CHOICE.any_in(sentence))
    return sum(map(width, others)) <= MOST_ELSE


def _is_one_control(page: JudgedPage) -> bool:
    """Whether there is nothing but one thing to tick, hold or press, by people or to go on."""
    source = page.source
    if width(page.text) > MOST_CONTROL_TEXT or source.count(b"<a ") > MOST_CONTROL_LINKS or page.sells:
        return False
    if fields(source) or len(_ANSWER.findall(source)) != 1 or "received" in FAMILIES.families_in(page.spoken):
        return False
    if PROVING.any_in(page.spoken):
        return True
    labels, said = " ".join(_labels(source)), _first_said(source)
    label = FAMILIES.families_in(labels)
    if "task" in label:
        return not said or "task" in FAMILIES.families_in(said)
    return "onward" in label and (PRESSING.any_in(f"{said} {labels}") if said else not page.title)


def _first_said(source: bytes) -> str:
    """The first sentence, heading or paragraph outside its controls."""
    parts = _SENTENCE.split(_text(_PART_END.sub(b". ", _CONTROL.sub(b" ", source))))
    return next(filter(None, (part.strip(" .") for part in parts)), "")


def _says_works(page: JudgedPage) -> bool:
    if width(page.text) > MOST_WORKS_TEXT or page.sells or leads_on(page.source) or b"<form" in page.source:
        return False
    if not RETURNING.any_in(page.spoken):
        return False
    if not ((UPKEEP.any_in(page.title) or SHUT.any_in(page.spoken)) and _is_headed(page, UPKEEP)):
        return False
    return reloads(page.source) or "wait" in FAMILIES.families_in(page.spoken)


def _is_headed(page: JudgedPage, theme: Phrasings) -> bool:
    """Whether it comes to the point at once, and then no heading is about something else."""
    return theme.any_in(f"{page.title}. {page.spoken[:FIRST]}") and not _goes_on(page.source, theme)


def _goes_on(source: bytes, theme: Phrasings, *, is_first: bool = False) -> bool:
    """Whether a heading is about something else than the *theme*, or the first thing that it says, unless that counts,
    too."""
    for found in _HEADING.finditer(source):
        heading = _text(found[2])
        is_other = heading and not theme.any_in(heading) and not SORRY.any_in(heading)
        if is_other and (is_first or _text(source[: found.start()])):
            return True
    return False


def _text(source: bytes) -> str:
    return spelled_out(visible_text(source.decode("utf-8", "replace")))
