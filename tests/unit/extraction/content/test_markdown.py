"""What a reader of the Markdown sees is what the page shows: its words, and what they are."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.extraction import Document
from crawler.extraction.content.main_html import main_html
from crawler.extraction.content.markdown import markdown
from crawler.extraction.content.walk import passages

URL = "https://site.example/docs/page"
RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def markdown_of(body: str, *, images: bool = False) -> str:
    document = Document(body, URL)
    return markdown(main_html(document, passages(document), images=images))


def rendered(body: str) -> LexborNode:
    """What a reader of its Markdown sees."""
    return tree_of(RENDERER.render(markdown_of(body)))


def tree_of(html: str) -> LexborNode:
    tree = LexborHTMLParser(f"<body>{html}").body
    assert tree is not None
    return tree


def test_code_has_no_markup() -> None:
    code = "<pre><code>def <b>__init__</b>(<a href=/x>self</a>, *<i>args</i>):</code></pre>"
    assert markdown_of(code) == "```\ndef __init__(self, *args):\n```"


@pytest.mark.parametrize(
    "around", ["<blockquote>{}</blockquote>", "<ul><li>{}</ul>", "<ol><li><blockquote>{}</blockquote></ol>"]
)
def test_backslashes_of_code_in_quotations_and_lists_are_kept(around: str) -> None:
    code = "a \\- b\\_c\n```\n> \\> d"
    body = f"{around.format(f'<pre>{code}</pre>')}<p>4 - 3</p>"
    found = rendered(body).css_first("pre")
    assert found is not None
    assert found.text() == f"{code}\n"
    assert markdown_of(body).endswith("\n4 - 3")


@pytest.mark.parametrize(
    "text", ["__init__", "_x_ of it", "a _b c_ d", "http://x.example/_a_/b", "f_(x)_y", "(__a_b__)"]
)
def test_underscores_are_kept(text: str) -> None:
    assert rendered(f"<p>{text}</p>").text().split() == text.split()


def test_those_in_words_need_no_escape() -> None:
    assert markdown_of("<p>snake_case, a__b and 1_000 but _x</p>") == "snake_case, a__b and 1_000 but \\_x"


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<b>(x)</b>y", "(x)y"),
        ("Trade<i>™</i>", "Trade™"),
        ("中<b>「文」</b>字", "中「文」字"),
        ("a<b><i>“q”</i></b>z", "a“q”z"),
        ("a<b>(x</b> y", "a(x y"),
        ("<b>(x)</b> y", "**(x)** y"),
        ("a<b>b</b>c", "a**b**c"),
        ("<b>x, </b>y", "**x,** y"),
        ("<b>x:</b>y <i>z</i>", "x:y *z*"),
        ("<b>see <i>x!</i></b>y <b>z</b>", "see x!y **z**"),
        ("a<b><code>x</code></b>b", "a`x`b"),
    ],
)
def test_emphasis_that_markdown_cannot_set_is_left_out(html: str, written: str) -> None:
    """Its signs would be read: with a letter before and a sign behind them they open nothing, nor do they close."""
    assert markdown_of(f"<p>{html}</p>") == written
    assert rendered(f"<p>{html}</p>").text().split() == tree_of(html).text().split()
