"""The main text as Markdown, with links and images where they are wanted."""

from __future__ import annotations

import re

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
    markdown = extract_page(BODY, URL).markdown or ""
    lines = markdown.splitlines()
    assert lines[0] == "# Heading"
    assert "**bold**, `a_b` and a [link](https://site.example/x?y=1)." in markdown
    assert {"## List", "- Second item of it", "  * Nested item of the list"} <= set(lines)
    assert "```\ndef f(x):\n    return x < 1\n```" in markdown
    assert any(line.startswith("| The width") for line in lines)
    assert "javascript" not in markdown
    assert "picture" not in markdown


def test_links_and_images_are_optional() -> None:
    plain, item = extract_page(BODY, URL), extract_page(BODY, URL, links=True, images=True)
    assert (plain.links, plain.images) == (None, None)
    assert (item.links, item.images) == (["https://site.example/x?y=1"], ["https://site.example/i.png"])
    assert "![A picture](https://site.example/i.png)" in (item.markdown or "")


def test_nothing_of_a_page_becomes_markup() -> None:
    text = "&lt;script&gt;alert(1)&lt;/script&gt; [x](javascript:x) " + LONG * 3
    markdown = extract_page(f"<main><h1>x</h1><p>{text}</p></main>", URL).markdown or ""
    assert "alert(1" in markdown
    assert not re.search(r"(?<!\\)(?:<script|\[x\])", markdown)


def test_elements_that_are_closed_elsewhere() -> None:
    html = f"<main><p><b>{LONG}<a href=/a><p>{LONG}</b></a><li>{LONG}<td>{LONG}</ul></main>\ud800 {LONG}"
    markdown = extract_page(html, URL).markdown or ""
    assert markdown.count("It is a paragraph") == 5
