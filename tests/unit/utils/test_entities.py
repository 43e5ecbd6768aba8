"""Character references, however long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.extraction import extract_product, links
from crawler.policy.blocks import detect
from crawler.utils.entities import unescape

LONG = f"&#{'9' * 5_000};"


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("&amp;&#8364;&#x20ac;", "&€€"),
        ("&#0000065;", "A"),
        (LONG, "\ufffd"),
        (f"a{LONG}b", "a\ufffdb"),
        ("& &#", "& &#"),
    ],
)
def test_references_are_resolved(text: str, characters: str) -> None:
    assert unescape(text) == characters


@given(st.text(st.sampled_from("&#x;0123456789abclt")))
def test_no_text_makes_it_raise(text: str) -> None:
    assert len(unescape(text * 600)) <= len(text * 600)


@pytest.mark.parametrize(
    "html",
    [
        f"<title>{LONG}</title><h1>{LONG}</h1>",
        f"<base href='/{LONG}'><link rel=canonical href='/{LONG}'><a href='/p/{LONG}'>x</a>",
        f'<h1>x</h1><meta property="og:type" content="product"><meta property="og:description" content="{LONG}">',
        f'<script type="application/ld+json">{{"@type":"Product","name":"x","description":"{LONG}"}}</script>',
        f'<script type="application/ld+json">{{&quot;@type&quot;:&quot;Product&quot;,"name":"{LONG}"</script>',
    ],
)
def test_nor_does_a_page(html: str) -> None:
    """Python turns at most 4,300 digits into a number."""
    item = extract_product(html, "https://shop.example.com/p/1")
    assert item is None or item.title
    assert list(links(f"{html}<a href='/p/2'>x</a>", "https://shop.example.com/p/1")) == [
        "https://shop.example.com/p/2"
    ]
    assert detect(403, {}, html.encode(), "https://shop.example.com/p/1") is None
