"""Decimals in their stored form."""

from __future__ import annotations

from decimal import Decimal

import pytest
from bson.decimal128 import Decimal128
from hypothesis import given
from hypothesis import strategies as st

from crawler.storage.items.codec import decimal128

DIGITS = st.text("0123456789", max_size=22)


@given(st.sampled_from(["", "-"]), DIGITS, DIGITS)
def test_plain_numbers_are_put_together_as_pymongo_does(sign: str, whole: str, fraction: str) -> None:
    value = Decimal(f"{sign}0{whole[:15]}.{fraction[:18]}")
    assert decimal128(value) == Decimal128(str(value))
    assert str(decimal128(value)) == str(value)


@pytest.mark.parametrize(
    "text", ["0", "0.00", "-0", "1E+3", "1E-30", "9" * 19, "9" * 34, "0." + "0" * 18 + "1", "NaN", "-Infinity"]
)
def test_every_other_number_too(text: str) -> None:
    assert decimal128(Decimal(text)).bid == Decimal128(text).bid
