"""Raw values and what they are read as."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import ean

from crawler.extraction.words import values

ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()) | st.decimals()


@pytest.mark.parametrize(
    ("raw", "amount"),
    [
        ("1.299,00 €", "1299.00"),
        ("₹1,29,999", "129999"),
        ("CHF 12.–", "12"),
        ("¥1,980", "1980"),
        ("1 299 kr", "1299"),
        ("1\u202f299,50 €", "1299.50"),
        ("12€50", "12.50"),
        ("$1,299.99", "1299.99"),
        ("1'299.50", "1299.50"),
        ("1’299.–", "1299"),
        ("1´299.50", "1299.50"),
        ("1`299.–", "1299"),
        ("1‘299", "1299"),
        ("۱،۲۹۹،۰۰۰", "1299000"),
        ("１２，８００", "12800"),
        ("１２．５０", "12.50"),
        ("满99，20元", "99"),
        ("iPhone15，599元", "15"),
        ("99,-", "99"),
        ("R$ 1.759,99", "1759.99"),
        ("10.990.000đ", "10990000"),
        ("20% off $5", "5"),
        ("from 7折 294", "294"),
        ("34 99", "34"),
        (".75", "0.75"),
        ("1234567,89", "1234567.89"),
        ("-5", None),
        ("−12,99", None),
        ("- $5", None),
        ("20%", None),
        ("free", None),
        ("0,00 €", None),
        ("", None),
        ("9" * 500, None),
    ],
)
def test_a_price_in_a_text(raw: str, amount: str | None) -> None:
    assert values.price_in_text(raw) == (Decimal(amount) if amount else None)


@pytest.mark.parametrize(
    ("raw", "amount"),
    [("129,000", "129"), ("1.299,000", "1299"), ("1 899,000", "1899"), ("1299", "1299"), ("12,50", "12.5")],
)
def test_a_price_in_dinars_of_tunisia_has_three_decimals(raw: str, amount: str) -> None:
    assert values.price_in_text(raw, "TND") == Decimal(amount)


@pytest.mark.parametrize(
    ("raw", "currency", "amount"),
    [
        ("1,250.500", "KWD", "1250.5"),
        ("1 250.500", "OMR", "1250.5"),
        ("12.500", "BHD", "12.5"),
        ("25.000", "IQD", "25000"),  # no shop writes its thousandths
    ],
)
def test_three_decimals_are_those_of_currencies_that_shops_write_with_them(
    raw: str, currency: str, amount: str
) -> None:
    assert values.price_in_text(raw, currency) == Decimal(amount)


@pytest.mark.parametrize(
    ("raw", "currency", "amount"),
    [
        ("13.4", None, "13.4"),
        (13.4, None, "13.4"),
        (13, None, "13"),
        ("1.299", "EUR", "1299"),
        ("1.290", "EUR", "1.290"),
        ("12.490", "ARS", "12490"),
        ("12.49", "ARS", "12.49"),
        ("1.299", "KWD", "1.299"),
        ("25.000", "IQD", "25000"),
        ("34.000", "VND", "34000"),
        ("34.000", "EUR", "34.000"),
        ("1299.123", "EUR", "1299.123"),
        ("1.299,00", "EUR", "1299.00"),
        (float("nan"), None, None),
        (float("inf"), None, None),
        ("NaN", None, None),
        (-1, None, None),
        ("0", None, None),
        (10**13, None, None),
        (None, None, None),
        (True, None, None),
    ],
)
def test_a_price_for_machines(raw: object, currency: str | None, amount: str | None) -> None:
    assert values.price(raw, currency) == (Decimal(amount) if amount else None)


@given(st.decimals(min_value="0.01", max_value=999_999, places=2), st.sampled_from(["{} €", "$ {}", "{}", "CHF {}"]))
def test_a_price_with_two_decimals_is_read_as_written(amount: Decimal, form: str) -> None:
    assert values.price_in_text(form.format(amount)) == amount
    assert values.price_in_text(form.format(f"{amount:,}")) == amount
    comma = str(amount).replace(".", ",")
    assert values.price_in_text(form.format(comma)) == amount


@given(ANYTHING)
def test_no_value_is_too_strange(raw: object) -> None:
    price = values.price(raw)
    assert price is None or (price.is_finite() and 0 < price < values.MAX_PRICE)
    rating = values.rating(raw)
    assert rating is None or 0 <= rating <= 5
    count = values.count(raw)
    assert count is None or count >= 0
    text = values.text(raw)
    assert text is None or (text == " ".join(text.split()) and 0 < len(text) <= values.MAX_TEXT)
    gtin = values.gtin(raw)
    assert gtin is None or ean.is_valid(gtin)
    assert values.availability(raw) is None or isinstance(raw, str)
    assert values.identifier(raw) is None or values.brand(raw) is None or isinstance(raw, (str, int))


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("https://schema.org/InStock", "InStock"),
        ("http://schema.org/OutOfStock/", "OutOfStock"),
        ("in stock", "InStock"),
        ("oos", "OutOfStock"),
        ("SoldOut", "OutOfStock"),
        ("PRE_ORDER", "PreOrder"),
        ("backorder", "BackOrder"),
        ("LimitedAvailability", "LimitedAvailability"),
        ("available for order", "InStock"),
        ("Not available right now", "OutOfStock"),
        ("Derzeit nicht lieferbar", "OutOfStock"),
        ("Auf Lager", "InStock"),
        ("En rupture de stock", "OutOfStock"),
        ("Agotado", "OutOfStock"),
        ("in den Warenkorb", None),
        ("無庫存 缺貨", "OutOfStock"),
        ("在庫あり", "InStock"),
        ("品切れ", "OutOfStock"),
        ("нет в наличии", "OutOfStock"),
        ("품절", "OutOfStock"),
        ("No longer available", "Discontinued"),
        ("whatever", None),
        ("", None),
        (None, None),
    ],
)
def test_availability(raw: object, name: str | None) -> None:
    assert values.availability(raw) == name


@pytest.mark.parametrize(
    ("raw", "gtin"),
    [
        ("4006381333931", "4006381333931"),
        ("978-3-16-148410-0", "9783161484100"),
        (36000291452, None),
        ("036000291452", "036000291452"),
        ("96385074", "96385074"),
        ("4006381333932", None),
        ("0000000000000", None),
        ("٤٠٠٦٣٨١٣٣٣٩٣١", None),
        ("9" * 5000, None),
        ("n/a", None),
    ],
)
def test_a_gtin_has_a_right_check_digit(raw: object, gtin: str | None) -> None:
    assert values.gtin(raw) == gtin


@pytest.mark.parametrize(
    ("raw", "best", "rating"),
    [
        ("4.5", "5", 4.5),
        ("9.1", "10", 4.55),
        ("87", None, 4.35),
        ("9.1", None, 4.55),
        ("4,5 von 5", None, 4.5),
        ("4.5", "0", 4.5),
        ("4.5", "3", 4.5),
        ("500", None, None),
        ("none", None, None),
    ],
)
def test_a_rating_ends_on_five(raw: object, best: object, rating: float | None) -> None:
    assert values.rating(raw, best) == rating


def test_names_and_identifiers() -> None:
    assert values.count("(1,234 reviews)") == 1234
    assert values.count("57 Opinions") == 57
    assert values.text("A &amp; B <b>c</b>\n  d") == "A & B c d"
    assert values.name("N/A") is None
    assert values.brand("More of the brand: Acme") == "Acme"
    assert values.brand("Brand:") is None or values.brand("Brand:") == "Brand:"
    assert values.identifier("TX502999-12 Housse de chaise") == "TX502999-12"
    assert values.identifier("NORD 370 EASY II") == "NORD 370 EASY II"
    assert values.identifier(20451) == "20451"
    assert values.identifier("SKU 00041") == "00041"
    assert values.identifier("#84682") == "84682"
    assert values.identifier("SKU-00041") == "SKU-00041"
    assert values.identifier("Mã: (chưa có)") is None
    assert values.brand("\u200eAcme\u200f") == "Acme"
