"""Days of a page among days of other things: cards, versions, events, the bar on top."""

from __future__ import annotations

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
