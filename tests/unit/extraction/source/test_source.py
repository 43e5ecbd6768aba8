"""A page taken apart: its scripts, and its markup without them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.extraction import Document
from crawler.extraction.source import source, tame

PIECES = st.sampled_from(
    ["<script>", "</script>", "<script type='a'>", "<style>", "</style>", "<!--", "-->", "<p class=a>", "</p>", "x < y"]
)

# "¤" stands for a blank in Unicode, which is none in HTML.
TAGS = st.sampled_from(
    "<b>|</b>|<B |<i title='|'>|<!--|-->|<script>|</script>|<style>|</style>|<textarea>|</textarea>|<font x=y>|</font>"
    "|<body>|<html a='<b>'>|x|>|<br>|<!-->|<b¤>|<b></b>|<b></b¤>|<small/>|--!>|<em|<script src=x>|<|/"
    "|<col>|<COL/|<col></col>|<frameset ".replace("¤", "\xa0").split("|")
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


@given(st.lists(TAGS | st.text(max_size=3), max_size=20).map("".join))
def test_no_unclosed_element_is_missed(html: str) -> None:
    read = source.read(html)
    assert Counter(tame.strays(read.markup.encode())) <= Counter(read.strays)


def test_a_page_that_is_not_all_read_is_looked_at_again() -> None:
    html = "<p>" + "<b\ud800><i>" * 700 + "<p>" * 7_000
    document = Document(html, "https://shop.example.com/")
    assert document.is_doubtful
    assert document.tree.css_first("b") is None
