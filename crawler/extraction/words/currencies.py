"""Currency symbols and codes to ISO 4217; the page's country resolves shared symbols.

The symbols are data: `currencies.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from crawler import urls
from crawler.policy.items.validation import CURRENCIES
from crawler.utils.caches import cached

THREE_DECIMALS: Final = frozenset(("BHD", "JOD", "KWD", "LYD", "OMR", "TND"))
NO_DECIMALS: Final = frozenset(  # or worth so little that no shop writes them
    (
        "ARS", "CLP", "COP", "CRC", "HUF", "IDR", "IQD", "IRR", "ISK", "JPY", "KHR", "KRW", "LAK", "LBP", "MMK", "PYG",
        "RWF", "UGX", "UZS", "VND", "XAF", "XOF",
    )
)  # fmt: skip
MAX_BESIDE: Final = 16  # characters examined beside a number

_DATA: Final[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")  # part of the program, read once
)
_SYMBOLS: Final[dict[str, str]] = {symbol: code for code, symbols in _DATA["everywhere"].items() for symbol in symbols}
_SHARED: Final[dict[str, dict[str, str]]] = _DATA["shared"]
_CAPITALS: Final[dict[str, str]] = {symbol: code for code, symbols in _DATA["capitals"].items() for symbol in symbols}
_WORDS: Final = frozenset(_DATA["codes"]["words"])
_ANY_CASE: Final = frozenset(_DATA["codes"]["any_case"])
_COUNTRIES: Final[dict[str, str]] = _DATA["countries"]

_SHARING: Final = frozenset(country for meant in _SHARED.values() for country in meant if country)
_POINTS: Final = frozenset(".,:/")
_JOINTS: Final = ("-", "_", "/")  # in identifiers
_DIGIT: Final = re.compile(r"\d")
_DASHED: Final[dict[str, str]] = _DATA["dashed"]
_DASH: Final = re.compile(r" ?[.,:/] ?[-–—](?!\d)")  # for no cents
_LETTERS: Final = r"[^\W\d_]+"
_CODE: Final = re.compile(r"\s{0,2}\(?([A-Z]{3})\b(?!\s?\d)")  # not the next amount's
_UNSPACED: Final = re.compile(r"[\u0e00-\u109f\u1780-\u17ff\u3040-\u9fff\uac00-\ud7af]")  # scripts without spaces
_AMOUNT: Final = re.compile(r"[.,'’]\d{2,3}(?!\d)|\d[ \u00a0\u202f]\d{3}(?!\d)")  # decimals, or thousands groups
_NOT_A_COUNTRY = ("ai", "co", "eu", "io", "me", "tv")  # country domains used by shops anywhere


def _token(symbols: Iterable[str]) -> re.Pattern[str]:
    """Symbols that contain signs or occur inside runs of letters (99元起), then words.

    All that start with a letter share one lookbehind, and single signs one character class.
    """
    signs = [each for each in symbols if not re.fullmatch(_LETTERS, each) or _UNSPACED.match(each)]
    signs = sorted((each for each in signs if "$" not in each), key=len, reverse=True)
    worded = [each for each in signs if each[0].isalpha() and not _UNSPACED.match(each)]
    others = [each for each in signs if each not in worded]
    single, longer = (_any(each for each in others if (len(each) == 1) is one) for one in (True, False))
    pattern = rf"[^\W\d_]{{0,3}}\$(?:u|s(?![^\W\d_]))?|{single}|{longer}|(?<![^\W\d_]){_any(worded)}"
    return re.compile(rf"{pattern}|(?:f ?cfa|бел\. ?руб|{_LETTERS})", re.IGNORECASE)


def _any(symbols: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, symbols))})"


_TOKEN: Final = _token((*_SYMBOLS, *_SHARED))


def iso_code(text: str, country: str = "") -> str | None:
    """The ISO 4217 code of a machine-readable *text*: a code in any case, a symbol, or a price string with one.

    *country* is the page's: it resolves `$`, `kr`, `¥`, `£` and the like. Known weakness: without a country `$` is
    taken for US dollars, `¥` for yen.
    """
    code = text.strip().upper()
    if code in CURRENCIES:
        return code
    meant = (_meant(match[0], country, certain=True) for match in _TOKEN.finditer(text))
    return next(filter(None, meant), None)


def may_look_alike(code: str, other: str) -> bool:
    """Whether one symbol stands for both currencies, each in its country: `$`, `kr`."""
    return any(not {code, other} - {*meant.values()} for meant in _SHARED.values())


def is_word(word: str) -> bool:
    """Whether *word* is a currency's name or code."""
    lower = word.lower()
    return lower in _SYMBOLS or lower in _SHARED or word in CURRENCIES


def beside(before: str, number: str, after: str, country: str = "") -> str | None:
    """The currency of a displayed *number*, from the symbol or code right before or after it.

    Words do not count (`TOP 10`, `2 cup`): a code has to be in capitals, and one that is also a word, or a short symbol
    (`SR`, `TL`), only counts in its own country or beside a number formatted as an amount.
    """
    tokens = list(_TOKEN.finditer(before[-MAX_BESIDE:])) if before else ()
    certain = bool(_AMOUNT.search(number))
    if tokens and not _DIGIT.search(tokens[-1].string, tokens[-1].end()) and not _is_joined(tokens[-1]):
        code = _meant(tokens[-1][0], country, certain=certain)
        if code is not None:
            return _coded(tokens[-1][0], after) or code
    first = _TOKEN.search(after[:MAX_BESIDE]) if after else None
    if first is None or _DIGIT.search(after[: first.start()]) or (before[-1:] == "-" == after[0]):  # ДУ-650-Р
        return _dashed(after, country)
    is_next = first.start() > 0 and after[first.end() : first.end() + 1].isdigit()  # 12 $15
    return None if is_next else _coded(first[0], after[first.end() :]) or _meant(first[0], country, certain=certain)


def _coded(symbol: str, after: str) -> str | None:
    """The code behind an amount whose *symbol* several countries share: `$25.00 CAD`, `25,00 $ CAD`."""
    meant = _SHARED.get(symbol.lower())
    code = _CODE.match(after) if meant and after else None
    return code[1] if meant and code and code[1] in meant.values() else None


def _is_joined(token: re.Match[str]) -> bool:
    """Whether letters before a number are part of an identifier: `CL-BND-1`, `X_USD 2`."""
    if not token[0].isalpha():
        return False
    text, before = token.string, token.string[: token.start()]
    behind = text[token.end() : token.end() + 1] in _JOINTS and len(text) == token.end() + 1
    return behind or (before[-1:] in _JOINTS and before[-2:-1].isalnum())


@cached(16_384)  # labels beside numbers are much the same on all pages
def mentions(text: str, country: str) -> bool:
    """Whether *text* has anything that `beside` may take for a currency."""
    return any(_meant(token, country, certain=True) for token in _TOKEN.findall(text)) or bool(_dashed(text, country))


def _dashed(after: str, country: str) -> str | None:
    """The currency of *country*, if *after* a number a dash stands for no cents."""
    return _DASHED.get(country) if after.lstrip()[:1] in _POINTS and _DASH.match(after) else None


def _meant(token: str, country: str, *, certain: bool) -> str | None:
    """The code of one *token*; of an ambiguous one only in its country, or if *certain*."""
    lower = token.lower().replace(" ", "")
    shared = _SHARED.get(lower, {})
    if code := shared.get(country):
        return code
    if token in CURRENCIES or token in _CAPITALS:
        code = _CAPITALS.get(token, token)
        if certain or code[:2].lower() == country or not (token in _CAPITALS or code in _WORDS):
            return code
    if shared:
        return shared.get("")
    if lower.upper() in _ANY_CASE:
        return lower.upper()
    code = _SYMBOLS.get(lower)
    return _SHARED["$"].get(country, "USD") if code is None and lower.endswith("$") else code


_LOCALE: Final = re.compile(r"/([a-z]{2}[-_][a-z]{2})(?:/|$)", re.IGNORECASE)


def page_country(url: str, language: str = "") -> str:
    """The two-letter country that a page addresses, or "".

    Its host's country domain, else a locale in the path (`/en-ca/`), or a country there (`/ca/en/`), else the region of
    *language* (`fr-CH`), else the country of most of its writers (`sv`).
    """
    parts = urls.split(url)
    match = _LOCALE.match(parts.path)
    return _country(parts.hostname or "", match[1] if match else _in_path(parts.path, language[:2].lower()) or language)


def _in_path(path: str, language: str) -> str:
    """The locale of a page in *language* whose *path* begins with a country, alone or beside that language; or ""."""
    first, second = [*path[1:7].lower().split("/"), "", ""][:2]
    country = second if first == language else first
    return f"{language}-{country}" if language and country != language and country in _SHARING else ""


@cached(4_096)
def _country(host: str, language: str) -> str:
    last = host.rpartition(".")[2]
    is_anywhere = last in _NOT_A_COUNTRY and not host.endswith(f".com.{last}")
    if len(last) == 2 and last.isalpha() and not is_anywhere:
        return "gb" if last == "uk" else last
    match = re.match(r"[a-z]{2,3}[-_](?:[a-z]{4}[-_])?([a-z]{2})\b", language, re.IGNORECASE)
    if match:
        return match[1].lower()
    tag = language.lower().replace("_", "-")
    return _COUNTRIES.get(tag, _COUNTRIES.get(tag.partition("-")[0], ""))
