"""Title, author and date, from the cheapest source that has them."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from crawler.extraction import extract_page
from crawler.extraction.content.dates import day_of
from crawler.extraction.content.marks import READING

URL = "https://news.example/on-knives"
TODAY = date(2026, 3, 10)


NAMES = ("author-name", "byline__name", "post-author", "entry-author", "author", "byline")


SITE = '<meta property="og:site_name" content="The Long Name of a Site">'


def ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-03-04", date(2026, 3, 4)),
        ("2026-3-4T10:00:00+01:00", date(2026, 3, 4)),
        ("20260304T100000Z", date(2026, 3, 4)),
        ("Posted on March 4, 2026 by Ann", date(2026, 3, 4)),
        ("4. März 2026", date(2026, 3, 4)),
        ("le 1er mars", None),
        ("4 de marzo de 2026", date(2026, 3, 4)),
        ("Mar. 4th, 2026", date(2026, 3, 4)),
        ("1er mars 2026", date(2026, 3, 1)),
        ("4th of March 2026", date(2026, 3, 4)),
        ("4 de enero del 2026", date(2026, 1, 4)),
        ("4 марта 2026 г.", date(2026, 3, 4)),
        ("4 maart 2026", date(2026, 3, 4)),
        ("4. mars 2026", date(2026, 3, 4)),
        ("4 września 2025", date(2025, 9, 4)),
        ("4. marraskuuta 2025", date(2025, 11, 4)),
        ("4 Şubat 2026", date(2026, 2, 4)),
        ("4 abr. 2025", date(2025, 4, 4)),
        ("Apr 4, 2025", date(2025, 4, 4)),
        ("4 أبريل 2025", date(2025, 4, 4)),
        ("2025. április 4.", date(2025, 4, 4)),
        ("2026年3月4日", date(2026, 3, 4)),
        ("2026年 3月 4日", date(2026, 3, 4)),
        ("２０２６年３月４日", date(2026, 3, 4)),
        ("2026년 3월 4일", date(2026, 3, 4)),
        ("2026/03/04 10:00", date(2026, 3, 4)),
        ("2026. 3. 4.", date(2026, 3, 4)),
        ("2026.03.04", date(2026, 3, 4)),
        ("04.03.2026, 10:00", date(2026, 3, 4)),
        ("4. 3. 2026", date(2026, 3, 4)),
        ("25/12/2025", date(2025, 12, 25)),
        ("12/25/2025", date(2025, 12, 25)),
        ("03/03/2026", date(2026, 3, 3)),
        ("4/3/2026", None),  # in April, or in March
        ("12/12/12/2025", None),
        ("2026-03.04", None),
        ("version 1.4.3.2026", None),
        ("PyCharm 2025.3.2", None),
        ("v2025.4.1 is out", None),
        ("driver 10.10.2025.4", None),
        ("v2.10.2025", None),
        ("등록일 2025.4.3", date(2025, 4, 3)),
        ("Posted 2025.04.03", date(2025, 4, 3)),
        ("令和8年3月4日", None),
        ("2569-03-04", None),  # the Buddhist year
        ("3 hours ago", None),
        ("2026-03-11", None),  # tomorrow
        ("1970-01-01", None),
        ("2026-02-30", None),
        ("0000-00-00", None),
        ("12 xyz 2026", None),
        ("9" * 10_000, None),
        ("٢٠٢٦-٠٣-٠٤", date(2026, 3, 4)),
    ],
)
def test_days(text: str, day: date | None) -> None:
    assert day_of(text, TODAY) == day


def test_no_word_stands_for_two_months() -> None:
    words = [word for names in READING["months"] for word in names.split()]
    assert sorted(words) == sorted(set(words))
    assert {len(READING["months"]), max(map(len, words))} == {12}


@pytest.mark.parametrize(
    ("html", "url"),
    [
        ('<meta property="article:published_time" content="2020-05-06T23:59:00+02:00">', URL),
        (ld('{"@graph": [{"@type": "NewsArticle", "datePublished": "2020-05-06"}]}'), URL),
        ('<body><time itemprop="datePublished" datetime="2020-05-06">x</time>', URL),
        ('<body><time datetime="2020-05-06T01:00">x</time>', URL),
        ('<body><p itemprop="dateCreated" content="2020-05-06">x', URL),
        ("<body><time pubdate>6 May 2020</time>", URL),
        ("<body><time class=published>6 May 2020</time>", URL),
        ("<body><p>x", "https://news.example/2020/05/06/on-knives"),
        ('<body><p class="post-meta">by Ann, May 6, 2020</p>', URL),
        ("<body><h1>On knives</h1><p>6 May 2020</p>", URL),
    ],
)
def test_dates(html: str, url: str) -> None:
    assert extract_page(html, url).published_at == datetime(2020, 5, 6, tzinfo=UTC)


TEXT = f"<p>{'This is a sentence that people read, and it ends with a dot. ' * 3}</p>"
CARD = "<article class=card><h3><a href=/{n}>Card</a></h3>{date}</article>"
CARDS = "".join(CARD.format(n=n, date=f'<p class="card-date">{n} March 2019</p>') for n in range(1, 5))
TIMED = "".join(CARD.format(n=n, date=f"<time datetime=2019-03-0{n}>{n} March</time>") for n in range(1, 5))


@pytest.mark.parametrize(
    ("body", "day"),
    [
        (f"<h1>On knives</h1><p>6 May 2020</p>{TEXT}{TIMED}", True),
        (f"<ul><li class=metadata>May 6, 2020</li></ul><h1>On knives</h1>{TEXT}{CARDS}", True),
        (f"<header><p>7 June 2021</p></header><h1>On knives</h1><p>6 May 2020</p>{TEXT}", True),
        (f"<header><p>7 June 2021</p></header><h1>On knives</h1>{TEXT}", False),
        (f"<h1>On knives</h1><p>It was found on 7 June 2018, as we know.</p><p>6 May 2020</p>{TEXT}", True),
        (f"<h1>On knives</h1>{TEXT}<time datetime=2020-05-06>x</time>{TIMED}", True),
        (f"<h1>Cards</h1>{CARDS}", False),
        (f"<h1>Cards</h1>{TIMED}", False),
    ],
)
def test_the_date_is_the_pages_own_not_that_of_a_card(body: str, day: bool) -> None:
    found = extract_page(f"<title>On knives</title><body>{body}", URL).published_at
    assert found == (datetime(2020, 5, 6, tzinfo=UTC) if day else None)


@pytest.mark.parametrize(
    ("language", "month"),
    [("de", 5), ("fr-CA", 5), ("es", 5), ("en-GB", 5), ("en-US", 6), ("en", None), ("ja", None), ("", None)],
)
def test_the_language_of_a_page_says_which_of_two_numbers_is_the_month(language: str, month: int | None) -> None:
    found = extract_page(f"<html lang='{language}'><body><h1>On knives</h1><p>6/5/2020</p>{TEXT}", URL).published_at
    assert (found and found.month) == month


@pytest.mark.parametrize(
    ("html", "author"),
    [
        (ld('{"@type": "Article", "author": {"@type": "Person", "name": "Ann Smith"}}'), "Ann Smith"),
        (ld('{"@type": "Article", "author": [{"name": "Ann"}, {"name": "Bob"}, {"name": "Ann"}]}'), "Ann, Bob"),
        (ld('{"@type": "Article", "author": "https://news.example/ann"}'), None),
        (ld('{"@type": "Article", "author": {"name": {"x": 1}}}'), None),
        ('<meta name="author" content="By Ann Smith">', "Ann Smith"),
        ('<body><p class="byline">By Ann Smith</p>', "Ann Smith"),
        ('<body><a rel="author" href=/>Ann Smith</a>', "Ann Smith"),
        ('<body><p itemprop="author editor"><b itemprop="name">Ann Smith</b></p>', "Ann Smith"),
        ('<body><p itemprop="author">Ann Smith</p>', "Ann Smith"),
        ('<body><a rel="nofollow author" href=/>Ann Smith</a>', "Ann Smith"),
        *((f'<body><p class="x {name}">Ann Smith</p>', "Ann Smith") for name in NAMES),
        ('<meta name="author" content="admin">', None),
        ('<meta name="author" content="Ann Smith | Kitchen Notes">', "Ann Smith"),
        (
            '<meta property="og:site_name" content="Old"><meta name="author" content="Old"><p class="byline">By Ann',
            "Ann",
        ),
        ('<meta name="author" content="news.example"><body><p class="author">Author: Ann Smith</p>', "Ann Smith"),
        ('<meta name="author" content="news.example"><body><p class="author">Bob, 2 May, 3:21</p>', "news.example"),
        ('<meta name="author" content="news.example"><body><p class="author">news.example</p>', "news.example"),
        (
            ld('[{"@type": "Article", "author": "News"}, {"@type": "Recipe", "author": {"name": "Ann Smith"}}]'),
            "Ann Smith",
        ),
        ("<body><p>By Ann Smith</p>", None),
        ('<body><h1>x</h1><ol class="comment-list"><li><p><b class="author">Bob</b> says', None),
        ('<body><h1>x</h1><p class="byline">By Ann</p><div id="comments"><b class="author">Bob', "Ann"),
        ('<body class="comments-open"><h1>x</h1><b class="author">Ann</b>', "Ann"),
        ('<body><h1>x</h1><p class="post-meta meta-comments"><b class="author">Ann</b> <a href="#c">3 comments', "Ann"),
        (
            '<title>Flood - x</title><h1>x</h1><div class="post comments-open"><h2>Flood</h2><b class="author">Ann',
            "Ann",
        ),
        ('<div class="recent-comments"><b class="author">Bob</b> on x</div><h1>x</h1><b class="author">Ann</b>', "Ann"),
        (
            '<body><div class="message" itemprop="text"><div class="comment"><b class="author">Ann</b>'
            + ld('{"@type": "DiscussionForumPosting"}'),
            "Ann",
        ),
        (f'<meta name="author" content="{"a" * 100}">', "a" * 100),
        (f'<meta name="author" content="{"a" * 101}">', None),
        (f'<meta name="author" content="{"An " * 12}">', ("An " * 12).strip()),
        (f'<meta name="author" content="{"An " * 13}">', None),
        ('<meta name="author" content="李">', None),
        ('<body><p class="byline">作者：李明</p>', "李明"),
        (
            ld('{"@type": "Article", "author": [' + ", ".join(f'"Ann {n}"' for n in "abcdefghijk") + "]}"),
            ", ".join(f"Ann {n}" for n in "abcdefghij"),
        ),
    ],
)
def test_authors(html: str, author: str | None) -> None:
    assert extract_page(html, URL).author == author


HEADED = "<title>On knives</title><body class='hide-author author-bob'><h1>On knives</h1>{line}" + TEXT
BYLINES = "".join(CARD.format(n=n, date=f'<p class="card-author">By Ann Le{"e" * n}</p>') for n in range(1, 5))


@pytest.mark.parametrize(
    ("line", "author"),
    [
        (
            '<p class="wp-block-post-author-name"><a href=/a class="wp-block-post-author-name__link">Ann Lee</a></p>',
            1,
        ),
        ("<a href=/a data-testid=authorName>Ann Lee</a> <button>Follow</button>", 1),
        ('<span data-hook="user-name" class="x user-name">Ann Lee</span>', 1),
        ('<span class="blog-author-name">Ann Lee</span>', 1),
        ('<div class="author-info"><div>Ann Lee</div><div>Editor, Kitchen Notes</div></div>', 1),
        ('<dd class="createdby">Geschrieben von: <b>Ann Lee</b></dd>', 1),
        ('<p class="byline-name">By <a href=/a>Ann Lee</a>, Kitchen correspondent</p>', 1),
        ('<p class="byline">Ann Lee, Oslo</p>', 1),
        ('<p class="byline">Ann Lee, 12 March 2019 at 10:30</p>', 1),
        ('<div itemprop="author"><b>Ann Lee</b><meta itemprop="name" content="Ann Lee"> 159 11 badges</div>', 1),
        ("<p>By Ann Lee - 2019-03-04</p>", 1),
        ("<p>Von Ann Lee | 4. März</p>", 1),
        ("<p>by</p><div class=post-author-name>Ann Lee</div>", 1),
        ("<p>By Oslo</p>", 0),
        ("<p>By the end of the year all of it is gone</p>", 0),
        ("<p>By Friday 12 May</p>", 0),
        ('<p class="author-note">Read Our Rules</p>', 0),
        ('<p class="blog-author-name">3 Comments</p>', 0),
        (BYLINES, 0),
        ("".join(f"<div><p>By Ann Le{'e' * n}</p></div>" for n in range(4)), 0),
    ],
)
def test_a_byline_by_the_heading_is_known_by_what_its_names_have_in_common(line: str, author: bool) -> None:
    assert extract_page(HEADED.format(line=line), URL).author == ("Ann Lee" if author else None)


@pytest.mark.parametrize(
    ("line", "author"),
    [("Lee, Ann", "Lee, Ann"), ("Ann Lee, Bob Day, and Cid Orr", "Ann Lee, Bob Day, and Cid Orr")],
)
def test_several_persons_and_a_family_name_in_front_stay(line: str, author: str) -> None:
    assert extract_page(HEADED.format(line=f"<p class=byline>{line}</p>"), URL).author == author


def test_a_stated_author_keeps_his_degrees_and_number() -> None:
    for name in ("Ann Lee, MD", "Agent 47"):
        assert extract_page(ld(f'{{"@type": "Article", "author": "{name}"}}'), URL).author == name


def test_the_site_is_the_author_if_only_a_card_names_another() -> None:
    html = '<meta property="og:site_name" content="Notes"><meta name="author" content="Notes">'
    card = '<div class="card-author">By Ann Lee</div>'
    assert extract_page(f"{html}<body><h1>News</h1>{card}{TEXT}", URL).author == "Notes"


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>On knives | The Knife</title><h1>On knives</h1>", "On knives"),
        ("<title>On knives - how to keep them sharp - The Knife</title>", "On knives - how to keep them sharp"),
        ('<meta property="og:site_name" content="The Knife"><title>The Knife: x | The Knife</title>', "The Knife: x"),
        ("<title>The Knife</title><h1>On knives</h1>", "On knives"),
        ('<meta property="og:title" content="On knives"><title>x</title>', "On knives"),
        ("<title>self-made - a</title>", "self-made"),
        ("<title>東京の記事｜日本新聞</title>", "東京の記事"),
        (f"{SITE}<title>Knives | The Long Name of a Site</title>", "Knives"),
        (f"{SITE}<title>The Long Name of a Site | knives and all their uses</title>", "knives and all their uses"),
        ("<title>Knives - Knives, forks and all that there is</title>", "Knives - Knives, forks and all that there is"),
        ("<p>x", None),
        ("<svg><g><title>Menu</title></g></svg><p>x", None),
        ("<svg><title>Menu</title></svg><title>On knives</title>", "On knives"),
    ],
)
def test_titles(html: str, title: str | None) -> None:
    assert extract_page(html, URL).title == title


@pytest.mark.parametrize(
    "code", ['var s = "<!--"', '<!--\nvar s = "<script>";\n//-->', 'h("<!--[if IE]><i></i><![endif]-->")']
)
def test_what_a_script_writes_hides_no_metas(code: str) -> None:
    head = f"<script>{code}</script><title>x</title><meta name=author content=Ann><!-- end -->"
    assert extract_page(head + "<h1>x</h1>", "https://a.example/").author == "Ann"
