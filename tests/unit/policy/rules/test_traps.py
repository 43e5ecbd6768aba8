"""What is taken for a trap, and what is not."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.policy.rules.traps import TRAPS, harmless, trap, without_session

TODAY = date(2026, 11, 22)


def rule(url: str) -> str:
    return trap(f"https://shop.example{url}", TRAPS, TODAY)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/a/b/a/b/x", "repeating_path"),
        ("/en/en/en", "repeating_path"),
        ("/a/img/b/img/c/img", "repeating_path"),
        ("/" + "/".join(f"p{number}" for number in range(21)), "deep_path"),
        ("/list?f=1&f=1&f=1", "growing_query"),
        ("/list?" + "&".join(f"color={number}" for number in range(11)), "growing_query"),
        ("/login?next=%2Flogin%3Fnext%3D%252F", "growing_query"),
        ("/x?u=%252525", "growing_query"),
        ("/x?" + "&".join(f"p{number}=1" for number in range(16)), "growing_query"),
        ("/x?dir=/a/b/a/b/a/b", "growing_query"),
        ("/calendar/2031/05", "calendar"),
        ("/calendar/2031-05-17/", "calendar"),
        ("/events/month/2019-02", "calendar"),
        ("/kalender?monat=3&jahr=2040", "calendar"),
        ("/events?tribe-bar-date=2035-01-01", "calendar"),
        ("/calendar?ts=4102444800", "calendar"),
        ("/2040/05/", "calendar"),
        ("/events/20400501/", "calendar"),
    ],
)
def test_what_a_site_can_make_without_end_is_a_trap(url: str, expected: str) -> None:
    assert rule(url) == expected
    assert trap(f"https://shop.example{url}", [name for name in TRAPS if name != expected], TODAY) != expected


@pytest.mark.parametrize(
    "url",
    [
        "/",
        "/p/0/0/0/0",
        "/p/12/7/12/7",
        "/en/shop/en",
        "/shop/shop/x",
        "/shop/shoes/red-shoe-2031-05",
        "/blog/2012/05/a-post",
        "/2012/05/",
        "/calendar/2026/12",
        "/calendar?date=soon&from=/",
        "/calendar",
        "/events/2015-05-03-concert",
        "/list?page=2&sort=price&color=red&color=blue",
        "/list?page=99999",
        "/login?next=%2Fcheckout",
        "/p/4012345678901",
        "/go?url=https://elsewhere.example/a/b/c/d",
        "/collections/2027/07/x?from=2019-01-01",
    ],
)
def test_what_is_a_page_is_none(url: str) -> None:
    assert rule(url) == ""


@pytest.mark.parametrize(
    ("url", "without"),
    [
        ("/x;jsessionid=AB12?b=1", "/x?b=1"),
        ("/x?PHPSESSID=1&b=2#f", "/x?b=2#f"),
        ("/x?b=2&sid=0a1b2c3d4e5f6071", "/x?b=2"),
        ("/x?sid=12", "/x?sid=12"),
        ("/(S(abcdefghijklmnop12345678))/x", "/x"),
        ("/x?PHPSESSID=1", "/x"),
        ("/x?b=%20&c", "/x?b=%20&c"),
        ("/session/12?session=summer", "/session/12?session=summer"),
    ],
)
def test_a_session_id_is_taken_out_and_nothing_else(url: str, without: str) -> None:
    assert without_session(f"https://shop.example{url}") == f"https://shop.example{without}"


@given(st.text(max_size=200))
def test_no_address_is_too_strange(text: str) -> None:
    for url in (text, f"https://shop.example/{text}"):
        assert trap(url, TRAPS, TODAY) in {"", *TRAPS}
        assert without_session(without_session(url)) == without_session(url)


@given(st.lists(st.sampled_from(["a", "b", "12", "c-d"]), max_size=30), st.integers(3, 5))
def test_a_path_that_repeats_three_times_is_one_whatever_goes_before(before: list[str], times: int) -> None:
    path = "/".join([*before, *["loop", "7"] * times])
    assert rule(f"/{path}") in {"repeating_path", "deep_path"}


@pytest.mark.parametrize(
    "part", ["/a", "/2031/05", ";sid=x", "%25", "&a=1", "&next=%2F%3Fnext%3D", "/(S(a", "-2031.", "?date=", "1", "a"]
)
def test_the_longest_address_is_judged_as_fast_as_it_is_read(part: str) -> None:
    """A rule that took the square of the length would take seconds for this one, and the test's time would be over."""
    url = "https://shop.example/calendar?x=1" + part * (200_000 // len(part))
    assert trap(url, TRAPS, TODAY) in {"", *TRAPS}
    assert without_session(url)


_WORDS = [
    "a",
    "b",
    "shop",
    "calendar",
    "Kalender",
    "2031",
    "1999",
    "05",
    "5",
    "20310517",
    "2031-05",
    "05-2031",
    "sid",
    "x;sid=1",
    "date",
    "year",
    "YEAR",
    "jahr",
    "PHPSESSID",
    "aspSessionId",
    "s_id",
    "from",
    "p",
    "q%41",
    "(A(0123456789abcdef01))",
]
_PARTS = st.lists(st.sampled_from(_WORDS), max_size=24)
_PAIRS = st.lists(
    st.tuples(st.sampled_from(_WORDS), st.sampled_from(("", "1", "0a1b2c3d4e5f6a7b", "2031", "4102444800", *_WORDS))),
    max_size=4,
)


@given(_PARTS, _PAIRS, st.sampled_from(("", "/", "//", ".html")), st.sampled_from("/-_."))
def test_what_one_look_passes_no_rule_would_cut(
    parts: list[str], pairs: list[tuple[str, str]], end: str, joint: str
) -> None:
    path = "/" + joint.join(parts[:3]) + "/" + "/".join(parts[3:]) + end
    query = "&".join(f"{name}={value}" if value else name for name, value in pairs)
    url = f"https://shop.example{path}" + (f"?{query}" if pairs else "")
    if harmless(url):
        assert trap(url, TRAPS, TODAY) == ""
        assert without_session(url) == url


def test_most_links_take_one_look() -> None:
    for path in ("", "/", "/p/red-shoe-1234.html", "/blog/2012/05/a-post/", "/list?page=2&sort=price", "/de/p/1999"):
        assert harmless(f"https://shop.example{path}"), path
