"""Which links are followed, by which of the four places that say so."""

from __future__ import annotations

import pickle
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import ConfigError
from crawler.policy.rules.domains import parse_rules
from crawler.policy.rules.patterns import Pattern
from crawler.policy.rules.scope import Judged, ScopeRules, read_scope
from crawler.policy.rules.traps import harmless

PAGE = "https://shop.example.com/"


def rules(scope: dict[str, Any], domains: str = "") -> ScopeRules:
    return ScopeRules(read_scope(scope, "SCOPE"), parse_rules(domains), lambda: date(2026, 11, 22))


def cut(scope: dict[str, Any], url: str, depth: int = 1, domains: str = "", page: str = PAGE) -> str:
    return rules(scope, domains).link(url, page, depth).rule


@pytest.mark.parametrize(
    ("scope", "url", "rule"),
    [
        ({}, "https://elsewhere.example/x", ""),
        ({"within": "host"}, "https://shop.example.com/x", ""),
        ({"within": "host"}, "http://www.shop.example.com:8080/x", ""),
        ({"within": "host"}, "https://blog.example.com/x", "within"),
        ({"within": "host"}, "mailto:me@example.com", ""),
        ({"within": "domain"}, "https://blog.example.com/x", ""),
        ({"within": "domain"}, "https://example.org/x", "within"),
        ({"paths": ["/de"]}, "https://shop.example.com/de", ""),
        ({"paths": ["/de"]}, "https://shop.example.com/de/x?y", ""),
        ({"paths": ["/de"]}, "https://shop.example.com/design", "paths"),
        ({"paths": ["/de/"]}, "https://shop.example.com/de/../en/x", "paths"),
        ({"paths": ["/de/"]}, "https://shop.example.com/de/%2e%2e/en/x", "paths"),
        ({"paths": ["/"]}, "https://shop.example.com", ""),
        ({"include": ["/p/", "/c/"]}, "https://shop.example.com/c/x", ""),
        ({"include": ["/p/", "/c/"]}, "https://shop.example.com/x", "include"),
        ({"exclude": "/admin"}, "https://shop.example.com/admin/x", "exclude"),
        ({"exclude": "/admin"}, "https://shop.example.com/%61dmin/x", "exclude"),
        ({"exclude": "/admin"}, "https://shop.example.com/./admin", "exclude"),
        ({"exclude": "(?i)/admin"}, "https://shop.example.com/ADMIN", "exclude"),
        ({"query_parameters": 2}, "https://shop.example.com/?a=1&b=2", ""),
        ({"query_parameters": 2}, "https://shop.example.com/?a=1&b=2&c", "query_parameters"),
        ({"traps": "all"}, "https://shop.example.com/a/a/a", "repeating_path"),
        ({"traps": ["calendar"]}, "https://shop.example.com/a/a/a", ""),
        ({"depth": 1}, "https://shop.example.com/a", ""),
    ],
)
def test_each_rule_cuts_what_it_names(scope: dict[str, Any], url: str, rule: str) -> None:
    assert cut(scope, url) == rule


def test_depth_counts_links_from_a_pushed_page() -> None:
    assert [cut({"depth": 2}, f"{PAGE}a", depth) for depth in (1, 2, 3)] == ["", "", "depth"]


def test_what_is_nearest_to_a_page_decides_key_by_key() -> None:
    domains = """
[default.scope]
depth = 3
["example.com".scope]
paths = "/de"
["shop.example.com".scope]
depth = 5
"""
    scope = {"depth": 1, "query_parameters": 1, "paths": ["/en"]}
    made = rules(scope, domains)
    shop, other = made.of(PAGE), made.of("https://other.example/")
    assert (shop.depth, shop.paths, shop.query_parameters) == (5, ("/de",), 1)
    assert (other.depth, other.paths, other.query_parameters) == (3, ("/en",), 1)


def test_the_domains_own_exclude_is_about_links_the_scopes_about_pushed_addresses_too() -> None:
    made = rules({"exclude": ["/never"], "include": ["/p/"]}, '[default]\nexclude = "/unlinked"')
    assert made.link(f"{PAGE}p/unlinked", PAGE, 1).rule == "exclude"
    assert [made.pushed(PAGE + path) for path in ("unlinked", "never", "", "x")] == ["", "exclude", "", ""]


def test_a_session_id_is_taken_out_before_the_other_rules_look() -> None:
    made = rules({"traps": ["session"], "query_parameters": 1})
    assert made.link(f"{PAGE}x?a=1&PHPSESSID=2", PAGE, 1) == (f"{PAGE}x?a=1", "")
    assert made.link(f"{PAGE}x;jsessionid=1", PAGE, 1) == (f"{PAGE}x", "")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"exclude": ["ok", "(?=x)"]}, "SCOPE['exclude'] = '(?=x)' is invalid: expected a regular expression in RE2"),
        ({"include": ["("]}, "SCOPE['include'] = '('"),
        ({"include": ["x" * 1_001]}, "at most 1000"),
        ({"include": ["a{900}" * 100]}, "SCOPE['include']"),
        ({"include": ["x"] * 201}, "at most 200"),
        ({"include": ["\udcff"]}, "SCOPE['include']"),
        ({"include": 5}, "SCOPE['include'] = 5"),
        ({"exlude": []}, "one of within, paths"),
        ({"paths": ["shop"]}, "the beginning of a path"),
        ({"traps": ["honey"]}, "deep_path, repeating_path"),
        ({"within": "site"}, "any, domain, host"),
        ({"depth": -1}, "0 to 100000"),
        ({"depth": True}, "0 to 100000"),
        ({"depth": 1.5}, "an integer"),
        ({"nofollow": "yes"}, "true or false"),
        (["x"], "a table of within"),
        ({1: 2}, "one of within"),
    ],
)
def test_a_mistake_is_named(raw: Any, words: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_scope(raw, "SCOPE")
    assert words in str(error.value)


def test_a_mistake_of_a_domain_is_named_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"line 3: \[a.example\] scope.exclude = '\('"):
        parse_rules('["a.example".scope]\npaths = "/x"\nexclude = ["x", "("]')
    with pytest.raises(ConfigError, match=r"line 2: \[a.example\] scope.pages ="):
        parse_rules('["a.example".scope]\npages = 5')


@given(st.text(max_size=100), st.text(max_size=100))
def test_no_link_is_too_strange(url: str, page: str) -> None:
    made = rules({"within": "domain", "paths": "/x", "include": ".", "exclude": "y", "traps": "all", "depth": 3})
    for one in (url, f"http://{url}", f"http://a.example/{url}", url + "\udcff"):
        assert made.link(one, f"http://a.example/{page}", 1).rule != "depth"
        assert made.pushed(one) in {"", "exclude"}


@given(st.lists(st.sampled_from(["a", "b", "..", ".", "%2e%2e", "%61"]), max_size=6))
def test_no_way_of_writing_a_path_leads_out_of_paths_or_into_what_is_excluded(parts: list[str]) -> None:
    url = PAGE + "/".join(parts)
    made = rules({"paths": ["/a"], "exclude": ["/b"]})
    resolved: list[str] = []
    for part in parts:
        plain = part.replace("%2e", ".").replace("%61", "a")
        if plain == "..":
            del resolved[-1:]
        elif plain != ".":
            resolved.append(plain)
    if not made.link(url, PAGE, 1).rule:
        assert resolved[:1] == ["a"]
        assert "b" not in resolved


def test_a_pattern_takes_time_linear_in_what_a_site_writes() -> None:
    made = rules({"exclude": ["(a+)+$", "(a|a)*b", "^(.*)*x$"]})
    assert made.link(PAGE + "a" * 100_000 + "!", PAGE, 1).rule == ""


def test_a_pattern_is_pickled_by_its_text() -> None:
    again = pickle.loads(pickle.dumps(Pattern("/a+")))
    assert again == Pattern("/a+")
    assert again.search("/aa")


@pytest.mark.parametrize(
    ("scope", "domains", "origin"),
    [
        ({}, "", "https://shop.example/"),
        ({"traps": ["calendar", "session"], "within": "host", "depth": 1}, "", "https://shop.example/"),
        ({"exclude": ["x"]}, "", ""),
        ({"include": ["x"]}, "", ""),
        ({"paths": ["/a"]}, "", ""),
        ({"query_parameters": 2}, "", ""),
        ({}, '["shop.example"]\nexclude = ["x"]', ""),
        ({}, '["other.example"]\nexclude = ["x"]', "https://shop.example/"),
    ],
)
@given(path=st.text("ab/.019-?=&;%_", max_size=20))
def test_below_an_origin_that_only_traps_cut_what_is_harmless_is_in_scope(
    scope: dict[str, Any], domains: str, origin: str, path: str
) -> None:
    judges, page = rules(scope, domains), "https://shop.example/sitemap.xml"
    assert judges.trapped_alone(page) == origin
    url = f"https://shop.example/{path}"
    if origin and harmless(url):
        assert judges.named(url, page, judges.of(page)) == Judged(url, "")


@pytest.mark.parametrize(
    "page", ["https://shop.example@evil.example/", "https://[", "sitemap", "https://Shop.example/"]
)
def test_an_unusual_origin_is_none(page: str) -> None:
    assert rules({}).trapped_alone(page) == ""


def test_a_pattern_reads_what_is_no_utf_8_as_question_marks() -> None:
    assert [Pattern("b[?]$").search(url) for url in ("ab\udcff", "a\udcffb")] == [True, False]
