"""Symbols and codes."""

from __future__ import annotations

import pytest

from crawler.extraction.visible import money
from crawler.extraction.words import currencies, values
from crawler.extraction.words.currencies import beside, iso_code, page_country
from crawler.policy.items.validation import CURRENCIES


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
        ("prices", "", None),
        ("XXL", "", None),
        ("", "", None),
    ],
)
def test_what_a_text_means(text: str, country: str, code: str | None) -> None:
    assert iso_code(text, country) == code


@pytest.mark.parametrize(
    ("text", "country", "code"),
    [
        ("149,00 Kn", "hr", "HRK"),
        ("89 שקלים", "", "ILS"),
        ("129,90 euroa", "", "EUR"),
        ("12 євро", "", "EUR"),
        ("Php 1,299.00", "ph", "PHP"),
        ("php 8", "", None),
        ("NTD 1,280", "", "TWD"),
        ("1.299 ron", "ro", "RON"),
        ("ron 5", "", None),
        ("रु 4,500", "np", "NPR"),
        ("रु 4,500", "in", "INR"),
        ("रू. 999", "in", "INR"),
        ("250 جنية", "eg", "EGP"),
        ("1299/-", "in", "INR"),
        ("1,299/-", "pk", "PKR"),
        ("12/-", "", None),
        ("149,00 kn", "", "HRK"),
        ("30 kn", "", None),
        ("12 990 тг.", "", "KZT"),
        ("25,90 лв.", "", "BGN"),
        ("1.290 ден", "", "MKD"),
        ("90 000 сум", "", "UZS"),
        ("120 000 so'm", "", "UZS"),
        ("Dhs. 45", "", "AED"),
        ("Dhs 45.00", "", "AED"),
        ("399 DH", "ma", "MAD"),
        ("KSh 1,200", "", "KES"),
        ("15 000 FCFA", "", "XOF"),
        ("15 000 F CFA", "cm", "XAF"),
        ("QR 45.00", "", "QAR"),
        ("QR 45", "qa", "QAR"),
        ("QR 45", "", None),
        ("SR 1,299", "", "SAR"),
        ("SR 71", "", None),
        ("BD 2.500", "", "BHD"),
        ("BD 50", "", None),
        ("KD 4.750", "", "KWD"),
        ("Bs. 350,00", "bo", "BOB"),
        ("Bs. 350,00", "ve", "VES"),
        ("L.E. 450", "", "EGP"),
        ("450.00 LE", "", "EGP"),
        ("1.299,90 TL", "", "TRY"),
        ("2 TL", "de", None),
        ("2 TL", "tr", "TRY"),
        ("TRY 1,299.00", "", "TRY"),
        ("TOP 10", "", None),
        ("ALL 12 COLORS", "", None),
        ("PEN 5", "", None),
        ("PEN 5", "pe", "PEN"),
        ("2 cup", "", None),
        ("TRY 1 FREE", "", None),
        ("all 12.50 top", "", None),
        ("3 pen", "", None),
        ("GEL 50 ML", "", None),
        ("99,90 eur", "", "EUR"),
        ("Price in USD: 12", "", "USD"),
        ("from $5", "", "USD"),
        ("1 piece $5", "", None),
        ("12 $15", "", None),
        ("12€ 15", "", "EUR"),
        ("2 for $5", "", None),
        ("ราคา 99บาท", "", "THB"),
        ("500 Ft", "hu", "HUF"),
        ("500 ft", "", None),
        ("25 lv", "bg", "BGN"),
        ("SMALL 12", "", None),
        ("U$S 449", "uy", "USD"),
        ("$U 449", "", "UYU"),
        ("SKU CL-BND-1", "", None),
        ("SET_PEN 12,00", "", None),
        ("USD-49", "", None),
        ("Price - USD 49", "", "USD"),
        ("US-$ 49", "", "USD"),
        ("12,50 p/st", "se", None),
        ("1,290.-", "th", "THB"),
        ("12.990,-", "is", "ISK"),
        ("$ 48.900,00 COP", "", "COP"),
        ("$25.00 CAD", "", "CAD"),
        ("25,00 $ CAD", "", "CAD"),
        ("$25.00 (AUD)", "us", "AUD"),
        ("$25 USD", "mx", "USD"),
        ("kr 120,00 NOK", "", "NOK"),
        ("$25.00 CAD 33.00", "", "USD"),  # the next amount's
        ("$25.00 XXL", "", "USD"),
        ("€25.00 USD", "", "EUR"),
    ],
)
def test_what_stands_beside_a_number(text: str, country: str, code: str | None) -> None:
    number = values.WRITTEN.search(text)
    assert number is not None
    assert beside(text[: number.start()], number[0], text[number.end() :], country) == code


def test_every_symbol_means_a_currency_in_use() -> None:
    shared = {code for codes in currencies._SHARED.values() for code in codes.values()}
    assert {*currencies._SYMBOLS.values(), *currencies._CAPITALS.values()} | shared <= CURRENCIES
    assert currencies._WORDS | currencies._ANY_CASE <= CURRENCIES
    for symbol, code in currencies._SYMBOLS.items():
        assert beside(f"{symbol} ", "5.00", "") == code, symbol
        assert beside("", "5.00", f" {symbol}.") == code, symbol
    for symbol, codes in currencies._SHARED.items():
        for country, code in codes.items():
            assert beside("", "5", f" {symbol}", country) == code, symbol


@pytest.mark.parametrize(
    ("url", "language", "country"),
    [
        ("https://shop.example.de/x", "en", "de"),
        ("https://shop.example.co.uk/x", "", "gb"),
        ("https://shop.example.com/en-ca/x", "", "ca"),
        ("https://shop.example.com/ca/en/x", "en", "ca"),
        ("https://shop.example.com/en/ca/x", "en-US", "ca"),
        ("https://shop.example.com/ca/x", "fr", "ca"),
        ("https://shop.example.com/ca/x", "ca", ""),  # in Catalan
        ("https://shop.example.com/ca/x", "", ""),
        ("https://shop.example.com/qq/x", "en", ""),
        ("https://shop.example.de/ca/x", "fr", "de"),
        ("https://shop.example.com/x", "fr-CH", "ch"),
        ("https://shop.example.io/x", "", ""),
        ("https://shop.example.co/x", "", ""),
        ("https://shop.example.com.co/x", "", "co"),
        ("https://shop.example.com/x", "sv", "se"),
        ("https://shop.example.com/x", "de", ""),
        ("https://shop.example.com/x", "zh", "cn"),
        ("https://shop.example.com/x", "zh-Hans", "cn"),
        ("https://shop.example.com/x", "zh-Hant", ""),
        ("https://shop.example.com/x", "zh-Hant-HK", "hk"),
        ("https://shop.example.jp/x", "zh", "jp"),
        ("http://127.0.0.2/x", "", ""),
    ],
)
def test_which_country_a_page_speaks_to(url: str, language: str, country: str) -> None:
    assert page_country(url, language) == country


@pytest.mark.parametrize("country", ["", "de", "se", "us", "kw"])
def test_what_mentions_no_currency_is_none_beside_any_number(country: str) -> None:
    texts = ["", "Qty", "TOP", "cup", "kr", "SR", "US$", "€", "EUR incl.", "12 reviews", "元起", "no currency", "CUP "]
    for text in texts:
        beside = {
            currencies.beside(before, number, after, country)
            for before, after in ((text, ""), ("", f" {text}"))
            for number in ("7", "19.99", "1 299")
        }
        assert currencies.mentions(text, country) or beside == {None}


@pytest.mark.parametrize(
    ("text", "country", "amount", "code"),
    [
        ("₹ 7.99 Lakh", "in", "799000", "INR"),
        ("Rs 1.2 crore", "in", "12000000", "INR"),
        ("12.8万円", "jp", "128000", "JPY"),
        ("3만 9,000원", "kr", "39000", "KRW"),
        ("12 € 99", "fr", "12,99", "EUR"),
        ("12 € 15 €", "fr", "12", "EUR"),
        ("39 € 24 Monate", "de", "39", "EUR"),
        ("12 € 50 ml", "fr", "12", "EUR"),
        ("₩5,000 만두 세트", "kr", "5,000", "KRW"),
        ("¥39.9 万能遥控器", "cn", "39.9", "CNY"),
        ("¥39.9万能遥控器", "cn", "39.9", "CNY"),
        ("€ 45 Lac Léman", "fr", "45", "EUR"),
    ],
)
def test_what_is_written_behind_a_number_belongs_to_its_amount(text: str, country: str, amount: str, code: str) -> None:
    assert money.written(text, country) == (amount, code)
