"""Currency symbols and codes -> ISO 4217; the page's country decides about the symbols that many share."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from crawler.caches import cached
from crawler.policy.validation import CURRENCIES

THREE_DECIMALS: Final = frozenset(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"))
NO_DECIMALS: Final = frozenset(("CLP", "COP", "HUF", "IDR", "ISK", "JPY", "KRW", "PYG", "VND", "XAF", "XOF"))

# A code and the symbols (in lower case) that mean it everywhere.
_SYMBOL_LIST = """
EUR € euro euros | PLN zł zl | CZK kč | RUB ₽ | THB ฿ บาท | NGN ₦ | UAH ₴ грн | PHP ₱ | BDT ৳ | LAK ₭
ILS ₪ ש"ח ש״ח nis | KHR ៛ | KRW ₩ 원 | VND ₫ đ vnđ | CRC ₡ | PYG ₲ | MNT ₮ | GEL ₾ | AMD ֏ դր
KZT ₸ тңг | INR ₹ | TRY ₺ tl | AZN ₼ ман | GHS ₵ gh₵ | RSD дин | JPY 円 | IDR rp
MYR rm | BRL r$ | PEN s/ s/. | CHF sfr | USD us$ | CAD ca$ cad$ | AUD au$ a$ | NZD nz$ | HKD hk$
TWD nt$ nt | SGD s$ sg$ | MXN mx$ | ARS ar$ | CLP cl$ | COP co$ | DOP rd$ | TTD tt$ | JMD j$ | BBD bds$
MOP mop$ | NAD n$ | UYU $u | CNY cn¥ 人民币 | AED د.إ درهم | SAR ر.س | QAR ر.ق | KWD د.ك | EGP ج.م جنيه
"""

# A symbol that several countries use -> {country of the page: code}; "" stands for any other country.
_DOLLAR: Final = {
    "": "USD", "au": "AUD", "ca": "CAD", "nz": "NZD", "hk": "HKD", "tw": "TWD", "sg": "SGD", "mx": "MXN",
    "ar": "ARS", "cl": "CLP", "co": "COP", "uy": "UYU", "jm": "JMD", "tt": "TTD", "bb": "BBD", "bs": "BSD",
    "bz": "BZD", "do": "DOP", "fj": "FJD", "na": "NAD",
}  # fmt: skip
_KRONA: Final = {"se": "SEK", "no": "NOK", "dk": "DKK", "is": "ISK", "fo": "DKK"}
_POUND: Final = {"": "GBP", "eg": "EGP", "lb": "LBP", "gi": "GIP"}
_RUPEE: Final = {"": "INR", "pk": "PKR", "lk": "LKR", "np": "NPR", "mu": "MUR"}
_YEN: Final = {"": "JPY", "cn": "CNY"}
_YUAN: Final = {"": "CNY", "tw": "TWD", "hk": "HKD"}
_RIAL: Final = {"": "SAR", "ir": "IRR", "om": "OMR", "qa": "QAR", "ye": "YER"}
_ROUBLE: Final = {"": "RUB", "by": "BYN"}
_SHARED: Final[dict[str, dict[str, str]]] = {
    "$": _DOLLAR, "kr": _KRONA, "£": _POUND, "₤": _POUND, "rs": _RUPEE,
    "₨": _RUPEE, "¥": _YEN, "￥": _YEN, "元": _YUAN, "﷼": _RIAL, "ريال": _RIAL, "руб": _ROUBLE, "р": _ROUBLE,
    "lei": {"": "RON", "md": "MDL"}, "c$": {"": "CAD", "ni": "NIO"}, "fr": {"ch": "CHF", "li": "CHF"},
    "ft": {"hu": "HUF"}, "r": {"za": "ZAR"}, "din": {"rs": "RSD"},
}  # fmt: skip

# Symbols with signs in them, then single characters that stand inside runs of letters (99元起), then words.
_TOKEN = re.compile(
    r"[^\W\d_]{0,3}\$u?|gh₵|cn¥|[€₽฿₦₴₱৳₭₪៛₩원₫₡₲₮₾֏₸₹₺₼₵円元£₤¥￥₨﷼]"
    r"|ש[\"״]ח|s/\.?|د\.إ|ر\.س|ر\.ق|د\.ك|ج\.م|[^\W\d_]+",
    re.IGNORECASE,
)
_CODES_IN_PROSE = (
    "aud",
    "cad",
    "chf",
    "eur",
    "gbp",
    "usd",
)  # other codes in lower case are words: all, top, pen
_NOT_A_COUNTRY = ("ai", "co", "eu", "io", "me", "tv")  # country domains that shops anywhere use


def _by_symbol() -> dict[str, str]:
    lines = _SYMBOL_LIST.replace("\n", " | ").split(" | ")
    rows = [line.split() for line in lines if line]
    return {symbol: row[0] for row in rows for symbol in row[1:]}


_SYMBOLS: Final = _by_symbol()


def iso_code(text: str, country: str = "") -> str | None:
    """The ISO 4217 code meant by *text*: a code, a symbol, or a price string that has one; else None.

    *country* is the page's: it decides about `$`, `kr`, `¥`, `£` and their like. Known weakness: `$` without a
    country is taken for US dollars, `¥` for yen.
    """
    code = text.strip().upper()
    if not code:
        return None
    if code in CURRENCIES:
        return code
    symbol = find_symbol(text)
    if symbol is None or symbol.upper() in CURRENCIES:
        return symbol and symbol.upper()
    shared = _SHARED.get(symbol)
    return _SYMBOLS[symbol] if shared is None else shared.get(country) or shared.get("")


def find_symbol(text: str) -> str | None:
    """The first currency symbol or code in *text*, in lower case."""
    for match in _TOKEN.finditer(text):
        token = match[0].lower()
        if token in _SYMBOLS or token in _SHARED or match[0] in CURRENCIES or token in _CODES_IN_PROSE:
            return token
        if token.endswith("$"):
            return "$"
    return None


def page_country(url: str, language: str = "") -> str:
    """The two-letter country a page speaks to, or "".

    Its host's country domain, else a locale in the path (`/en-ca/`), else the region of *language* (`fr-CH`).
    """
    parts = urlsplit(url)
    match = re.match(r"/([a-z]{2}[-_][a-z]{2})(?:/|$)", parts.path, re.IGNORECASE)
    return _country(parts.hostname or "", match[1] if match else language)


@cached(4_096)
def _country(host: str, language: str) -> str:
    last = host.rpartition(".")[2]
    if len(last) == 2 and last.isalpha() and last not in _NOT_A_COUNTRY:
        return "gb" if last == "uk" else last
    match = re.match(r"[a-z]{2,3}[-_](?:[a-z]{4}[-_])?([a-z]{2})\b", language, re.IGNORECASE)
    return match[1].lower() if match else ""
