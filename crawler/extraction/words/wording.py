"""The words of `wording.toml`, compiled for the languages of a page."""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from crawler.extraction.words.phrases import Phrases
from crawler.utils.caches import LONGEST, Memo
from crawler.utils.lazy import cached_property

_PHRASES: Final[dict[str, dict[str, list[str]]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")  # part of the program, read once
)
LANGUAGES: Final = frozenset(_PHRASES)
# Languages of countries whose domain is not a language code.
_SPOKEN: Final = {
    "ad": "ca es fr", "ae": "ar", "al": "sq", "am": "hy ru", "ao": "pt", "ar": "es", "at": "de", "ba": "bs hr sr",
    "bd": "bn", "be": "nl fr", "bh": "ar", "bo": "es", "br": "pt", "by": "be ru", "ca": "fr", "ch": "de fr it",
    "ci": "fr", "cl": "es", "cm": "fr", "cn": "zh", "co": "es", "cr": "es", "cy": "el tr", "cz": "cs", "dk": "da",
    "do": "es", "dz": "ar fr", "ec": "es", "ee": "et ru", "eg": "ar", "et": "", "fi": "fi sv", "ge": "ka ru",
    "gr": "el", "gt": "es", "hk": "zh", "hn": "es", "il": "he", "in": "hi", "iq": "ar", "ir": "fa", "jo": "ar",
    "jp": "ja", "kg": "ru", "kr": "ko", "kw": "ar", "kz": "kk ru", "lb": "ar fr", "li": "de", "lu": "fr de",
    "lv": "lv ru", "ly": "ar", "ma": "ar fr", "md": "ro ru", "me": "sr bs", "mk": "mk sq", "mx": "es", "my": "ms zh",
    "mz": "pt", "ni": "es", "om": "ar", "pa": "es", "pe": "es", "py": "es", "qa": "ar", "rs": "sr", "sa": "ar",
    "se": "sv", "sg": "zh", "si": "sl", "sl": "", "sn": "fr", "sr": "nl", "sv": "es", "tn": "ar fr", "tw": "zh",
    "ua": "uk ru", "uy": "es", "uz": "uz ru", "ve": "es", "vn": "vi", "xk": "sq sr",
}  # fmt: skip
_STOCK: Final = {  # denials before promises
    "Discontinued": "discontinued",
    "OutOfStock": "out_of_stock",
    "PreOrder": "pre_order",
    "BackOrder": "back_order",
    "InStock": "in_stock",
}
# Kinds whose words also match without diacritics; near prices that would match other words ("før").
_FOLDED: Final = frozenset(
    (*_STOCK.values(), "over", "elsewhere", "buy", "other_button", "offered", "negation", "negation_after", "nearly")
)
_PLAIN: Final = {
    mark: plain
    for plain, marks in {
        "a": "áàâãäåāăą", "ae": "æ", "c": "çćčĉ", "d": "ďđð", "e": "éèêëēěėęə", "g": "ğģ", "i": "íìîïīįı", "k": "ķ",
        "l": "ľĺļł", "n": "ñńňņ", "o": "óòôõöøōő", "r": "ŕř", "s": "śšşșß", "t": "ťţț", "u": "úùûüūůűų", "y": "ýÿ",
        "z": "źžż",
    }.items()
    for mark in marks
}  # fmt: skip
_TWINS: Final = {"ș": "ş", "ț": "ţ"}  # which Romanian pages write for the same letters
# How a phrase may start: `^` (also of a line), `\b`, then a letter or sign, a class of them, or a digit.
_START: Final = re.compile(
    r"(?P<mode>\(\?m:)?(?P<place>\^|\\b)?(?:\[(?P<letters>[^]^\\-]+)\]|\\d|(?P<letter>\\\W|[^\\\[\](){}.*+?^$|]))(?![?*{+])"
)
_UNSPACED: Final = re.compile(r"[\u0e00-\u109f\u1780-\u17ff\u3040-\u9fff\uac00-\ud7af]")
_NO: Final = r"0|no|none|non|nein|nicht|não|nao|ne|nie|nee|nej|nei|nem|nu|нет|не|ні|ні|hayır|όχι|لا|לא|否|無|无"
_PIECES: Final = (
    r"pcs?|pieces?|units?|items?|left|st(?:k|ück)?|szt|ks|kom|kos|db|buc|adet|kpl|vnt|gab|tk|шт|бр|[個件点개]"
)
_ZERO: Final = re.compile(r"(?<![\d.,])0 (?:\w{1,8} )?$")
_REACH: Final = 40  # characters before and after a promise that may deny it
_CLAUSE: Final = 60  # characters around a denial that may say where it holds
_END: Final = re.compile(r"[\n!?;|•,。、，]|\.(?:\s|$)")  # of a clause
_BREAK: Final = re.compile(rf"{_END.pattern}|[(（]| [-–—] ")  # of what is said behind a denial
# Said of a whole shop, in the languages of most: "sold out online and in stores", "not in our shops".
_WHOLE: Final = re.compile(
    r"\b(?:on-?line|web\w*|internet\w*|ligne|línea|nett?\w*butikk?\w*|verkko\w*|онлайн|інтернет|интернет)|オンライン|온라인|[线線網网]上"
    r"|\b(?:our|unser\w*|nos|notre|nuestr\w+|noss[ao]s?|nostr\w|onze|nasz\w*|vår\w*|vore?s?|naš\w*|náš|наш\w*)\b"
    r"|\b(?:all|alle[nr]?|tous|tod[ao]s|tutt[ie])\b"
)


class Lexicon:
    """One pattern per kind of phrase; all are searched in lower-cased text.

    Each is compiled on first use: many pages need only a few.
    """

    out_of_stock: re.Pattern[str]
    discontinued: re.Pattern[str]
    pre_order: re.Pattern[str]
    back_order: re.Pattern[str]
    in_stock: re.Pattern[str]
    over: re.Pattern[str]
    elsewhere: re.Pattern[str]
    buy: re.Pattern[str]
    other_button: re.Pattern[str]
    price: re.Pattern[str]
    now: re.Pattern[str]
    on_request: re.Pattern[str]
    past_price: re.Pattern[str]
    other_price: re.Pattern[str]
    side_price: re.Pattern[str]
    with_tax: re.Pattern[str]
    subscribed: re.Pattern[str]
    offered: re.Pattern[str]
    negation: re.Pattern[str]  # at the end of the text before a promise
    negation_after: re.Pattern[str]  # at the start of the text after it
    nearly: re.Pattern[str]  # at the end of the text before a denial

    def __init__(self, languages: Iterable[str]) -> None:
        self._languages = sorted(languages)

    def __getattr__(self, kind: str) -> re.Pattern[str]:
        if kind not in Lexicon.__annotations__:
            raise AttributeError(kind)
        pattern = re.compile(_source(kind, self._languages))
        setattr(self, kind, pattern)
        return pattern

    def availability(self, text: str) -> str | None:
        """What *text* says about stock, as a schema.org name; a denial wins over a promise."""
        return next((name for name in _STOCK if self.place(name, text.lower()) is not None), None)

    def place(self, availability: str, text: str) -> int | None:
        """Where lower-cased *text* first states *availability*; a denied promise is OutOfStock."""
        pattern: re.Pattern[str] = getattr(self, _STOCK[availability])
        if availability == "InStock":
            return next((place for place, denied in self._promises(text) if not denied), None)
        if availability == "Discontinued":
            return self._denial(pattern, text)
        if availability != "OutOfStock":
            return found.start() if (found := pattern.search(text)) else None
        place = self._denial(pattern, text)
        denied = next((at for at, denied in self._promises(text) if denied), None)
        return min((at for at in (place, denied) if at is not None), default=None)

    @cached_property
    def of_stock(self) -> Phrases:
        """What texts about stock must contain: most say nothing of it."""
        return Phrases(each for kind in _STOCK.values() for each in _phrases(kind, self._languages))

    @cached_property
    def of_denial(self) -> Phrases:
        """What texts that deny stock must contain, but for a denied promise."""
        return Phrases(each for kind in ("out_of_stock", "discontinued") for each in _phrases(kind, self._languages))

    @cached_property
    def of_over(self) -> Phrases:
        """What texts must contain that say that something has ended or is to come."""
        return Phrases(_phrases("over", self._languages))

    @cached_property
    def of_buying(self) -> Phrases:
        """What labels of buy buttons must contain."""
        return Phrases(_phrases("buy", self._languages))

    @cached_property
    def of_offers(self) -> Phrases:
        """What a text before other sellers' price must contain."""
        return Phrases(_phrases("offered", self._languages))

    @cached_property
    def of_request(self) -> Phrases:
        """What texts must contain that stand in place of a price."""
        return Phrases(_phrases("on_request", self._languages))

    def says(self, kind: str, text: str) -> bool:
        """Whether *text* has a phrase of that *kind*, in any case; cached, for short texts that pages share."""
        return _SAID[text, kind, self]

    def buys(self, label: str) -> bool:
        """Whether lower-cased *label* is that of a buy button, not of a wish list or comparison."""
        return self.buy.search(label) is not None and self.other_button.search(label) is None

    def _denial(self, pattern: re.Pattern[str], text: str) -> int | None:
        """Where *pattern* is first found with no "nearly" before it, of the whole product."""
        for found in pattern.finditer(text):
            is_nearly = self.nearly.search(text[max(0, found.start() - _REACH) : found.start()])
            if not (is_nearly or self._is_elsewhere(text, *found.span())):
                return found.start()
        return None

    def _is_elsewhere(self, text: str, start: int, end: int) -> bool:
        """Whether the clause around a denial says that it holds for one place or way of delivery only.

        Known weakness: a shop that calls itself "the store" and has no possessive before it.
        """
        before = _END.split(text[max(0, start - _CLAUSE) : start])[-1]
        clause = before + text[start:end] + _BREAK.split(text[end : end + _CLAUSE], maxsplit=1)[0]
        return self.is_place(clause)

    def is_place(self, label: str) -> bool:
        """Whether lower-cased *label* names a place or way to get something: "Store pick-up"."""
        return self.elsewhere.search(label) is not None and _WHOLE.search(label) is None

    def denies(self, text: str) -> bool:
        """Whether lower-cased *text* denies stock, be it of one place only."""
        return self.out_of_stock.search(text) is not None

    def _promises(self, text: str) -> Iterator[tuple[int, bool]]:
        """(where stock is promised, whether the promise is denied)."""
        for promise in self.in_stock.finditer(text):
            before = text[max(0, promise.start() - _REACH) : promise.start()]
            after = text[promise.end() : promise.end() + _REACH]
            denied = self.negation.search(before) or _ZERO.search(before) or self.negation_after.match(after)
            if denied is None or not self._is_elsewhere(text, promise.start(), promise.end()):
                yield promise.start(), denied is not None


def languages_of(language: str, country: str) -> frozenset[str]:
    """The languages whose words a page may use: its own, its country's, and English; all if neither is known.

    Known weakness: a page that declares a wrong language on a host without a country.
    """
    told = {language, *_SPOKEN.get(country, country).split()} & LANGUAGES
    return frozenset(told | {"en"}) if told else LANGUAGES


@lru_cache(maxsize=256)
def lexicon(languages: frozenset[str] = LANGUAGES) -> Lexicon:
    """The phrases of *languages*."""
    return Lexicon(languages)


def _says(asked: tuple[str, str, Lexicon]) -> bool:
    text, kind, lexicon = asked
    pattern: re.Pattern[str] = getattr(lexicon, kind)
    return pattern.search(text.lower()) is not None


_SAID: Final = Memo(_says, 16_384, LONGEST)  # by lexicon, as the hash of a pattern is that of its whole code


def _phrases(kind: str, languages: Iterable[str]) -> list[str]:
    """The patterns of one *kind* in all *languages*, each once."""
    phrases = dict.fromkeys(each for language in languages for each in _PHRASES[language].get(kind, ()))
    return [_folded(phrase) for phrase in phrases] if kind in _FOLDED else list(phrases)


def _source(kind: str, languages: Iterable[str]) -> str:
    phrases = _phrases(kind, languages)
    if kind in ("negation", "nearly"):
        spaced = "|".join(each for each in phrases if not _UNSPACED.match(each)) or "(?!)"
        others = "|".join(each for each in phrases if _UNSPACED.match(each)) or "(?!)"
        return rf"(?:(?<!\w)(?:{spaced})(?: \w{{1,6}}){{0,2}} |(?:{others}) ?)$"
    if kind == "negation_after":
        behind = "|".join(phrases) or "(?!)"
        counted = rf"[(（] ?0(?: ?(?:{_PIECES})\.?)? ?[)）]"  # in stock (0 pcs)
        return rf"\w{{0,3}} ?(?:(?:{behind})(?!\w)|[:：] ?(?:{behind}|{_NO})(?![\w.,])|{counted})"
    if kind == "elsewhere":  # searched in clauses that deny, few and short
        return "|".join(phrases)
    return _by_first(phrases) if kind != "offered" else rf"(?:{'|'.join(phrases) or '(?!)'})\D{{0,6}}$"


def _folded(phrase: str) -> str:
    """A pattern that also finds *phrase* without diacritics."""
    pieces: list[str] = []
    inside = False  # in a character class
    for character in phrase:
        inside = (inside or character == "[") and character != "]"
        plain = _PLAIN.get(character, "")
        either = character + plain + _TWINS.get(character, "") if len(plain) < 2 else character
        pieces.append(
            either if inside or not plain else f"[{either}]" if len(plain) == 1 else f"(?:{character}|{plain})"
        )
    return "".join(pieces)


def _by_first(phrases: Iterable[str]) -> str:
    """One pattern for *phrases*, grouped by first letter: it only tries positions with one of these."""
    groups: dict[str, list[str]] = {}
    for phrase in phrases:
        for first, rest in _begun(phrase):
            groups.setdefault(first, []).append(rest)
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in groups.items()) or r"(?!)"


def _begun(phrase: str) -> Iterator[tuple[str, str]]:
    """*phrase* as (first letter, the rest), for each letter that it may start with.

    Raises ValueError if it starts with anything but a letter, a class of letters, a digit, or an anchor before one.
    """
    start = _START.match(phrase)
    if start is None:
        raise ValueError(f"no phrase of wording.toml may begin like {phrase!r}: write two, or one with a letter first")
    rest = phrase[start.end() :]
    for letter in (start["letter"],) if start["letter"] else start["letters"] or string.digits:
        behind = f"(?<={start['place']}{letter})" if start["place"] else ""
        yield letter, f"{start['mode'] or ''}{behind}{rest}"
