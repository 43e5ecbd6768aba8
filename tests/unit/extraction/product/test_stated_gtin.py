"""A GTIN with a label on the page, beside structured data that is complete without one."""

from __future__ import annotations

import pytest

from crawler.extraction import Document, extract_product
from tests.unit.extraction.shop import json_ld

URL = "https://shop.example.com/knife"
BODY = "<h1>Kochmesser</h1><p>49,90 €</p><p>SKU: LD-1</p>"


@pytest.mark.parametrize(
    ("body", "gtin"),
    [
        ("<table><tr><td>EAN</td><td>4006381333931</td></tr></table>", "4006381333931"),
        ("<p>GTIN: 4006381333931</p>", "4006381333931"),
        ("<dl><dt>ISBN-13</dt><dd>978-3-16-148410-0</dd></dl>", "9783161484100"),
        ("<p>UPC 036000291452</p>", "036000291452"),
        ("<p>EAN: 4006381333932</p>", None),
        ("<p>OCEAN: 4006381333931</p>", None),
        ("<p>EAN: 4006381333931</p><li>Fork, <i>EAN</i> 9783161484100</li>", None),
    ],
)
def test_a_labelled_gtin_is_read_though_the_data_is_complete(body: str, gtin: str | None) -> None:
    item = extract_product(f"<title>Kochmesser</title>{json_ld()}{BODY}{body}", URL)
    assert item is not None
    assert (item.gtin, item.sku) == (gtin, "LD-1")


def test_a_stated_gtin_stays_and_no_tree_is_built() -> None:
    stated = f"<title>Kochmesser</title>{json_ld(gtin13='4006381333931')}{BODY}<p>EAN: 9783161484100</p>"
    item = extract_product(stated, URL)
    assert item is not None
    assert item.gtin == "4006381333931"
    document = Document(f"<title>Kochmesser</title>{json_ld()}{BODY}<p>EAN: 4006381333931</p>", URL)
    assert extract_product(document, document.url) is not None
    assert not document.has_tree


def test_a_text_may_have_an_older_number_before_it() -> None:
    body = "<h1>Moby Dick</h1><p class=price>$6.50</p><button>Buy now</button><p>ISBN 10: 3161484100 / 13: {}</p>"
    item = extract_product(body.format("9783161484100"), URL)
    assert item is not None
    assert item.gtin == "9783161484100"
