"""Symbols and codes."""

from __future__ import annotations

import pytest

from crawler.extraction import currencies
from crawler.extraction.currencies import find_symbol, iso_code, page_country
from crawler.policy.validation import CURRENCIES


@pytest.mark.parametrize(
    ("text", "country", "code"),
    [
        ("eur", "", "EUR"),
        ("12,99 €", "", "EUR"),
        ("$5", "", "USD"),
        ("$5", "ca", "CAD"),
        ("$99", "tw", "TWD"),
        ("NT$ 99", "", "TWD"),
        ("US$ 5", "ca", "USD"),
        ("1 299 kr", "se", "SEK"),
        ("1 299 kr", "dk", "DKK"),
        ("1 299 kr", "", None),
        ("CHF 12.–", "", "CHF"),
        ("R$ 1.759,99", "", "BRL"),
        ("99元起", "", "CNY"),
        ("99元", "tw", "TWD"),
        ("¥1,980", "", "JPY"),
        ("¥1,980", "cn", "CNY"),
        ("249 ₽", "", "RUB"),
        ("173,34 Lei", "", "RON"),
        ("997,00 zł", "", "PLN"),
        ("99,- Kč", "", "CZK"),
        ("Rs. 500", "pk", "PKR"),
        ("RM12.90", "", "MYR"),
        ("ש״ח 12", "", "ILS"),
        ("10 000 원", "", "KRW"),
        ("12 ft", "us", None),
        ("all prices on top", "", None),
        ("XXL", "", None),
        ("", "", None),
    ],
)
def test_what_a_text_means(text: str, country: str, code: str | None) -> None:
    assert iso_code(text, country) == code


def test_every_symbol_means_a_currency_in_use() -> None:
    shared = {code for codes in currencies._SHARED.values() for code in codes.values()}
    assert set(currencies._SYMBOLS.values()) | shared <= CURRENCIES
    for symbol in currencies._SYMBOLS.keys() | currencies._SHARED.keys():
        assert find_symbol(f"{symbol} 5") == symbol, symbol


@pytest.mark.parametrize(
    ("url", "language", "country"),
    [
        ("https://shop.example.de/x", "en", "de"),
        ("https://shop.example.co.uk/x", "", "gb"),
        ("https://shop.example.com/en-ca/x", "", "ca"),
        ("https://shop.example.com/x", "fr-CH", "ch"),
        ("https://shop.example.io/x", "", ""),
        ("http://127.0.0.2/x", "", ""),
    ],
)
def test_which_country_a_page_speaks_to(url: str, language: str, country: str) -> None:
    assert page_country(url, language) == country
