"""Links read from the markup equal the parser's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.extraction import Document
from crawler.extraction.anchors import anchors

URL = "https://shop.example.com/c/knives"
PIECES = st.sampled_from(
    [
        "<a•href=/p/1>",
        '<a•class="x>y"•href="/p/2"•rel=nofollow>',
        "<a•href='/p/3?a=1&amp;b=2&copy=3'>",
        "</a>",
        "<a>",
        "<a•href>",
        "<a•href=>",
        "<A•HREF=/p/4>",
        "<area•href=/p/5•/>",
        '<link•rel=next•href="?page=2">',
        "<link•rel=stylesheet•href=x.css>",
        "<p>",
        "</p>",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "<textarea>",
        "</textarea>",
        '<a•data-href=/x•title="a<b"•href=/p/6>',
        "<a•title=it's•href=/p/7>",
        "x",
        "<",
        "<template>",
        "</template>",
        "<title>",
        "</title>",
        "<a•href=/p/8•href=/p/9>",
        "<a•href=/p/10",
        ">",
        "<a/href=/p/11>",
        "<iframe>",
        "</iframe>",
        '<a•href="/p/12"',
    ]
).map(lambda piece: piece.replace("•", " "))


def both(html: str) -> tuple[list[str], list[str]]:
    """The addresses by the markup and by the tree; those of a link that the parser opens again once."""
    written, parsed = Document(html, URL), Document(html, URL)
    assert parsed.tree
    return tuple(  # type: ignore[return-value]
        [href for href, _ in dict.fromkeys(anchors(page, following=True)) if href] for page in (written, parsed)
    )


@given(st.lists(PIECES, max_size=12).map(" ".join))
def test_markup_and_tree_have_the_same_links(pieces: str) -> None:
    written, parsed = both(f"<body>{pieces}</body>")
    assert written == parsed


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<a rel="x nofollow" href=/p/1>', ("/p/1", "x nofollow")),
        ("<a href='/p?a=1&amp;b=&#50;&reg=3' data-rel=next>", ("/p?a=1&b=2&reg=3", "")),
        ("<link href=?page=2 rel='next'>", ("?page=2", "next")),
    ],
)
def test_a_link_has_its_address_and_relation(html: str, found: tuple[str, str]) -> None:
    assert list(anchors(Document(html, URL), following=True)) == [found]


def test_nothing_is_parsed_for_links() -> None:
    page = Document("<p><a href=/p/1>x</a>" * 100, URL)
    assert len(list(anchors(page))) == 100
    assert not page.has_tree
