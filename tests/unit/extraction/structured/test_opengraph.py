"""What a page's meta elements state, read from its source."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.extraction import extract_product
from crawler.extraction.structured import opengraph
from crawler.extraction.tree.document import Document
from tests.effort import cpu_seconds

URL = "https://shop.example.com/p"


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ('<meta property="og:title" content="Men > Shoes">', "Men > Shoes"),
        ("<meta content='Men > Shoes' property='og:title'/>", "Men > Shoes"),
        ("<META PROPERTY = 'og:title' CONTENT = '6\" > 5\"' >", '6" > 5"'),
        ('<meta property=og:title content=Shoes"><link title="x">', "Shoes"),
        ('<!-- <meta property="og:title" content="Boots"> --><meta property="og:title" content="Shoes">', "Shoes"),
        ('<meta property="og:title" content="Boots', None),
    ],
)
def test_a_meta_element_ends_where_the_parser_ends_it(head: str, title: str | None) -> None:
    assert opengraph.metas(Document(f"<html><head>{head}", URL)).get("og:title") == title


@pytest.mark.parametrize("part", ["<meta =", '<meta ="', "<meta ='a\"", "<meta =\"<meta ='", f"<meta {'=' * 7_000}"])
def test_no_head_is_slow_to_read(part: str) -> None:
    document = Document(part * (60_000 // len(part)), URL)
    assert document.head
    assert cpu_seconds(lambda: opengraph.metas(document), 0.2) < 0.2


@pytest.mark.parametrize(
    ("label", "said", "found"),
    [
        ("Price", "$22", {"price": "$22", "currency": "USD"}),
        ("Preis", "1.299,00&nbsp;€", {"price": "1.299,00\xa0€", "currency": "EUR"}),
        ("Est. reading time", "3 minutes", {}),
        ("Price", "on request", {}),
    ],
)
def test_a_card_may_state_the_price(label: str, said: str, found: dict[str, str]) -> None:
    head = f'<meta name="twitter:label2" content="{label}"><meta name="twitter:data2" content="{said}">'
    document = Document(f"<html><head>{head}", URL)
    assert opengraph.card_fields(opengraph.metas(document), document) == found


def test_the_price_of_a_card_is_that_of_a_page_that_calls_itself_a_product() -> None:
    card = '<meta name="twitter:label1" content="Price"><meta name="twitter:data1" content="$22">'
    html = f'<html><head><meta property="og:type" content="product">{card}</head><body><h1>Fox</h1>'
    item = extract_product(html, URL)
    assert item is not None
    assert (item.price, item.currency, item.found_in["price"]) == (Decimal(22), "USD", "opengraph")
