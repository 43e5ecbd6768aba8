"""Cookies as records, and what a response changed."""

from __future__ import annotations

from http.cookiejar import Cookie

from hypothesis import given
from hypothesis import strategies as st

from crawler.policy.cookies import MAX_COOKIE, MAX_JAR, Changes, changes, cookie_of, name_of, record_of, records

TOKENS = st.text("abcdefgh", min_size=1, max_size=4)


@st.composite
def cookies(draw: st.DrawFn) -> Cookie:
    flags = [draw(st.booleans()) for _ in range(4)]
    expires = draw(st.none() | st.integers(0, 2**40))
    return Cookie(
        0, draw(TOKENS), draw(st.text(max_size=20)), None, False, draw(TOKENS) + ".example", flags[0], flags[1],
        "/" + draw(TOKENS), flags[2], flags[3], expires, expires is None, None, None, {},
    )  # fmt: skip


JARS = st.lists(cookies(), unique_by=name_of)


@given(cookies())
def test_a_cookie_survives_redis(cookie: Cookie) -> None:
    assert vars(cookie_of(name_of(cookie), record_of(cookie))) == vars(cookie)


@given(JARS, JARS)
def test_changes_lead_from_what_was_known_to_what_is_there(before: list[Cookie], now: list[Cookie]) -> None:
    known, wanted = dict(records(before, {})), records(now, {})
    found = changes(known, now)
    for name in found.removed:
        del known[name]
    assert known | dict(found.changed) == wanted
    assert bool(found) == (records(before, {}) != wanted)


@given(JARS)
def test_what_stays_is_no_change(jar: list[Cookie]) -> None:
    assert changes(records(jar, {}), jar) == Changes({}, (), 0)


def test_a_cookie_that_no_browser_would_keep_is_left_out() -> None:
    long = cookie_of("a.example\n/\nk", '["%s", null, 0, 0, 0, 0]' % ("v" * MAX_COOKIE))
    assert changes({}, [long]) == Changes({}, (), 1)


def test_a_path_that_no_browser_would_read_is_left_out() -> None:
    long = cookie_of(f"a.example\n/{'p' * 2_000}\nk", '["v", null, 0, 0, 0, 0]')
    assert changes({}, [long]) == Changes({}, (), 1)


def test_a_jar_that_is_full_keeps_what_it_had_and_takes_no_more() -> None:
    """Whatever their life time, which may be that of the year 9999: no server would read a header as long."""
    jar = [cookie_of(f"a.example\n/\nk{n}", f'["{"v" * 4_000}", 253402300799, 0, 0, 0, 0]') for n in range(10_000)]
    first = changes({}, jar[:10])
    known = dict(first.changed)
    assert (len(known), first.too_long) == (10, 0)
    second = changes(known, [*jar[10:], *jar[:10]])
    assert (second.removed, second.too_long) == ((), 10_000 - 10 - len(second.changed))
    taken = sum(len(name) + len(record) for name, record in (known | dict(second.changed)).items())
    assert 0.9 * MAX_JAR < taken <= MAX_JAR
