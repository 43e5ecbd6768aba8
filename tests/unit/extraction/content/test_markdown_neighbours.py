"""Markdown whose signs stand beside others: of emphasis, addresses, code and lists."""

from __future__ import annotations

import pytest

from tests.unit.extraction.content.rendering import markdown_of, rendered, tree_of


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("a<code>x</code><em><code>b</code></em>c", "a`xb`c"),
        ("<b>a</b><del><b>b!</b></del>c", "ab!c"),
        ("<b>x <i>y</i></b><i>z</i>", "**x *y***z"),
        ("<i>w</i><b><i>x</i> y</b>", "*wx* y"),
        ("<b>a</b><i><img src=/x></i><b>c</b>", "**ac**"),
        ("Hot!<b><img src=/x></b><a href=/1>y</a>", "Hot\\![y](https://site.example/1)"),
        ("<a href=/1>x<marquee><a href=/2>y</a></marquee></a>", "[xy](https://site.example/1)"),
        ("<b><i>w</i><sup><i>*w</i></sup></b>", "***w*<sup>\\*w</sup>**"),
        ("<b><i>w</i>w<i>w</i></b>", "***w*ww**"),
    ],
)
def test_signs_of_neighbours_do_not_meet(html: str, written: str) -> None:
    assert markdown_of(f"<p>{html}</p>") == written
    assert rendered(f"<p>{html}</p>").text() == f"{tree_of(html).text()}\n"


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("/a)b(c", "/a)b(c"),
        ("/a_(b)", "/a_(b)"),
        (r"/?q=\*", "/?q=%5C*"),
        ("/?a=1&amp;copy;2", "/?a=1&copy;2"),
        ("/a&#160;b", "/a%C2%A0b"),
        ("/a b", "/a%20b"),
    ],
)
def test_a_link_leads_where_that_of_the_page_leads(address: str, found: str) -> None:
    link = rendered(f'<p><a href="{address}">x</a></p>').css_first("a")
    assert link is not None
    assert link.attributes["href"] == f"https://site.example{found}"


def test_an_address_that_is_shown_is_a_link() -> None:
    shown = "http://x.example/?>y"
    assert [each.text() for each in rendered(f'<p><a href="{shown}">{shown}</a></p>').css("a")] == [shown]


def test_an_image_in_code_is_one() -> None:
    assert markdown_of("<p><code>a<img src=/i alt=z>b</code></p>", images=True) == (
        "`a`![z](https://site.example/i)`b`"
    )


def test_a_line_of_code_ends_by_one_sign() -> None:
    assert markdown_of("<blockquote><pre>a&#13;b&#13;\nc</pre></blockquote>") == "> ```\n> a\n> b\n> c\n> ```"


@pytest.mark.parametrize(
    ("html", "items"),
    [
        ("<ol start=999999999><li>a<li>b</ol>", [2]),
        ("<ul><li>a<ol start=5><li>b</ol></ul>", [1, 1]),
        ("<ul><li>a</li><ol start=5><li>b</ol></ul>", [1, 1]),
        ("<ul><li>a</li><ul><li>b</ul><li>c</ul>", [2, 1]),
        ("<ol><li>a</li><ol><li>b</ol><li>c</ol>", [2, 1]),
        ("<ol><li>a</ol><ol><li>b<li>c</ol>", [1, 2]),
    ],
)
def test_each_list_keeps_its_items(html: str, items: list[int]) -> None:
    lists = rendered(html).css("ul, ol")
    assert [sum(child.tag == "li" for child in each.iter()) for each in lists] == items
