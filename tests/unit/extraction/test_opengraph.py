"""What a page's meta elements state, read from its source."""

from __future__ import annotations

import pytest

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
    assert cpu_seconds(lambda: opengraph.metas(document)) < 0.2
