"""A page taken apart: its scripts, and its markup without them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.extraction import source

PIECES = st.sampled_from(
    ["<script>", "</script>", "<script type='a'>", "<style>", "</style>", "<!--", "-->", "<p class=a>", "</p>", "x < y"]
)


def scripts(html: str) -> list[tuple[str, str]]:
    return [(script.attributes.strip(), html[script.start : script.end]) for script in source.read(html).scripts]


@pytest.mark.parametrize(
    ("html", "markup"),
    [
        ("<p>a<script>if (i<n) b()</script>c", "<p>a<script></script>c"),
        ('<SCRIPT src="a>b">c</SCRIPT ><Style id=s>d</style>', '<SCRIPT src="a>b">c</SCRIPT ><Style id=s></style>'),
        ("<!-- <script>a</script> --><p>b", "<!-- <script>a</script> --><p>b"),
        ("<!-- <script> --><p>b<script>c</script>", "<!-- <script> --><p>b<script></script>"),
        ("<script>a<!-- b</script>c", "<script>a<!-- b</script>c"),
        ("<script>a('<script>b<\\/script>')</script>c", "<script>a('<script>b<\\/script>')</script>c"),
        ("<p>a<script>b", "<p>a<script>b"),
        ("<scripted>a</scripted>", "<scripted>a</scripted>"),
    ],
)
def test_markup_has_empty_scripts(html: str, markup: str) -> None:
    assert source.read(html).markup == markup


def test_scripts_are_found_where_they_are() -> None:
    html = "<script>a</script><!--<script>b</script>--><script type='c'><!-- d --></script><style>e</style><script>f"
    assert scripts(html) == [("", "a"), ("type='c'", "<!-- d -->")]


@given(st.lists(PIECES, max_size=12).map("".join))
def test_what_can_be_seen_stays(html: str) -> None:
    """The texts outside scripts, styles and comments are those of the whole source."""
    whole, markup = (LexborHTMLParser(each) for each in (html, source.read(html).markup))
    for tree in (whole, markup):
        tree.strip_tags(["script", "style"])
    assert [node.tag for node in markup.css("*")] == [node.tag for node in whole.css("*")]
    assert markup.text() == whole.text()
