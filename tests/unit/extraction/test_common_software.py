"""Main text and titles of pages as common software writes them: documentation, forums, books."""

from __future__ import annotations

import pytest

from crawler.extraction import Document, extract_page
from crawler.extraction.content.passages import passages

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
    ],
)
def test_other_headings_are(heading: str, title: str) -> None:
    body = f"<main><h1>{heading}</h1>{TEXT}<h2>Acme</h2>{TEXT}<h2>Pipes</h2></main>"
    assert title_of(body, title) == heading
