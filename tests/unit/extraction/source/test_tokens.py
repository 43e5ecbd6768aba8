"""The tags of a source as a parser sees them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.extraction.source import growth, tokens
from crawler.extraction.source.tame import MAX_ATTRIBUTES, RUN, tamed

PAGE = b"<p a=1>x</p><!-- <b> --><SCRIPT>'<i>'</script><!DOCTYPE x></1><svg/>y"


def read(page: bytes) -> list[bytes]:
    """Each token as it is written, an end tag with a slash before its name."""
    return [b"/"[: each.ends] + each.name or page[each.start : each.end] for each in tokens.tokens(page)]


def test_tags_comments_and_raw_text() -> None:
    assert read(PAGE) == [b"p", b"/p", b"<!-- <b> -->", b"SCRIPT", b"<!DOCTYPE x", b"</1", b"svg"]
    first, *_ = tokens.tokens(PAGE)
    assert (first.attributes.strip(), PAGE[first.end : first.end + 1]) == (b"a=1", b">")
    assert (tokens.has_foreign(PAGE), tokens.has_foreign(b"<svgs><maths>")) == (True, False)


def test_nothing_is_left_in_which_raw_text_is_markup() -> None:
    page = b"<svg a=1><style/><Math>x</MATH></svg ><svgs>"
    assert tokens.without_foreign(page) == b"<span a=1><style/><span>x</span></span ><svgs>"
    assert tokens.without_foreign(PAGE.replace(b"svg", b"i")) == PAGE.replace(b"svg", b"i")


ICON = b"<svg a='1' b='c=d'><title id='a'>x</title><animate b='c' /><!--! a-b --><g>\n<path d='M0 0'/></g></svg>"


def test_a_page_of_icons_is_left_as_it_is() -> None:
    json = b"<div data-a='" + b"&quot;b&quot; " * 20_000 + b"'>"
    page = json + b"<p>" + 5_000 * ICON
    assert tokens.without_foreign(page) is page
    assert tamed(page) is page


@pytest.mark.parametrize(
    "held",
    [
        b"<style>", b"<title><b>", b"<title", b"<!-- > -->", b"<!-->", b"<!--a--!>", b"<![CDATA[", b"<desc>", b"<svg>",
        b"<path a='</svg>'>", b"<path a=\"'\" b='>'>", b'<g/ ="</svg>">', b"</p>", b"x",
    ],
)  # fmt: skip
def test_an_icon_holds_nothing_that_may_be_read_otherwise(held: bytes) -> None:
    page = ICON + ICON.replace(b"<g>", b"<g>" + held)
    assert tokens.without_foreign(page).count(b"<span") >= 2


@pytest.mark.parametrize("rest", [b"<!-- <i>", b"<!--", b"<script><i>", b"<textarea", b"<title>x</titl"])
def test_what_has_no_end_goes_on_to_the_end_of_the_page(rest: bytes) -> None:
    page = b"<p>" + rest
    _, last = tokens.tokens(page)
    assert (last.start, last.end) == (3, len(page))


@pytest.mark.parametrize(
    "before",
    [
        "", "<!-- <p", "<!-- -->", "<script>", "<script></script>", "<xmp></xmp/<xmp>", "</p/<xmp>",
        "<<textarea><!--</textarea>",
    ],
)  # fmt: skip
def test_surplus_attributes_are_cut_off_in_tags_alone(before: str) -> None:
    attributes = "".join(f" a{n}={n}" for n in range(20_000))
    kept = tamed(f"{before}<p{attributes}>".encode()).count(b" a")
    assert kept == (20_000 if before in {"<!-- <p", "<script>"} else MAX_ATTRIBUTES)
    assert MAX_ATTRIBUTES < RUN


ATTRIBUTES = st.sampled_from([*"=\"' /\t>x", " a", "</b>", "<i>", "</i>", "<br>", ' a="', "='", "b=c"])
CLOSED = tokens.compiled(rf"<(?P<name>b)(?=[\s/>]){tokens.CLOSED}")


@given(st.lists(ATTRIBUTES, max_size=12))
def test_an_element_that_ends_for_certain_ends_there(pieces: list[str]) -> None:
    page = f"<b {''.join(pieces)}>x</b><m>y</m>"
    if (found := CLOSED.match(page.encode())) is not None:
        begins = page[: found.end()] + "<m>"
        assert [node.tag for node in LexborHTMLParser(begins).css("b m, i m")] == []
        assert LexborHTMLParser(begins).css_first("m") is not None


MARKUP = st.sampled_from(
    """<!-- --> --!> <!--> <!---> <!--!> - ! > -- <! </ <? ]]> <![CDATA[ <script> </script> </script/ </scriptx>
    << </p/ </xmp/
    <SCRIPT/ <textarea> </textarea> <title> </title> <style> </style> <xmp> </xmp> <p•a=" <p•a=' " ' = / x""".replace(
        "\n", " "
    ).split(" ")
).map(lambda piece: piece.replace("•", " "))


@given(st.lists(MARKUP, max_size=12))
def test_no_element_of_the_tree_is_hidden_from_a_reader_of_the_source(pieces: list[str]) -> None:
    page = "<body>" + "".join(f"{piece}<m{at}>" for at, piece in enumerate(pieces))
    in_tree = {node.tag or "" for node in LexborHTMLParser(page).css("*")} - {"html", "head"}
    assert in_tree <= {token.name.decode().lower() for token in tokens.tokens(page.encode())}


@given(st.lists(MARKUP, max_size=12))
def test_no_text_of_the_tree_is_taken_for_markup(pieces: list[str]) -> None:
    page = "<body>" + "".join(f"{piece}texts" for piece in pieces)
    texts = [node for node in LexborHTMLParser(page).root.traverse(include_text=True) if node.is_text_node]  # type: ignore[union-attr]  # it has a root
    shown = [
        node.text_content or "" for node in texts if node.parent is None or node.parent.tag not in tokens.RAW.split("|")
    ]
    assert growth.text_length(page.encode()) >= "".join(shown).count("texts") * len("texts")
