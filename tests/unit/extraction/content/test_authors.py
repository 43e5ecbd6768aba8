"""Bylines that are none, and names that look like a byline, a date or a role."""

from __future__ import annotations

import pytest

from crawler.extraction import extract_page

URL = "https://news.example/on-rivers"
ARTICLE = '<meta property="og:type" content="article">'
TEXT = f"<p>{'This is a sentence that people read, and it ends with a dot. ' * 3}</p>"


def author(line: str, head: str = "") -> str | None:
    return extract_page(f"{head}<title>On rivers</title><main><h1>On rivers</h1>{line}{TEXT}</main>", URL).author


@pytest.mark.parametrize(
    "name",
    ["Oleh Petrenko", "Hilma af Klint", "af Klint", "Group of 20 (G20)", "ISO/IEC JTC 1/SC 22", "Sammy Davis, Jr."],
)
def test_a_name_with_a_number_a_suffix_or_a_word_for_by_stays_whole(name: str) -> None:
    stated = f'<script type="application/ld+json">{{"@type": "Article", "author": "{name}"}}</script>'
    assert (author("", stated), author(f"<p class=byline>{name}</p>")) == (name, name)


@pytest.mark.parametrize(
    "line",
    [
        "<h2>By Public Transport</h2>",
        "<p><b>By Public Transport</b></p>",
        "<p>By Train: 20 min</p><p>By Public Bus - 40 min</p>",
        "<p>Von Hamburg Hafen - 3 km</p>",
        "<p>By New York Standards, this is small.</p>",
        "<ul><li><a href=/d>By Release Date</a><li><a href=/t>By Topic Name</a></ul>",
        "<div class=author-link><a href=/all>View All Posts</a></div>",
        "<div class=author-info>View All Posts</div>",
        "<div class=author-title>Senior Editor</div>",
        "<div class=about-author>About Author</div>",
        "<p class=author-text>Follow Us On Twitter</p>",
    ],
)
def test_a_line_that_only_begins_or_is_named_like_a_byline_names_nobody(line: str) -> None:
    assert author(line) is None


@pytest.mark.parametrize(
    ("head", "line"),
    [
        (ARTICLE, "<p>By Ann Lee</p>"),
        ("", "<p>By <a href=/ann>Ann Lee</a></p>"),
        ("", "<p>By Ann Lee, 6 May 2020</p>"),
        ("", "<p>Oleh: Ann Lee - 6 Mei 2020</p>"),
        ("", "<p class=byline>Af Ann Lee</p>"),
        ("", "<p class=byline>Skrevet af Ann Lee</p>"),
    ],
)
def test_a_line_below_the_heading_is_a_byline_in_an_article_or_beside_a_link_or_a_date(head: str, line: str) -> None:
    assert author(line, head) == "Ann Lee"


@pytest.mark.parametrize("byline", ["<b class=author-name>{}</b>", "<li><a rel=author href=/>{}</a>"])
def test_three_authors_of_one_page_are_no_list_of_cards(byline: str) -> None:
    assert author(f"<ul>{''.join(map(byline.format, ('Ann Lee', 'Bob Day', 'Cid Orr')))}</ul>") == "Ann Lee"


def test_an_opinion_column_is_no_comment() -> None:
    column = f"<div class=kommentar><span class=author>Ann Lee</span>{TEXT}</div>"
    assert extract_page(f"<main><header><h1>On rivers</h1></header>{column}</main>", URL).author == "Ann Lee"


@pytest.mark.parametrize(
    ("name", "address", "found"),
    [
        ("García Márquez, Gabriel", "/autor/gabriel-garcia-marquez/", "García Márquez, Gabriel"),
        ("García Márquez, Gabriel", "/a?name=Garc%C3%ADa+M%C3%A1rquez,+Gabriel", "García Márquez, Gabriel"),
        ("van der Berg, Anna Maria", "/author/anna-maria-van-der-berg", "van der Berg, Anna Maria"),
        ("Ann Lee, Oslo", "/author/ann-lee", "Ann Lee"),
        ("Ann Lee, Editor", "/author/ann-lee#editors", "Ann Lee"),
        ("Ann Lee, Editor", "/editors", "Ann Lee"),
        ("Ann Lee, Editor", "/editor/ann-lee", "Ann Lee"),
        ("Ann Lee, Editor", "/staff/ann-lee-editor", "Ann Lee"),
        ("Ann Lee, Oslo", "/oslo/author/ann-lee", "Ann Lee"),
        ("Ann Lee, Oslo", "https://oslo.example/ann-lee", "Ann Lee"),
        ("Ann Lee, Oslo", "mailto:ann.lee@oslo.example", "Ann Lee"),
        ("Pardo Lee, Ann", "/authors/17-ann-pardo-lee.html", "Pardo Lee, Ann"),
        ("Ann Lee, Editor", "", "Ann Lee"),
        ("García Márquez, Gabriel", "/about", "García Márquez"),  # known weakness: as a place or a role
        ("Lee, Ann", "/", "Lee, Ann"),
    ],
)
def test_a_given_name_behind_a_comma_stands_in_the_address_of_its_page(name: str, address: str, found: str) -> None:
    assert author(f"<a rel=author href='{address}'>{name}</a>") == found
    assert author(f"<p class=byline>By <a href='{address}'>{name}</a></p>") == found
