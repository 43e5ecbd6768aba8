"""Main text and titles of pages as common software writes them: documentation, forums, books."""

from __future__ import annotations

import pytest

from crawler.extraction import Document, extract_page
from crawler.extraction.content.walk import passages

URL = "https://site.example/a/b"
SENTENCE = "This is a sentence of the text, long enough to be read by people, and it ends with a dot. "
TEXT = f"<p>{SENTENCE * 2}</p>" * 4


def texts(html: str) -> list[str]:
    return [each.text for each in passages(Document(html, URL))]


def title_of(body: str, title: str) -> str | None:
    return extract_page(f"<head><title>{title}</title></head><body>{body}</body>", URL).title


@pytest.mark.parametrize("sign", ["¶", "#", "§", "🔗", "\u200b", "◆&nbsp;", "<span>#</span>", "\n  ¶\n"])
@pytest.mark.parametrize("target", ["#on-x", "/a/b#on-x"])
def test_the_sign_that_links_to_a_heading_is_none_of_its_text(sign: str, target: str) -> None:
    html = f"<main><h1>On x<a href='{target}'>{sign}</a></h1>{TEXT}<h2><a href='{target}'>{sign}</a>A part</h2>{TEXT}"
    item = extract_page(html, URL)
    assert item.title == "On x"
    assert [line for line in (item.text or "").splitlines() if "sentence" not in line] == ["On x", "A part"]
    assert "# On x\n" in (item.markdown or "")
    assert "## A part\n" in (item.markdown or "")


def test_what_links_to_a_place_in_the_page_has_no_link_in_markdown() -> None:
    parts = (
        '<h2 id="a"><a href="#a">Syntax <code>x</code></a></h2>',
        f'<h3 id="b"><a class=x href="{URL}#b">Use</a></h3>',
        '<h2><a href="/c#d">Other</a> <a href="/e">page</a></h2>',
        '<p>See <a href="#a">syntax</a>.</p>',
    )
    markdown = extract_page(f"<main><h1>On x</h1>{TEXT.join(parts)}</main>", URL).markdown or ""
    lines = [line for line in markdown.splitlines() if line.startswith(("##", "See"))]
    assert lines == [
        "## Syntax `x`",
        "### Use",
        "## [Other](https://site.example/c) [page](https://site.example/e)",
        "See syntax.",
    ]


def test_the_label_of_code_with_its_language_is_no_text() -> None:
    html = '<p>As in</p><div class="language-js vp"><button></button><span class=lang>js</span><pre>a()</pre></div>'
    assert texts(f"{html}<div class=language-js><p>JSON</p></div><div>js</div>") == ["As in", "a()", "JSON", "js"]


def test_links_with_words_or_images_or_to_other_pages_stay() -> None:
    html = """<p>As <a href="#n">[1]</a> says <a href="/x">→</a> and <a href="#big"><img src=i.png></a> shows</p>
    <h2><a href="#c">C#</a></h2><p>One<a href="#p"> </a>two</p>"""
    found = passages(Document(html, URL))
    assert [each.text for each in found] == ["As [1] says → and shows", "C#", "One two"]
    assert ("img", "i.png\n") in found[0].pieces


def test_the_heading_of_a_book_or_a_board_is_not_the_title_of_its_page() -> None:
    above = "<nav><h1 class=menu-title>The Book of Pipes</h1></nav><main>"
    assert title_of(f"{above}<h1>Cold Radiators</h1>{TEXT}", "Cold Radiators - The Book of Pipes") == "Cold Radiators"
    assert title_of(f"{above}<h2>Cold Radiators</h2>{TEXT}", "Cold Radiators | The Book of Pipes") == "Cold Radiators"
    assert title_of(f"{above}<h2><a href=/t>Cold Radiators</a></h2>{TEXT}", "Cold Radiators") == "Cold Radiators"


@pytest.mark.parametrize("title", ["Cold Radiators - The Book of Pipes", "Cold Radiators"])
def test_the_name_of_a_blog_above_its_post_is_not_the_title_of_the_post(title: str) -> None:
    post = f"<main><article><h3 class=post-title>Cold Radiators</h3>{TEXT}</article></main>"
    assert title_of(f"<header><h1><a href=/>The Book of Pipes</a></h1></header>{post}", title) == "Cold Radiators"


@pytest.mark.parametrize(
    ("above", "title", "found"),
    [
        ("<div id=menu-bar><h1>The Book of Pipes</h1></div>", "Cold Radiators - The Book of Pipes", "Cold Radiators"),
        ("<main><h1>The Book of Pipes</h1>", "Cold Radiators - The Book of Pipes", "The Book of Pipes"),
        ("<div><h1>Pipes and Valves</h1></div>", "Cold Radiators - The Book of Pipes", "Pipes and Valves"),
        ("<div><h1>Steel Pipe</h1></div>", "Cold Radiators | Steel Pipe | Acme", "Steel Pipe"),
    ],
)
def test_an_h2_is_the_title_only_below_the_name_with_which_the_title_ends(above: str, title: str, found: str) -> None:
    assert title_of(f"{above}<main><h2>Cold Radiators</h2>{TEXT}", title) == found


@pytest.mark.parametrize(
    ("heading", "site", "title"),
    [
        ("Acme", "acme.", "Steel Pipe"),
        ("Steel Pipe | Acme", "Acme", "Steel Pipe"),
        ("Steel Pipe - 2 m", "Acme", "Steel Pipe - 2 m"),
        ("Steel Pipe - 2 m", "", "Steel Pipe - 2 m"),
        ("<span class=visually-hidden>Collection: </span>Steel Pipe", "Acme", "Steel Pipe"),
        ("Steel Pipe: 2 m", "Acme", "Steel Pipe: 2 m"),
        ("Buying: how to", "Acme", "Buying: how to"),
        ("Opinion: Steel Pipe", "Acme", "Opinion: Steel Pipe"),
    ],
)
def test_the_name_of_the_site_and_a_label_are_not_in_the_title(heading: str, site: str, title: str) -> None:
    stated = f'<meta property="og:site_name" content="{site}"><title>Steel Pipe - Acme</title>'
    if site == "":
        stated = "<title>Steel Pipe - 2 m</title>"
    if heading.startswith("Buying"):
        stated = "<title>Buying: how to - Acme</title>"
    assert extract_page(f"<head>{stated}</head><body><main><h1>{heading}</h1>{TEXT}", URL).title == title


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("The Book of Pipes", "The Book of Pipes"),
        ("The Book of Pipes", "The Book of Pipes | The Book of Pipes"),
        ("The Book of Pipes", "Pipes and Valves for All | Acme Books"),
        ("Steel Pipe 2 m", "Steel Pipe 2 m | Buy now | Acme"),
        ("Steel Pipe 2 m", "Acme: Steel Pipe 2 m - Acme"),
        ("Steel Pipe 2 m", "Acme | Steel Pipe 2 m"),
        ("Steel Pipe 2 m", "Pipes | Steel Pipe 2 m"),
        ("All of pipes and valves", "Pipes | Plumbing"),
    ],
)
@pytest.mark.parametrize("around", ["main", "main><header"])
def test_other_headings_are(heading: str, title: str, around: str) -> None:
    own = f"<{around}><h1>{heading}</h1>{'</header>' if 'header' in around else ''}"
    assert title_of(f"{own}{TEXT}<h2>Acme</h2>{TEXT}<h2>Pipes</h2></main>", title) == heading
    assert title_of(f"{own}<h2>Pipes</h2><h2>Acme</h2>{TEXT}</main>", title) == heading


BOARD = '<script type="application/ld+json">{"@type": "DiscussionForumPosting"}</script>'
HEADS = {
    "a line": "<div class=topic-meta><a class=username>ann_{n}</a> <time>March {n}, 2024, 8:45 am</time> {n}</div>",
    "a panel": """<section class=message-user><h4 class=message-name>ann_{n}</h4><dl class=pairs><dt>Joined</dt>
    <dd>May 7, 2014</dd><dt>Messages</dt><dd>1,234</dd></dl></section>
    <header><ul><li><time>March {n}, 2024</time></li></ul></header>""",
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_of_posts_the_author_and_the_date_are_read_but_no_statistics_nor_breadcrumbs(head: str) -> None:
    crumbs = "<ul class=breadcrumbs><li><a href=/>Home</a></li><li><a href=/f>Boilers</a></li></ul>"
    posts = "".join(
        f"<article class=message>{head.format(n=n)}<div class=message-body>{SENTENCE}</div></article>"
        for n in range(1, 9)
    )
    body = f"<title>Cold</title>{BOARD}<body>{crumbs}<h1>Cold</h1><div class=posts>{posts}</div></body>"
    text = extract_page(body, URL).text or ""
    assert all(f"ann_{n}" in text and f"March {n}, 2024" in text for n in range(1, 9))
    assert not any(word in text for word in ("Joined", "Messages", "1,234", "Home", "Boilers"))


@pytest.mark.parametrize("names", [("Item", "Item-Body"), ("card", "card-body"), ("post", "list-item")])
def test_posts_that_are_called_items_are_read(names: tuple[str, str]) -> None:
    item = "<li class={}><p class=meta>ann</p><div class={}>Post {}. " + SENTENCE
    posts = "".join(item.format(*names, n) for n in range(6))
    body = f"{BOARD}<body><h1>Cold</h1><ul class=list>{posts}</ul></body>"
    assert (extract_page(body, URL).text or "").count("This is a sentence") == 6


CODE = "def f(x):\n    return x\n\nprint(f(7))\n"


@pytest.mark.parametrize(("first", "end"), [(1, "\n"), (9, ""), (99, "\n\n")])
def test_the_numbers_of_lines_beside_code_are_no_code(first: int, end: str) -> None:
    numbers = "".join(f"<span>{first + n}</span>\n" for n in range(4))
    row = f"<td class=linenos><pre>{numbers}</pre></td><td class=code><pre><code>{CODE}{end}</code></pre></td>"
    assert texts(f"<p>So</p><table><tr>{row}</tr></table>") == ["So", CODE.strip()]


@pytest.mark.parametrize("numbers", ["1\n2\n3", "1\n2\n3\n5", "4\n3\n2\n1", "1 2 3 4 x", "7", "²\n³\n⁴\n⁵"])
def test_other_numbers_beside_code_are(numbers: str) -> None:
    row = f"<tr><td><pre>{numbers}</pre></td><td><pre>{CODE}</pre></td></tr>"
    assert texts(f"<p>Prints</p><table>{row}</table>") == ["Prints", numbers, CODE.strip()]
    assert texts("<pre>7</pre><pre>f(7)") == ["7", "f(7)"]
    assert texts("<pre>1\n2\n3\n4</pre><p>By this:</p><pre>" + CODE) == ["1\n2\n3\n4", "By this:", CODE.strip()]


def test_rising_numbers_that_a_program_prints_or_reads_are_kept() -> None:
    shown = ["1\n2\n3\n4", CODE.strip()]
    first, second = (f"<pre>{each}</pre>" for each in shown)
    assert texts(f"{first}{second}") == shown
    assert texts(f"<div class=highlight>{first}</div><div class=highlight>{second}</div>") == shown
    assert texts(f"<table><tr><td>{first}{second}</td></tr></table>") == shown
    samples = f"<tr><th>Input</th><th>Output</th></tr><tr><td>{first}</td><td>{second}</td></tr>"
    assert texts(f"<table>{samples}</table>") == ["Input", "Output", *shown]


def code_of(element: str) -> str:
    main = f"<main><h1>On x</h1>{TEXT}{element}{TEXT}</main>"
    return (extract_page(main, URL).markdown or "").partition("```")[2].partition("\n")[0]


@pytest.mark.parametrize(
    ("around", "language"),
    [
        ("<div class='highlight-python notranslate'><div class=highlight>", "python"),
        ("<div class='language-ruby highlighter-rouge'><div class=highlight>", "ruby"),
        ("<div class='language-sh vp-adaptive-theme'>", "sh"),
        ("<div class='highlight highlight-source-shell'>", "shell"),
        ("<div class='highlight-default notranslate'><div class=highlight>", ""),
        ("<div class='language-none'>", ""),
        ("<div class='language-switcher'>", ""),
        ("<div class='language-tabs'>", ""),
        ("<div class='highlight-box wide'>", ""),
        ("<div class=language-de><div><div>", ""),
        ("<div class='language-sh'><p>Run</p></div>", ""),
    ],
)
def test_the_language_of_code_is_known_by_what_stands_around_it(around: str, language: str) -> None:
    assert code_of(f"{around}<pre>{CODE}</pre>{'</div>' * 3}") == language
    assert code_of(f"{around}<pre><code class=language-go>{CODE}</code></pre>{'</div>' * 3}") == "go"


@pytest.mark.parametrize(
    "code",
    [
        "<div>if (x) {</div><div>  y();</div><div><br></div><div>}</div>",
        "<code><div class=token-line>if (x) {</div><div>  <i>y</i>();</div><div>\n</div><div>}</div></code>",
        "<ol><li><div><code>if (x) {</code></div></li><li>  y();</li><li><p></li><li>}</li></ol>",
        "if (x) {<div>  y();\n\n</div>}",
    ],
)
def test_each_line_of_code_is_kept_whatever_it_stands_in(code: str) -> None:
    assert texts(f"<p>As</p><pre>{code}</pre>") == ["As", "if (x) {\n  y();\n\n}"]
