"""What a reader of the Markdown sees is what the page shows: its words, and what they are."""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborNode

from crawler.extraction import Document
from crawler.extraction.content.walk import passages
from tests.unit.extraction.content.rendering import RENDERER, URL, markdown_of, rendered, tree_of


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
        ("<i>x!</i><b>y</b>", "x!**y**"),
        ("<del><b>x!</b></del>y <b><del>x!</del></b>y", "x!y x!y"),
        ("a<del><b>x</b></del> b<i><s>y</s></i>c", "a**x** b~~y~~c"),
        ("<i>w<i>w</i></i> <b>x <i>y <b>z</b></i></b>", "*ww* **x *y z***"),
        ("<i>w*</i><i>*w</i> <del>~</del><del>x</del> <code>a</code><code>b</code>", "*w\\*\\*w* ~~\\~x~~ `ab`"),
    ],
)
def test_emphasis_that_markdown_cannot_set_is_left_out(html: str, written: str) -> None:
    """Its signs would be read: with a letter before and a sign behind them they open nothing, nor do they close."""
    assert markdown_of(f"<p>{html}</p>") == written
    assert rendered(f"<p>{html}</p>").text().split() == tree_of(html).text().split()


def test_what_is_in_a_cell_stays_apart_there() -> None:
    cells = (
        "<ul><li>New York<li>Old Town</ul>",
        "Mill Lane 5<br>Old Town",
        "<p>One</p><p>Two</p>",
        "one<h3>two</h3>three<br><br>four",
    )
    table = f"<table><tr><th>A<th>B</tr>{''.join(f'<tr><td>x<td>{cell}</tr>' for cell in cells)}</table>"
    found = [each.html for each in rendered(table).css("td:last-child")]
    parts = [[part.strip() for part in (each or "")[4:-5].split("<br>")] for each in found]
    assert parts == [
        ["New York", "Old Town"],
        ["Mill Lane 5", "Old Town"],
        ["One", "Two"],
        ["one", "two", "three", "four"],
    ]


def test_a_table_is_not_padded_to_its_longest_cell() -> None:
    table = f"<table><tr><th>A<th>B</tr><tr><td>{'word ' * 99}<td>x</tr></table>"
    assert markdown_of(table).startswith("| A | B |\n| --- | --- |\n| word ")


@pytest.mark.parametrize("level", range(1, 7))
def test_an_image_in_a_heading_is_one(level: int) -> None:
    assert markdown_of(f"<h{level}>On x <img src=/i.png alt=y></h{level}>", images=True) == (
        f"{'#' * level} On x ![y](https://site.example/i.png)"
    )


def test_what_stands_higher_or_lower_is_marked() -> None:
    found = markdown_of(
        "<h2>10<sup>-3</sup> m</h2><p>H<sub>2</sub>O <sup>*</sup> <sup></sup></p><pre>2<sup>8</sup></pre>"
    )
    assert found == "## 10<sup>-3</sup> m\n\nH<sub>2</sub>O <sup>\\*</sup>\n\n```\n28\n```"


def test_what_is_struck_through_is_marked() -> None:
    html = "<p>was <del>£20</del> <s>x</s>y a<strike>(b)</strike>c, ~~d~~ <q>so</q>, <tt>t_</tt> <samp>s_</samp></p>"
    assert markdown_of(html) == 'was ~~£20~~ ~~x~~y a(b)c, \\~\\~d\\~\\~ "so", `t_` `s_`'


def test_a_table_behind_a_quotation_in_an_item_is_one() -> None:
    found = rendered("<ul><li>a<blockquote>b</blockquote><table><tr><td>c<td>d</tr></table></ul>")
    assert [each.text().split() for each in found.css("blockquote, table")] == [["b"], ["c", "d"]]


def test_two_tables_in_an_item_are_two() -> None:
    table = "<table><tr><td>a<td>b</tr></table>"
    assert len(rendered(f"<ul><li>x{table}{table}</li></ul>").css("li > table")) == 2


def test_two_quotations_are_two() -> None:
    found = rendered("<blockquote>a<blockquote>b</blockquote>c</blockquote><blockquote>d</blockquote><p>e</p>")
    assert [each.text().split() for each in found.css("blockquote")] == [["a", "b", "c"], ["b"], ["d"]]


def test_what_follows_a_list_is_no_part_of_its_last_item() -> None:
    found = rendered("<blockquote><ul><li>a<li>b</ul><div>c</div></blockquote><ul><li><ul><li>d</ul>e</ul>")
    assert [each.text().split() for each in found.css("li")] == [["a"], ["b"], ["d", "e"], ["d"]]


def test_a_link_that_shows_nothing_is_none() -> None:
    assert markdown_of("<p>See <a href=/x><img src=/i.png></a> it</p>") == "See it"


def test_what_an_address_holds_is_no_markup() -> None:
    found = rendered("<p>See <a href='/x (<script>)&gt;'>it</a></p>")
    assert found.css_first("script") is None
    assert found.css_first("a") is not None


def test_lists_one_behind_the_other_begin_anew() -> None:
    found = rendered("<ol><li>a<li>b</ol><ol><li>c</ol><ol start=4><li>d</ol>")
    assert [each.attributes.get("start") for each in found.css("ol")] == [None, None, "4"]


def test_a_link_to_a_place_in_the_page_is_its_text() -> None:
    html = f"<p>See <a href='#n'>a <b>note</b></a><sup><a href='page#x'>[1]</a></sup> of <a href='{URL}'>it</a></p>"
    assert markdown_of(html) == f"See a **note**<sup>\\[1\\]</sup> of [it]({URL})"


def test_two_links_are_two_words() -> None:
    """Styles part them, where no space does."""
    found = passages(Document("<p>Tags: <a href=/x>red</a><a href=/y><b>blue</b></a>, as <a href=/z>i</a>s", URL))
    assert [each.text for each in found] == ["Tags: red blue, as is"]


@pytest.mark.parametrize("second", ["<b>two</b> and", "<a href=/x>two</a>", "<i><code>two</code></i>"])
def test_what_follows_a_line_break_stays_in_its_item(second: str) -> None:
    found = rendered(f"<ol><li>one<br>{second}<p>three</p><ul><li>four</ul></li><li>five</ol>")
    assert [" ".join(each.text().split()) for each in found.css("ol > li")] == [
        f"one {tree_of(second).text()} three four",
        "five",
    ]


def test_what_follows_a_table_in_a_quotation_is_no_row_of_it() -> None:
    table = "<table><tr><td>a<td>b</tr></table>"
    found = rendered(f"<blockquote>{table}<p>c</p>{table}<h2>d</h2></blockquote><p>e</p>")
    assert [each.text().split() for each in found.css("table, blockquote > p, h2")] == [
        ["a", "b"],
        ["c"],
        ["a", "b"],
        ["d"],
    ]


def test_a_link_behind_an_exclamation_mark_is_no_image() -> None:
    html = "<p>Go!<a href=/x>There</a> and !<b>!</b><a href=/y><img src=/i.png alt=z></a>!<img src=/j.png alt=z></p>"
    found = tree_of(RENDERER.render(markdown_of(html, images=True)))
    assert [each.attributes["href"] for each in found.css("a")] == ["https://site.example/x", "https://site.example/y"]
    assert len(found.css("img")) == 2
    assert tree_of(html).text().split() == found.text().split()


def test_an_exclamation_mark_in_code_before_a_link_is_no_escape() -> None:
    found = rendered("<p><code>not !<a href=/x>ready</a></code></p>")
    assert found.text().split() == ["not", "!ready"]


@pytest.mark.parametrize("space", ["\t", "  ", "\n", "\n\n", "\n \t \n", "\n\t- \n"])
def test_white_space_in_a_text_is_one_space(space: str) -> None:
    """Lines of the source would be paragraphs, or items behind a sign or a number."""
    sign = "- " if "-" in space else ""
    html = f"<p>1.{space}One</p><ul><li><b>a{space}b</b></ul><p>c<code>d{space}e</code></p>"
    assert markdown_of(html) == f"1\\. {sign}One\n\n- **a {sign}b**\n\nc`d {sign}e`"
    assert markdown_of(f"<pre>3.{space}x</pre>") == f"```\n3.{space}x\n```"


def test_what_is_longer_than_a_store_takes_is_left_out() -> None:
    assert markdown_of(f"<p>{'a' * 1_000_000}</p>") == "a" * 1_000_000
    assert markdown_of(f"<p>{'a' * 1_000_001}</p>") == ""


SIGNS = [*"*_`#-+=><&|\\~[]()!:^.2abé中™—", " ", "  ", "\n", "1.", "1)", "&amp;", "<b>", "x y", "[x]: y", "```", "---"]
TEXTS = st.builds(
    lambda signs, at: escape("".join([*signs[:at], "w", *signs[at:]]), quote=False),
    st.lists(st.sampled_from(SIGNS), max_size=8),
    st.sampled_from([0, 8]),
)


def elements(tags: str, inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inside, min_size=1, max_size=3).map("".join)
    return st.builds(lambda tag, text: f"<{tag}>{text}</{tag.split()[0]}>", st.sampled_from(tags.split("|")), several)


LINES = st.recursive(TEXTS, lambda inside: elements("b|i|em|sup|del|a href=/x_(y)*?a=[b]", inside), max_leaves=5)
CODE = elements("code|kbd", TEXTS)
BLOCKS = elements("p|h2|h6|blockquote", LINES | CODE) | elements("pre", TEXTS)


NESTED = st.recursive(
    BLOCKS,
    lambda inside: elements("ul|ol", elements("li", inside | LINES)) | elements("blockquote", inside),
    max_leaves=5,
)


def shapes(node: LexborNode) -> list[tuple[str, str]]:
    """What it has of structure, in order, each with its letters."""
    kept = node.css("h2, h6, pre, blockquote, li")
    return [(each.tag or "", "".join(each.text().split())) for each in kept]


@given(st.lists(NESTED, min_size=1, max_size=3).map("".join))
def test_what_is_rendered_has_the_words_and_the_structure_of_the_page(html: str) -> None:
    found, page = rendered(html), tree_of(html)
    assert "".join(found.text().split()) == "".join(page.text().split())
    assert shapes(found) == shapes(page)
