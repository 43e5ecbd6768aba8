"""Days of a page among days of other things: cards, versions, events, the bar on top."""

from __future__ import annotations

import json
import time
from datetime import UTC, date, datetime

import pytest

from crawler.extraction import extract_page
from crawler.extraction.content.dates import day_of

URL = "https://news.example/on-rivers"
TEXT = f"<p>{'This is a sentence that people read, and it ends with a dot. ' * 3}</p>"
OWN = datetime(2020, 5, 6, tzinfo=UTC)
TIMES = [f"<time datetime=2020-0{month}-06>x</time>" for month in (5, 6, 7)]


def published(body: str, url: str = URL) -> datetime | None:
    return extract_page(f"<title>On rivers</title><body>{body}</body>", url).published_at


@pytest.mark.parametrize(
    "facts",
    [
        "<ul><li>May 6, 2020</li><li>3 Comments</li><li>5 min read</li><li>1,234 views</li></ul>",
        "<table><tr><td>Published<td>6 May 2020<tr><td>Pages<td>120<tr><td>Issue<td>12</table>",
        "<ul><li>Published: 6 May 2020</li><li>Updated: 7 June 2020</li><li>Reviewed: 8 July 2020</li></ul>",
        "<div>{} Updated {} Reviewed {}</div>".format(*TIMES),
        "<ul><li>Published: {}</li><li>Updated: {}</li><li>Reviewed: {}</li></ul>".format(*TIMES),
        f"<div class=day>{TIMES[0]}</div>" * 3,
    ],
)
def test_several_facts_of_one_page_are_no_list_of_cards(facts: str) -> None:
    assert published(f"<main><h1>On rivers</h1>{facts}{TEXT}</main>") == OWN


@pytest.mark.parametrize(
    "entry",
    [
        "<a class=card href=/{0}><b>River {0}</b><div><time datetime=2020-05-0{0}>x</time></div></a>",
        "<div class=said><b>u{0}</b><time datetime=2020-05-0{0}>x</time><div>Well, that is so, and mine.</div></div>",
        "<div><a href=/{0}>River {0}</a><div><div><div><time datetime=2020-05-0{0}>x</time></div></div></div></div>",
        "<li>{0} May 2020</li>",
        "<li>{0} May 2020: concert at the river</li>",
        "<tr><td>3.{0}<td>{0} May 2020</tr>",
    ],
)
def test_entries_have_days_of_their_own(entry: str) -> None:
    assert published(f"<main><h1>Rivers</h1>{''.join(entry.format(n) for n in range(1, 6))}</main>") is None


@pytest.mark.parametrize(
    "body",
    [
        f"<main><div>Next concert: 1 March 2021</div><h1>On rivers</h1>{TIMES[0]}{TEXT}</main>",
        f"<main><h1>On rivers</h1><p>Version 3, valid from 1 January 2019</p>{TIMES[0]}{TEXT}</main>",
        f"<div><b>Monday, 1 March 2021</b></div><div><h1>On rivers</h1>{TEXT}<p class=posted>6 May 2020</p></div>",
        f"<div><div class=x><div class=d>May 6, 2020</div><h1>On rivers</h1></div>{TEXT}</div>",
    ],
)
def test_a_marked_time_says_more_than_a_line_and_a_line_beside_the_heading_more_than_one_far_above(body: str) -> None:
    assert published(body) == OWN


def test_the_day_of_the_url_says_more_than_one_in_a_line() -> None:
    body = f"<main><h1>On rivers</h1><p>As of 1 March 2018</p>{TEXT}</main>"
    assert published(body, "https://news.example/2020/05/06/on-rivers") == OWN


def test_the_day_of_today_above_the_page_is_not_its_own() -> None:
    assert published(f"<p>Monday, 1 March 2021</p><main><h1>On rivers</h1>{TEXT}</main>") is None


@pytest.mark.parametrize("text", ["iPad Gen 10 2022", "Set 10 2020 of the box", "Sold Out 10 2019", "Mag 7, 1999"])
def test_a_short_month_in_front_that_is_an_english_word_is_one_only_where_days_stand_first(text: str) -> None:
    today = date(2026, 3, 10)
    found = day_of(text, today, is_day_first=True)
    assert found is not None
    assert (day_of(text, today), day_of(text, today, is_day_first=False)) == (None, None)


@pytest.mark.parametrize("name", ["<time datetime=x>", "<i itemprop=author>", "<div class=author-name>"])
@pytest.mark.parametrize("filling", ["<p>x <a href=/y>z</a></p>", "<a></a>"])
def test_looking_for_entries_is_linear(name: str, filling: str) -> None:
    body = f"<main><h1>On rivers</h1>{name * 40}{filling * 40_000}"
    started = time.process_time()
    published(body)
    assert time.process_time() - started < 2


def redated(published: str, changed: str, body: str, lang: str = "en-US") -> str:
    """The day of an article whose JSON-LD states when it was *published* and *changed*."""
    work = {"@type": "Article", "datePublished": published, "dateModified": changed}
    head = f'<title>On rivers</title><script type="application/ld+json">{json.dumps(work)}</script>'
    return str(extract_page(f"<html lang={lang}>{head}<body>{body}", URL).published_at)[:10]


CHANGED = ("2019-03-04T10:00:00+00:00", "2020-05-06T10:00:00+00:00")
SHOWN = [
    "<div class=info>May 6, 2020 · 5 min read</div>",
    "<ul><li>Ann Lee</li><li>May 6, 2020</li></ul>",
    "<p>Last updated: 2020-05-06</p>",
    "<p><time datetime=2020-05-06T12:00+02:00>6 May 2020</time></p>",
    "<p>Stand: 06.05.2020</p>",
    "<table><tr><td>Changed<td>05/06/2020</table>",
    "<dl><dt>Updated</dt><dd>6 May 2020</dd></dl>",
    "<p>更新日: 2020年5月6日</p>",
]


@pytest.mark.parametrize("line", SHOWN)
def test_an_article_that_shows_only_its_last_change_is_of_that_day(line: str) -> None:
    assert redated(*CHANGED, f"<main><h1>On rivers</h1>{line}{TEXT}</main>") == "2020-05-06"
    assert redated(*CHANGED, f"<main>{line}<h1>On rivers</h1>{TEXT}</main>") == "2020-05-06"
    is_said = "pdated" in line or "Stand" in line or "Changed" in line or "更新" in line
    behind = redated(*CHANGED, f"<main><h1>On rivers</h1>{TEXT}{line}</main>")
    assert behind == ("2020-05-06" if is_said else "2019-03-04")  # bare days behind a text are of linked pages


@pytest.mark.parametrize("line", SHOWN)
@pytest.mark.parametrize(
    "first",
    [
        "<p>Published 4 March 2019</p>",
        "<p>March 5, 2019</p>",  # in the zone of the site
        "<time datetime=2019-03-04>last year</time>",
        "<p>03/04/2019</p>",
        "<p>04/03/2019</p>",  # in whatever order
        "<footer>First printed on 4 March 2019</footer>",
    ],
)
def test_an_article_that_shows_when_it_was_published_is_of_that_day(line: str, first: str) -> None:
    assert redated(*CHANGED, f"<main><h1>On rivers</h1>{line}{first}{TEXT}</main>") == "2019-03-04"


@pytest.mark.parametrize(
    "body",
    [
        TEXT,
        f"{TEXT}<p>It was found on 6 May 2020, which is what everybody knew at the time, as it was in all papers.</p>",
        f"{TEXT}<div class=comments><div class=comment><p>Bob, May 6, 2020</p><p>Well, that is so.</p></div></div>",
        f"{TEXT}<footer><p>Site built on May 6, 2020</p></footer>",
        f"{TEXT}<aside><a href=/x>On lakes</a> <i>May 6, 2020</i></aside>",
        f"<nav>May 6, 2020</nav>{TEXT}",
        TEXT + "".join(f"<div class=card><a href=/{n}>Lake</a><p>May {n}, 2020</p></div>" for n in range(4, 8)),
        f"<p>Published 4 March 2019 | Updated 6 May 2020</p>{TEXT}",
        f"<p>June 6, 2020</p>{TEXT}",
        f"<p>Apply by: May 6, 2020</p>{TEXT}",
        f"{TEXT}<h3>Recently updated</h3><p><a href=/x>On lakes</a> May 6, 2020</p>",
        f"{TEXT}<p><a href=/x>Update on lakes: May 6, 2020</a></p>",
        f"{TEXT}<h3>Read also</h3><p><a href=/x>On lakes</a><br>May 6, 2020</p>",
        f"{TEXT}<h3>1 reply</h3><div><b>Bob</b> <i>May 6, 2020 at 10:11</i><p>Well said.</p></div>",
        f"{TEXT}<ol><li>Lee, A. Lakes. Accessed May 6, 2020.</li></ol>",
    ],
)
def test_what_is_not_the_day_of_an_article_changes_none(body: str) -> None:
    assert redated(*CHANGED, f"<main><h1>On rivers</h1>{body}</main>") == "2019-03-04"


@pytest.mark.parametrize(
    "first",
    [
        "<p>04.03.19</p>",
        "<p>March 2019</p>",
        "<p>Mar 4 · Ann Lee</p>",
        "<p>4 de març de 2019</p>",
        "<p>4 มี.ค. 2562</p>",
        "<p>۱۳ اسفند ۱۳۹۷</p>",
        "<p>平成31年3月4日</p>",
        "<relative-time datetime=2019-03-04T10:00:00Z>last year</relative-time>",
        "<abbr title=2019-03-04T10:00:00+00:00>last year</abbr>",
        "<meta itemprop=date content=2019-03-04><p>last year</p>",
    ],
)
def test_the_day_of_an_article_may_be_shown_in_a_form_that_is_not_read(first: str) -> None:
    page = f"<main><h1>On rivers</h1>{first}<p>Updated: 2020-05-06</p>{TEXT}</main>"
    assert redated(*CHANGED, page) == "2019-03-04"


def test_a_day_without_its_order_is_no_sign_of_a_change() -> None:
    assert redated(*CHANGED, f"<main><h1>On rivers</h1><p>05/06/2020</p>{TEXT}</main>", "en") == "2019-03-04"


@pytest.mark.parametrize(
    "entry",
    [
        "<dt><time datetime=2020-05-0{0}>x</time></dt><dd>River {0} is long</dd>",
        "<dt><a href=/{0}>River {0}</a></dt><dd><time datetime=2020-05-0{0}>x</time></dd>",
        "<div><dt><a href=/{0}>River</a></dt><dd>It is long</dd><dd><time datetime=2020-05-0{0}>x</time></dd></div>",
    ],
)
def test_entries_of_a_list_of_terms_have_days_of_their_own(entry: str) -> None:
    assert published(f"<main><h1>Rivers</h1><dl>{''.join(entry.format(n) for n in range(1, 6))}</dl></main>") is None


@pytest.mark.parametrize("term", ["<dt>{0}</dt>", "<dt><a href=/days>{0}</a></dt>"])
def test_terms_that_name_the_days_of_one_page_are_none_of_entries(term: str) -> None:
    facts = term.format("Published, updated, reviewed") + "".join(f"<dd>{day}</dd>" for day in TIMES)
    facts += "".join(f"<dt>{name}</dt><dd>{day}</dd>" for name, day in zip("ABC", TIMES, strict=True))
    assert published(f"<main><h1>On rivers</h1><dl>{facts}</dl>{TEXT}</main>") == OWN


@pytest.mark.parametrize("text", ["3 set 2015 pieces", "the 2 out 2019 models", "5 gen 2020 iPads"])
def test_a_short_month_before_things_is_one_only_where_days_stand_first(text: str) -> None:
    assert day_of(text, date(2026, 3, 10)) is None
    assert day_of(text, date(2026, 3, 10), is_day_first=True) is not None
    assert day_of("3 set 2015, 10:30", date(2026, 3, 10)) == date(2015, 9, 3)
    assert day_of("3 set 2015 alle 10:30", date(2026, 3, 10)) == date(2015, 9, 3)
    assert day_of("3 ago 2015 por Ana Lima", date(2026, 3, 10)) == date(2015, 8, 3)


@pytest.mark.parametrize("stated", ["2020-05-05T22:30:00+00:00", "2020-05-05T22:30:00Z", "2020-05-05T22:30-00:00"])
@pytest.mark.parametrize("shown", ["2020-05-06T00:30:00+02:00", "2020-05-06T08:30:00+1000"])
def test_a_moment_is_of_the_day_that_its_page_shows(stated: str, shown: str) -> None:
    line = f"<p>By Ann, <time datetime={shown}>today</time></p>"
    other = "<time datetime=2021-01-02T22:30:00+00:00>x</time>"
    assert redated(stated, stated, f"<main><h1>On rivers</h1>{other}{line}{TEXT}</main>") == "2020-05-06"


@pytest.mark.parametrize("shown", ["2020-05-06T00:31:00+02:00", "2020-05-06T00:30:00", "2020-05-06", "soon", ""])
def test_another_moment_is_none_of_the_page(shown: str) -> None:
    stated = "2020-05-05T22:30:00+00:00"
    assert redated(stated, stated, f"<main><h1>On rivers</h1><time datetime='{shown}'>x</time>{TEXT}") == "2020-05-05"


@pytest.mark.parametrize("tag", ["div", "center", "p", "header"])
def test_a_heading_may_hold_a_block(tag: str) -> None:
    item = extract_page(f"<h1><{tag}>On rivers</{tag}></h1><p>by Ann Lee - 2020-05-06</p>{TEXT}", URL)
    assert (item.author, item.published_at) == ("Ann Lee", OWN)
