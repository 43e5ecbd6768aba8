"""The main text as Markdown, with links and images where they are wanted."""

from __future__ import annotations

import re

import pytest

from crawler.extraction import extract_page

URL = "https://site.example/docs/page"
LONG = "It is a paragraph with enough words in it to be taken for the text of a page, whatever else there is. "
BODY = f"""<main><article><h1>Heading</h1>
<p>{LONG}Some <b>bold</b>, <code>a_b</code> and a <a href="../x?y=1#z">link</a>.</p>
<h2>List</h2><ul><li>First item of this list<ul><li>Nested item of the list</li></ul></li>
<li>Second item of it</li></ul>
<table><tr><th>Name of it</th><th>Value of it</th></tr><tr><td>The width</td><td>is 5 | 6 cm</td></tr></table>
<pre><code>def f(x):
    return x &lt; 1</code></pre><p>{LONG}<img src="/i.png" alt="A picture">{LONG}</p>
<p>{LONG}<a href="javascript:alert(1)">no link</a></p></article></main>"""


def test_what_is_kept() -> None:
    found = extract_page(BODY, URL).markdown or ""
    lines = found.splitlines()
    assert lines[0] == "# Heading"
    assert "**bold**, `a_b` and a [link](https://site.example/x?y=1)." in found
    assert {"## List", "- Second item of it", "  * Nested item of the list"} <= set(lines)
    assert "```\ndef f(x):\n    return x < 1\n```" in found
    assert any(line.startswith("| The width") for line in lines)
    assert "javascript" not in found
    assert "picture" not in found


def test_links_and_images_are_optional() -> None:
    plain, item = extract_page(BODY, URL), extract_page(BODY, URL, links=True, images=True)
    assert (plain.links, plain.images) == (None, None)
    assert (item.links, item.images) == (["https://site.example/x?y=1"], ["https://site.example/i.png"])
    assert "![A picture](https://site.example/i.png)" in (item.markdown or "")


def test_a_line_break_is_one_and_two_part_paragraphs() -> None:
    found = of("<address><b>Mill Lane 5</b><br>\n Old Town<br />1. floor<br><br>By the river</address>")
    assert "\n\n**Mill Lane 5**  \nOld Town  \n1\\. floor\n\nBy the river\n\n" in found
    assert "- Mill Lane 5  \n  Old Town\n" in of("<ul><li>Mill Lane 5<br>Old Town</li><li>Elsewhere it is</li></ul>")
    assert "\n## Mill Lane" in (heading := of("<h2>Mill Lane<br>and Old Town</h2>"))
    assert "Lane  \n" not in heading


def test_what_stands_between_two_lines_parts_them() -> None:
    found = of("<div>Mill Lane 5<br><p>is not in</p>Old Town<br><img src=/i.png><br>of it</div>")
    assert "\n\nMill Lane 5\n\nis not in\n\nOld Town\n\nof it\n\n" in found


def test_a_place_in_the_page_is_no_link_of_it() -> None:
    places = f"<a href='#n1'>a note</a>, <a href='{URL}#n2'>another</a> and <a href='page#n3'>one more</a>"
    html = f"<main><h1>Heading</h1><p>{LONG}See {places} or <a href='../x#n4'>a page</a> or <a href=page>it</a>.</p>"
    assert extract_page(html, URL, links=True).links == ["https://site.example/x", URL]


def test_nothing_of_a_page_becomes_markup() -> None:
    text = "&lt;script&gt;alert(1)&lt;/script&gt; [x](javascript:x) " + LONG * 3
    found = extract_page(f"<main><h1>x</h1><p>{text}</p></main>", URL).markdown or ""
    assert "alert(1" in found
    assert not re.search(r"(?<!\\)(?:<script|\[x\])", found)


@pytest.mark.parametrize("sign", ["&#1;", "\x02", "&#27;", "\x1f", "\0"])
def test_control_characters_are_no_reason_to_refuse_a_page(sign: str) -> None:
    found = extract_page(f"<main><p>{LONG}{sign * 500}{LONG}</p><p>{LONG}</p></main>", URL).markdown or ""
    assert found.count("It is a paragraph") == 3


def test_elements_that_are_closed_elsewhere() -> None:
    html = f"<main><p><b>{LONG}<a href=/a><p>{LONG}</b></a><li>{LONG}<td>{LONG}</ul></main>\ud800 {LONG}"
    found = extract_page(html, URL).markdown or ""
    assert found.count("It is a paragraph") == 5


def of(inside: str) -> str:
    return (
        extract_page(
            f"<main><article><h1>Heading</h1><p>{LONG}</p>{inside}<p>{LONG}</p></article></main>", URL
        ).markdown
        or ""
    )


@pytest.mark.parametrize(
    ("start", "numbers"),
    [
        ("5", ["5.", "6."]),
        (" 5", ["5.", "6."]),
        ("0", ["0.", "1."]),
        ("-3", ["1.", "2."]),
        ("9" * 99, ["1.", "2."]),
        ("x", ["1.", "2."]),
    ],
)
def test_an_ordered_list_begins_where_the_page_says(start: str, numbers: list[str]) -> None:
    found = of(f"<ol start='{start}'><li>Go on with this step</li><li>And then with another</li></ol>")
    assert re.findall(r"^(\d+\.) (?:Go|And)", found, re.MULTILINE) == numbers


def test_the_language_of_code_is_kept() -> None:
    for classes in (
        "<pre><code class='hljs language-Rust'>",
        "<pre class='lang-rust'><code>",
        "<pre class='brush: rust'>",
    ):
        assert "```rust\nlet x = 1;\n```" in of(f"{classes}let x = 1;</code></pre>")
    assert "```\nlet x = 1;\n```" in of("<pre class='code'>let x = 1;</pre>")


@pytest.mark.parametrize(
    "attributes",
    [
        "src='data:image/gif;base64,R0' data-src=/i.png",
        "src=/wait.gif data-lazy-src=/i.png",
        "src='data:image/gif;base64,R0' srcset='/i.png 1x, /j.png 2x'",
        "data-srcset='/i.png, /j.png 2x'",
        "src=/i.png srcset='/j.png 2x'",
    ],
)
def test_images_that_scripts_load_later(attributes: str) -> None:
    html = f"<main><h1>Heading</h1><p>{LONG}<img {attributes}>{LONG}</p></main>"
    assert extract_page(html, URL, images=True).images == ["https://site.example/i.png"]


def test_only_signs_that_would_mean_something_are_escaped() -> None:
    text = "A well-known 3.5-inch - or 4 + 5 = 9 - disk, R&D. &amp;lt; C#1 (x) *y* a|b"
    found = of(
        f"<p>{text}</p><p>1. x of it</p><p>- y of it</p><p># z of it</p><p>a of it<code>b\\-c</code></p><h2>No #</h2>"
    )
    assert "A well-known 3.5-inch - or 4 + 5 = 9 - disk, R&D." in found
    assert all(kept in found for kept in ("1\\. x", "\\- y", "\\# z", "`b\\-c`", "\\*y\\*", "\\&lt;", "No \\#"))


CELL = "These words are long enough for a cell of a table"


def test_values_stay_in_their_columns() -> None:
    rows = f"<tr><th></th><th>Width</th><th>Note</th></tr><tr><td>{CELL}</td><td></td><td>fine</td></tr>"
    found = of(f"<table>{rows}<tr><td>{CELL} 2</td><td colspan=2>{CELL} 3</td></tr></table>")
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in found.splitlines() if line.startswith("|")]
    assert table[0] == ["", "Width", "Note"]
    assert table[2] == [CELL, "", "fine"]
    assert table[3] == [f"{CELL} 2", f"{CELL} 3", ""]


@pytest.mark.parametrize(
    ("rows", "second", "third"),
    [
        ("<td rowspan=2>one</td><td>2</td><td>3</td></tr><tr><td>4</td><td>5</td>", ["one", "2", "3"], ["", "4", "5"]),
        ("<td>one</td><td rowspan=2 colspan=2>2</td></tr><tr><td>4</td>", ["one", "2", ""], ["4", "", ""]),
        ("<td>one</td><td rowspan=3></td><td>3</td></tr><tr><td>4</td><td>5</td>", ["one", "", "3"], ["4", "", "5"]),
        ("<td rowspan=1>one</td><td>2</td></tr><tr><td>4</td><td>5</td>", ["one", "2", ""], ["4", "5", ""]),
        ("<td rowspan=2>one</td><td>2</td></tbody><tbody><tr><td>4</td><td>5</td>", ["one", "2", ""], ["4", "5", ""]),
        (f"<td rowspan={'9' * 5_000}>one</td><td>2</td></tr><tr><td>4</td>", ["one", "2", ""], ["4", "", ""]),
        ("<td rowspan=x>one</td><td>2</td></tr><tr><td>4</td>", ["one", "2", ""], ["4", "", ""]),
    ],
)
def test_cells_of_several_rows_keep_the_others_in_their_columns(rows: str, second: list[str], third: list[str]) -> None:
    found = of(f"<table><tbody><tr><th>{CELL}</th><th>B</th><th>C</th></tr><tr>{rows}</tr></tbody></table>")
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in found.splitlines() if line.startswith("|")]
    assert table[2:] == [second, third]


PLANS = f"""<table><tr><th>{CELL}</th><th>Free</th><th>Team</th></tr>
<tr><td>{CELL} 1</td><td><b>✓</b></td><td> – </td></tr><tr><td>✗</td><td>{CELL} 2<br>+</td><td><div>★★☆</div></td></tr>
<tr><td>✓</td><td>&nbsp;</td><td>✓</td></tr></table>"""


@pytest.mark.parametrize("images", [False, True])
def test_signs_in_cells_are_kept_beside_words(images: bool) -> None:
    html = f"<main><article><h1>Heading</h1><p>{LONG}</p>{PLANS}<p>{LONG}</p></article></main>"
    item = extract_page(html, URL, images=images)
    rows = [f"{CELL} 1 | ✓ | –", f"✗ | {CELL} 2 | ★★☆"]
    assert [line for line in (item.text or "").splitlines() if CELL in line][1:] == rows
    assert f"| {CELL} 1 | **✓** | – |\n| ✗ | {CELL} 2 | ★★☆ |\n\n{LONG.strip()}" in (item.markdown or "")


def test_signs_between_things_that_a_table_places_are_no_text() -> None:
    inner = f"<td>{CELL}</td><td>|</td><td><table><tr><td>{CELL} 2</td></tr></table></td>"
    assert "|" not in of(f"<table><tr>{inner}<td>»</td></tr></table>")


@pytest.mark.parametrize(
    ("html", "shown", "links"),
    [
        ("<a href=/x><h2>Title</h2><p>Teaser of it.</p></a>", "## [Title](https://site.example/x)\n\nTeaser", 1),
        ("Before <a href=/x> <h2>Title</h2> </a> and behind", "\n## [Title](https://site.example/x)\n\nand behind", 1),
        ("<a href=/x><img src=/i.png><p>Title of it</p></a>", "\n[Title of it](https://site.example/x)\n", 1),
        ("Before <a href=/x>three<br>four</a> behind", "Before [three](https://site.example/x)  \nfour behind", 1),
        ("Before <a href=/x> </a>behind", "\nBefore behind\n", 1),
        ("<a href=/x> <p></p> </a>behind", "\nbehind\n", 1),
        ("<p>No <a href=/x><b></b></a></p><p>link</p>", "\nNo\n\nlink\n", 0),
        ('Before <a href="\n /x\n ">behind</a>', "Before [behind](https://site.example/x)\n", 1),
    ],
)
def test_a_link_is_that_of_the_first_text_in_it(html: str, shown: str, links: int) -> None:
    item = extract_page(f"<main><h1>Heading</h1><p>{LONG}</p><div>{html}</div><p>{LONG}</p></main>", URL, links=True)
    assert shown in (item.markdown or "")
    assert item.links == ["https://site.example/x"] * links


def test_tables_that_place_things_are_none() -> None:
    code = of("<table><tr><td><pre>1\n2</pre></td><td><pre>x = 1\ny = 2</pre></td></tr></table>")
    assert "```\nx = 1\ny = 2\n```" in code
    column = of(f"<table><tr><td><p>{LONG}</p><p>Second. {LONG}</p></td></tr></table>")
    assert "|" not in column
    assert "\n\nSecond." in column


def test_lines_of_code_stay_lines() -> None:
    assert "```js\nlet a = 1;\n  let b = 2;\n```" in of(
        "<pre class=lang-js><div>let a = 1;</div><div>  let b = 2;</div></pre>"
    )
    assert "```\nfor x in y:\n    z\n```" in of("<pre><code>for x in y:<br>    z</code></pre>")


def test_a_backslash_of_code_is_kept() -> None:
    code = "x \\- y\n```\nz \\> 1 \\# \\. \\_"
    found = of(f"<p>Of 5 > 4 and 3 - 2: {LONG}</p><pre><code>{code}</code></pre><p>Then 5 > 4 and 3 - 2: {LONG}</p>")
    assert f"\n````\n{code}\n````\n" in found
    assert "Of 5 > 4 and 3 - 2:" in found
    assert "Then 5 > 4 and 3 - 2:" in found


def test_the_sign_by_a_heading_is_left_out() -> None:
    assert "## Title\n" in of("<h2 id=x>Title <a href='#x'>\u00b6</a></h2>")
    assert "## Title of\n" in of("<h2 id=x>Title <a href='#x'>of</a></h2>")
