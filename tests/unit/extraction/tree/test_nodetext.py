"""Texts of elements."""

from __future__ import annotations

import pytest

from crawler.extraction.tree.document import Document
from crawler.extraction.tree.nodetext import price_text, text_of


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("12<sup>99</sup> €", "12.99 €"),
        ("€<b>1,299</b><sup>50</sup>", "€ 1,299.50"),
        ("<b>12,90</b> <i>50</i>", "12,90 50"),
        ("12<span>,</span>90 €", "12,90 €"),
        ("<b>3</b> for <b>20</b>", "3 for 20"),
        ("plain  text", "plain text"),
        ("<script>x</script><style>y</style>z", "z"),
        ("", ""),
    ],
)
def test_cents_in_an_element_of_their_own(html: str, text: str) -> None:
    node = Document(f"<p>{html}</p>", "https://x.example/").first("p")
    assert node is not None
    assert price_text(node) == text


def test_a_text_is_read_only_as_far_as_wanted() -> None:
    node = Document("<p>" + "<b>word</b> " * 100_000, "https://x.example/").first("p")
    assert node is not None
    assert text_of(node, 20) == "word word word word "
    empty = Document("<p>" + "<i></i>" * 100_000 + "end", "https://x.example/").first("p")
    assert empty is not None
    assert text_of(empty, 20) == ""
