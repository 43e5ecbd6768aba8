"""Header profiles are what the browsers send, and consistent in themselves."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.policy.headers import PROFILES, relation

ALL = frozenset(("gzip", "deflate", "br", "zstd"))
NAMES = pytest.mark.parametrize("name", PROFILES)


def test_chrome_as_it_asks_for_a_page() -> None:
    sent = PROFILES["chrome"].dress("https://a.com/", {"Referer": "https://www.a.com/"}, ALL)
    assert list(sent) == [
        "Sec-Ch-Ua", "Sec-Ch-Ua-Mobile", "Sec-Ch-Ua-Platform", "Upgrade-Insecure-Requests", "User-Agent", "Accept",
        "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-User", "Sec-Fetch-Dest", "Referer", "Accept-Encoding",
        "Accept-Language",
    ]  # fmt: skip
    assert sent["Sec-Fetch-Site"] == "same-site"
    assert sent["Accept-Encoding"] == "gzip, deflate, br, zstd"


@NAMES
def test_hints_and_user_agent_name_the_same_browser_and_version(name: str) -> None:
    sent = PROFILES[name].dress("https://a.com/", {}, ALL)
    agent = sent["User-Agent"]
    assert ("Sec-Ch-Ua" in sent) == ("Chrome/" in agent)
    if hints := sent.get("Sec-Ch-Ua"):
        [version] = set(re.findall(r"(?:Chrome|Edg)/(\d+)", agent))
        assert hints.count(f'v="{version}"') == 2
        assert ("Edge" in hints) == ("Edg/" in agent)
        assert sent["Sec-Ch-Ua-Platform"].strip('"') in agent


@NAMES
def test_over_plain_http_there_are_no_hints_and_the_old_encodings(name: str) -> None:
    sent = PROFILES[name].dress("http://a.com/", {}, ALL)
    assert not [header for header in sent if header.startswith("Sec-")]
    assert sent["Accept-Encoding"] == "gzip, deflate"


@NAMES
@given(
    own=st.dictionaries(
        st.sampled_from(("Accept", "X-Key", "Referer", "Content-Type", "Cookie")), st.text("abc", min_size=1)
    )
)
def test_own_headers_win_and_nothing_gets_lost(name: str, own: dict[str, str]) -> None:
    sent = PROFILES[name].dress("https://a.com/", own, ALL)
    assert own.items() <= sent.items()
    order = [PROFILES[name].order.index(header) for header in sent if header in PROFILES[name].order]
    assert order == sorted(order)
    assert PROFILES[name].values.keys() <= sent.keys() | own.keys()


def test_only_what_can_be_decoded_is_asked_for() -> None:
    assert PROFILES["chrome"].dress("https://a.com/", {}, {"gzip"})["Accept-Encoding"] == "gzip"


@pytest.mark.parametrize(
    ("referer", "expected"),
    [
        ("", "none"),
        ("https://a.com/x", "same-origin"),
        ("https://www.a.com/", "same-site"),
        ("http://a.com/", "cross-site"),
        ("https://b.com/", "cross-site"),
    ],
)
def test_where_a_visitor_comes_from(referer: str, expected: str) -> None:
    assert relation("https://a.com/", referer) == expected


@NAMES
def test_what_a_profile_put_on_can_be_taken_off(name: str) -> None:
    profile = PROFILES[name]
    sent = profile.dress("https://a.com/", {"X-Key": "k", "Accept": "text/css"}, ALL)
    assert {header for header, value in sent.items() if not profile.sends(header, value)} == {"X-Key", "Accept"}
