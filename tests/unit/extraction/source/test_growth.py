"""Texts that a parser would copy again and again are parted; ordinary pages are left as they are."""

from __future__ import annotations

from random import Random

import pytest
from selectolax.lexbor import LexborNode

from crawler.extraction import Document
from crawler.extraction.source import growth
from crawler.extraction.source.growth import bounded
from crawler.extraction.source.tame import tamed
from tests.effort import cpu_seconds
from tests.unit.extraction.bombs import BOMBS, GROWING

SIZE = 200_000
URL = "https://shop.example.com/"


def parsed(html: str) -> LexborNode:
    root = Document(html, URL).tree.root
    assert root is not None
    return root


@pytest.mark.parametrize("name", GROWING)
def test_no_text_grows_for_long(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "MOST", 20_000_000)
    monkeypatch.setattr(growth, "MOST_LIKELY", 60_000_000)
    nodes = parsed(GROWING[name](SIZE)).traverse(include_text=True)
    texts = [len(node.text_content or "") for node in nodes if node.is_text_node]
    assert max(texts) < 15_000 < sum(texts)


def test_no_text_grows_in_a_template_where_nothing_else_is_kept() -> None:
    assert b"<col" not in tamed(BOMBS["values in columns of templates"](SIZE).encode())


def test_no_text_is_lost() -> None:
    page = GROWING["values of end tags"](4 * SIZE)
    assert len(page) < len(bounded(page.encode())) < 1.01 * len(page)  # a few long texts, not thousands of short ones
    assert parsed(page).text() == "text" * page.count("text")


@pytest.mark.parametrize(
    "html",
    [
        "<table>" + "<tr class=a><td class=b>cell</td> <td class=c>cell</td></tr>\n" * 10_000 + "</table>",
        "<p>" + "text<!-- -->text " * 400 + "</p>" + "<div a=b><input name=a value=b> text</div>" * 8_000,
        "<form a=b><input type=hidden name=a>text</form><p>text</p>" * 8_000,
        "<template><p>a</p></template><div>text<br>text</div>" * 8_000,
    ],
)
def test_an_ordinary_page_is_left_as_it_is(html: str) -> None:
    page = html.encode()
    assert bounded(page) is page


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The pages of which all tags are read from here on."""
    found: list[bytes] = []

    def parted(page: bytes) -> bytes:
        found.append(page)
        return page

    monkeypatch.setattr(growth, "_parted", parted)
    return found


def test_a_large_page_of_tables_is_not_read_tag_by_tag(read: list[bytes]) -> None:
    """Only its text could be copied, and most of it is markup."""
    name = '<p class="names of a paragraph, many of them"><a class="a name of a link" href="#of-it">name</a></p>\n'
    table = '<table class="of values">\n<tr>\n<td>name</td>\n<td>value</td>\n</tr>\n</table>\n'
    bounded(((4 * name + table) * 1_000).encode())
    assert read == []


def test_texts_that_grow_in_a_few_places_do_not_have_all_tags_read(
    read: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of the random samples took what they had met for ten times as much: 0.1 s, now and then."""
    place, filler = "<p>word</b a=b> word</b a=b>" * 2, "<p class='of-some-words'>Some words</p>"
    random = Random(1)
    page = "".join(place + filler * random.randrange(720) for _ in range(100)).encode()
    for start in range(0, growth.SELDOM, 250):
        monkeypatch.setattr(growth, "randrange", lambda every, start=start: start % every)
        bounded(page)
    assert read == []


def test_tags_without_an_end_are_looked_through_once() -> None:
    page = ("<p><b><i><table><tr><td>text " * 6_000 + "<a" * 60_000).encode()
    assert cpu_seconds(lambda: bounded(page), 0.5) < 0.5
