"""The words of `wording.toml`, compiled for the languages of a page."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

_PHRASES: Final[dict[str, dict[str, list[str]]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")  # a part of the program, read once with it
)
LANGUAGES: Final = frozenset(_PHRASES)
# Languages of a country whose domain is not the name of its language.
_SPOKEN: Final = {
    "ae": "ar", "ar": "es", "at": "de", "be": "nl fr", "br": "pt", "by": "ru", "ca": "fr", "ch": "de fr it", "cl": "es",
    "cn": "zh", "co": "es", "cz": "cs", "dk": "da", "ee": "et ru", "eg": "ar", "fi": "fi sv", "gr": "el", "hk": "zh",
    "il": "he", "in": "hi", "jp": "ja", "kr": "ko", "kz": "ru", "li": "de", "lu": "fr de", "lv": "lv ru", "md": "ro ru",
    "mx": "es", "my": "id", "pe": "es", "sa": "ar", "se": "sv", "sg": "zh", "tw": "zh", "ua": "uk ru", "vn": "vi",
}  # fmt: skip
_STOCK: Final = {  # a denial comes before a promise
    "Discontinued": "discontinued",
    "OutOfStock": "out_of_stock",
    "PreOrder": "pre_order",
    "BackOrder": "back_order",
    "InStock": "in_stock",
}


@dataclass(frozen=True, slots=True)
class Lexicon:
    """One pattern for each kind of phrase; all are searched in lower-cased text."""

    out_of_stock: re.Pattern[str]
    discontinued: re.Pattern[str]
    pre_order: re.Pattern[str]
    back_order: re.Pattern[str]
    in_stock: re.Pattern[str]
    buy: re.Pattern[str]
    price: re.Pattern[str]
    past_price: re.Pattern[str]
    other_price: re.Pattern[str]

    def availability(self, text: str) -> str | None:
        """What *text* says of the stock, as a name of schema.org; a denial wins over a promise."""
        text = text.lower()
        return next((name for name in _STOCK if self.pattern(name).search(text)), None)

    def pattern(self, availability: str) -> re.Pattern[str]:
        """The pattern of a name of schema.org."""
        pattern: re.Pattern[str] = getattr(self, _STOCK[availability])
        return pattern


def languages_of(language: str, country: str) -> frozenset[str]:
    """The languages whose words a page may use: its own, its country's, and English; all when neither tells.

    Known weakness: a page of a host without a country that names a wrong language.
    """
    told = {language, country, *_SPOKEN.get(country, "").split()} & LANGUAGES
    return frozenset(told | {"en"}) if told else LANGUAGES


@lru_cache(maxsize=256)
def lexicon(languages: frozenset[str] = LANGUAGES) -> Lexicon:
    """The phrases of *languages*."""
    return Lexicon(**{kind: _compiled(kind, languages) for kind in Lexicon.__slots__})


def _compiled(kind: str, languages: Iterable[str]) -> re.Pattern[str]:
    phrases = [phrase for language in sorted(languages) for phrase in _PHRASES[language].get(kind, ())]
    return re.compile("|".join(dict.fromkeys(phrases)) or r"(?!)")
