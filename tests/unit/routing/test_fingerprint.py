"""What makes two requests the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request

from crawler.routing.fingerprint import MASK, RequestFingerprinter, number

BASE = Request("https://shop.example/p?id=1")


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (Request("HTTPS://SHOP.example:443/p?utm_source=mail&id=1#reviews"), True),
        (Request("https://shop.example/p?id=1", headers={"A": "b"}, priority=5), True),
        (Request("https://shop.example/p?id=2"), False),
        (Request("http://shop.example/p?id=1"), False),
        (Request("https://shop.example/p?id=1", method="POST"), False),
        (Request("https://shop.example/p?id=1", method="POST", body="x"), False),
    ],
)
def test_method_canonical_url_and_body_make_a_request(other: Request, same: bool) -> None:
    fingerprint = RequestFingerprinter().fingerprint
    assert (fingerprint(BASE) == fingerprint(other)) is same


@given(st.binary(min_size=8, max_size=20))
def test_the_number_fits_a_signed_64_bit_integer(digest: bytes) -> None:
    assert 0 <= number(digest) <= MASK
