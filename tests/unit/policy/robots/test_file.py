"""Which rules apply to which agent, where RFC 9309 and its reference parser differ from other readers."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from crawler.policy.robots import responses as robots
from crawler.policy.robots.file import MOST_READ, RobotsFile
from crawler.policy.robots.rules import MOST_COMPARED, PathRules, _Wild
from tests.effort import cpu_seconds

SITE = "https://shop.example"


def allowed(body: str | bytes, agent: str, path: str) -> bool:
    lines = robots.text(body if isinstance(body, bytes) else body.encode())
    return RobotsFile(lines).can_fetch(SITE + path, agent)


@pytest.mark.parametrize(
    ("named", "agent", "is_meant"),
    [
        ("Foo", "foo", True),
        ("FOO", "Foo", True),
        ("Foo Bar", "foo", True),  # up to the first space
        ("Foo\tBar", "foo", True),
        ("Foo Bar", "bar", False),
        ("foo/2.1", "foo", True),
        ("foo (images)", "foo", True),
        ("foo, bar", "foo", True),
        ("foo*", "foo", True),
        ("foo", "foobot", False),  # a token is whole or it is none
        ("bot", "foobot", False),
        ("foo", "foo-images", False),
        ("foo-images", "foo-images/1.0", True),
        ("foo_2", "foo_2", True),
        ("foobot", "Mozilla/5.0 (compatible; FooBot/1.0; +https://foo.example/bot)", True),
        ("", "foo", False),
        ("/", "foo", False),
        ("* everybody", "foo", True),
        ("*", "foo", True),
        ("fóo", "foo", False),
        (".*", "foo", False),
    ],
)
def test_whom_a_group_is_for(named: str, agent: str, is_meant: bool) -> None:
    assert allowed(f"User-agent: {named}\nDisallow: /\n", agent, "/x") is not is_meant


@pytest.mark.parametrize(
    ("line", "ends_group"),
    [
        ("User agent is what a program calls itself", False),
        ("User-agent names are matched without case", False),
        ("User-agent other", True),
        ("User-agent: other and more", True),
    ],
)
def test_a_colon_may_be_missing_before_one_word_but_not_in_a_sentence(line: str, ends_group: bool) -> None:
    lines = f"User-agent: foo\nDisallow: /a\n{line}\nDisallow: /x\n"
    assert allowed(lines, "foo", "/x") is ends_group


def test_a_sentence_is_no_rule() -> None:
    assert allowed("User-agent: *\nDisallow /x\nAllow /x as we said\n", "foo", "/x") is False
    assert allowed("User-agent: *\nDisallow /x* to all\n", "foo", "/x to all") is True


def test_of_several_groups_the_one_with_the_longest_name_counts() -> None:
    lines = "User-agent: *\nDisallow: /\n\nUser-agent: shop\nDisallow: /a\n\nUser-agent: shop-bot\nDisallow: /b\n"
    assert [allowed(lines, "shop-bot/1.0 (a shop bot)", path) for path in ("/a", "/b", "/c")] == [True, False, True]
    assert [allowed(lines, "shop", path) for path in ("/a", "/b", "/c")] == [False, True, True]
    assert not allowed(lines, "other", "/c")


def test_an_agent_that_is_named_last_has_a_group_without_rules() -> None:
    file = RobotsFile("User-agent: *\nDisallow: /\n\nUser-agent: shoal\n")

    assert file.can_fetch("https://shop.example.com/p", "shoal")
    assert not file.can_fetch("https://shop.example.com/p", "another")


def test_groups_of_one_agent_are_one() -> None:
    lines = "User-agent: foo\nDisallow: /a\nUser-agent: bar\nDisallow: /b\nUser-agent: FOO x\nDisallow: /c\n"
    assert [allowed(lines, "foo", path) for path in ("/a", "/b", "/c")] == [False, True, False]


@pytest.mark.parametrize(
    "between",
    [
        "Sitemap: https://shop.example/sitemap.xml",
        "Crawl-delay: 5",
        "Request-rate: 1/5",
        "Clean-param: ref",
        "Noindex: /x",
        "who are you",
        "# a remark",
        "",
        "Host: shop.example",
        "<html>",
        ": /",
        "allowed: /",
    ],
)
def test_only_a_rule_ends_a_list_of_agents(between: str) -> None:
    lines = (
        f"User-agent: foo\n{between}\nUser-agent: bar\n{between}\nDisallow: /x\n{between}\nUser-agent: baz\nAllow: /"
    )
    assert [allowed(lines, agent, "/x") for agent in ("foo", "bar", "baz")] == [False, False, True]


@pytest.mark.parametrize("rule", ["Allow:", "Disallow:", "disallow", "Allow: /", "Dissalow: /y"])
def test_a_rule_ends_it_whatever_it_says(rule: str) -> None:
    lines = f"User-agent: foo\n{rule}\nUser-agent: bar\nDisallow: /x\n"
    assert [allowed(lines, agent, "/x") for agent in ("foo", "bar")] == [True, False]


def test_a_limit_is_for_the_agents_right_above_it() -> None:
    file = RobotsFile(
        "User-agent: foo\nUser-agent: bar\nCrawl-delay: 5\n\nUser-agent: *\nCrawl-delay: 1\nDisallow: /x\n"
        "User-agent: late\nDisallow: /x\nCrawl-delay: 9\n"
    )
    assert [file.crawl_delay(agent) for agent in ("foo", "bar", "late", "other")] == [5, 5, 9, 1]
    assert not file.can_fetch(f"{SITE}/x", "foo")


def test_rules_before_any_agent_are_nobodys() -> None:
    lines = "Disallow: /\nCrawl-delay: 9\nUser-agent: foo\nDisallow: /x\n"
    assert [allowed(lines, "foo", path) for path in ("/", "/x")] == [True, False]
    assert RobotsFile(lines).crawl_delay("foo") is None


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\r\n", "\r\r"])
def test_lines_end_as_on_any_system(end: str) -> None:
    lines = end.join(("User-agent: foo", "Disallow: /a", "Disallow: /b"))
    assert [allowed(lines, "foo", path) for path in ("/a", "/b", "/c")] == [False, False, True]


@pytest.mark.parametrize("char", ["\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_other_signs_end_no_line(char: str) -> None:
    lines = f"User-agent: foo\nDisallow: /a{char}b\n"
    encoded = "".join(f"%{byte:02X}" for byte in char.encode())
    assert [allowed(lines, "foo", path) for path in ("/a", f"/a{encoded}b")] == [True, False]


@pytest.mark.parametrize(
    "rule", ["user-agent foo\ndisallow /x", "USER-AGENT : foo\nDISALLOW : /x", "useragent:foo\ndisallow:/x"]
)
def test_fields_are_read_leniently(rule: str) -> None:
    assert not allowed(rule, "foo", "/x")


@pytest.mark.parametrize(
    ("rule", "path", "is_allowed"),
    [
        ("/ツ", "/%E3%83%84", False),
        ("/%e3%83%84", "/%E3%83%84", False),
        ("/ツ", "/ツ", False),
        ("/%62%61%7A", "/baz", False),  # RFC 9309 2.2.2: what need not be encoded is decoded
        ("/baz", "/%62az", False),
        ("/a%2Fb", "/a/b", True),  # a reserved one is not
        ("/a?b=http://c.example?d&e", "/a?b=http://c.example?d&e", False),
        ("/x#remark", "/x", False),
        ("/fish$", "/fish", False),
        ("/fish$", "/fishes", True),
        ("/*.php$", "/a/b.php", False),
        ("/*.php$", "/a/b.php?c", True),
        ("/a*b*c", "/a-b-c-d", False),
        ("x", "/x", True),  # a path begins with a slash
    ],
)
def test_what_a_rule_means(rule: str, path: str, is_allowed: bool) -> None:
    assert allowed(f"User-agent: foo\nDisallow: {rule}\n", "foo", path) is is_allowed


RULES = b"User-agent: *\nDisallow: /x\n"


@pytest.mark.parametrize("begins", [b"", b"\xef\xbb\xbf", b"\xef\xbb", b"\xef", b"\n\n", b"  "])
def test_a_mark_at_the_beginning_says_nothing(begins: bytes) -> None:
    assert not allowed(begins + RULES, "foo", "/x")


def test_a_mark_elsewhere_and_other_bytes_spoil_their_line_and_no_other() -> None:
    assert allowed(b"\xef\x11\xbf" + RULES, "foo", "/x")
    assert allowed(b"User-agent: *\n\xef\xbb\xbfDisallow: /x\nDisallow: /y\n", "foo", "/x")
    assert not allowed(b"User-agent: *\n\xef\xbb\xbfDisallow: /x\nDisallow: /y\n", "foo", "/y")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_utf_16_is_read_like_utf_8(encoding: str) -> None:
    body = "User-agent: *\nDisallow: /ツ\n".encode(encoding)
    assert [allowed(body, "foo", path) for path in ("/%E3%83%84", "/x")] == [False, True]


def test_paths_in_other_encodings_match_the_bytes_of_urls() -> None:
    body = b"User-agent: *\nDisallow: /caf\xe9/\n"
    assert [allowed(body, "foo", path) for path in ("/caf%E9/x", "/caf/x", "/cafe/x")] == [False, True, True]


def test_robots_txt_itself_is_never_forbidden() -> None:
    assert allowed("User-agent: *\nDisallow: /\n", "foo", "/robots.txt")


def test_many_agents_ask_and_few_groups_stay_parsed() -> None:
    file = RobotsFile("".join(f"User-agent: bot{number}\nDisallow: /{number}\n" for number in range(100)))
    assert not any(file.can_fetch(f"{SITE}/{number}", f"bot{number}") for number in range(100))
    assert len(file._read) <= MOST_READ


@pytest.mark.parametrize(
    "lines",
    [
        "".join(f"User-agent: a{number}\n" for number in range(20_000)) + "Disallow: /x\n" * 15_000,
        "".join(f"User-agent: a{number}\nCrawl-delay: 1\n" for number in range(12_000)) + "Disallow: /x\n" * 1_000,
        "".join(f"User-agent: *\nCrawl-delay: 1\nDisallow: /{number}\n" for number in range(10_000)),
        "User-agent: foo\nDisallow: /" + "*a" * 200_000 + "\n",
        "User-agent: " + "a" * 400_000 + "\nDisallow: /\n",
        " " * 500_000,
        "User-agent" + " " * 400_000 + "\n",
    ],
)
def test_no_file_takes_long(lines: str) -> None:
    spent = cpu_seconds(lambda: RobotsFile(lines).can_fetch(f"{SITE}/{'a' * 1_000}", "a7"), 5)
    assert spent < 5, "quadratic ones took minutes"


PARTS = st.sampled_from(["a", "b", "/", "//", "*", "$", "%2f", "%62", "%24", "%zz", "ツ", "é", "?", "=", "/index.html"])
VALUES = st.builds(lambda start, parts: start + "".join(parts), st.sampled_from(["/", "*", ""]), st.lists(PARTS))


@given(st.lists(st.tuples(st.booleans(), VALUES), max_size=5), st.lists(PARTS), st.sampled_from(["/", "/robots.txt"]))
def test_urls_are_allowed_as_by_protego(rules: list[tuple[bool, str]], parts: list[str], start: str) -> None:
    lines = "".join(f"{'Allow' if allows else 'Disallow'}: {value}\n" for allows, value in rules)
    protego = Protego.parse(f"User-agent: *\n{lines}")
    for url in (SITE + start + "".join(parts), *(SITE + value.replace("*", "x").strip("$") for _, value in rules)):
        assert PathRules(rules).allow(url) == protego.can_fetch(url, "*")


@pytest.mark.parametrize("rule", ["/a*$", "/a*{}$", "/a*{}b", "/a{}b", "/*{}*a", "/a*{}*$"])
def test_few_rules_of_a_full_file_are_matched(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    matches, matched = _Wild.matches, list[str]()

    def noted(rule: _Wild, path: str) -> bool:
        matched.append(rule.key)
        return matches(rule, path)

    monkeypatch.setattr(_Wild, "matches", noted)
    rules = [(True, rule.format(number)) for number in range(100_000, 110_000)]
    assert not PathRules([*rules, (False, "/")]).allow(f"{SITE}/x/y?a=105000")
    assert len(matched) <= 2


def test_a_long_file_is_read_for_an_agent_before_it_is_asked() -> None:
    file = RobotsFile("User-agent: foo\nDisallow: /a\n" + "Disallow: /b\n" * 3_000)
    assert (file.is_long, file.has_read("foo")) == (True, False)
    file.group("foo")
    assert (file.has_read("foo"), file.has_read("bar")) == (True, False)


@given(st.text(max_size=500), st.text(max_size=20), st.text(max_size=20))
def test_any_text_can_be_read_and_any_agent_may_ask(lines: str, agent: str, path: str) -> None:
    file = RobotsFile(lines)
    assert file.can_fetch(f"{SITE}/{path}", agent) in {True, False}
    assert isinstance(file.sitemaps, list)


@pytest.mark.parametrize(
    "values",
    [
        ["5"], ["0"], ["-0"], ["1e3"], ["1_0"], [" 2 "], ["2", "x"], ["x", "2"], ["7", "-1"], ["nan"], ["inf", "3"],
        ["9" * 5_000], ["1,5"], ["2s"], [""], [": 4"], ["٣"],
    ],
)  # fmt: skip
def test_a_crawl_delay_is_read_as_protego_reads_it(values: list[str]) -> None:
    lines = "User-agent: *\n" + "".join(f"Crawl-delay: {value}\n" for value in values)
    assert RobotsFile(lines).crawl_delay("a") == Protego.parse(lines).crawl_delay("a")


LETTERS = "abcdefghij"
LONG_PATH = "/" + LETTERS * 400


@pytest.mark.parametrize(
    "form", ["/a*{}$", "/a*{}", "/abcdefghij*a*{}z", "/*{}*a*z", "/*" + "a*" * 20 + "{}", "/*a{}*", "*{}*b*a*c*d*z"]
)
@pytest.mark.parametrize("allows", [True, False])
def test_a_file_made_for_a_url_costs_no_more_than_others(
    form: str, allows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    matches, compared = _Wild.matches, [0]

    def counted(rule: _Wild, path: str) -> bool:
        compared[0] += 2 + len(rule.middle)
        return matches(rule, path)

    monkeypatch.setattr(_Wild, "matches", counted)
    parts = ["".join(part) for size in (1, 2, 3, 4) for part in product(LETTERS, repeat=size)]
    rules = PathRules([(allows, form.format(part)) for part in parts] + [(not allows, "/")])
    rules.allow(SITE + LONG_PATH)
    assert compared[0] <= MOST_COMPARED


def test_what_is_not_compared_any_more_counts_as_forbidden() -> None:
    never = [(True, f"/a0123*{number}*z") for number in range(MOST_COMPARED)]
    path = "/a" + "0123456789" * 40
    assert PathRules([*never, (False, "/b*c")]).allow(SITE + path)
    assert not PathRules([*never, (False, "/*0*y")]).allow(SITE + path)
    assert PathRules([*never[:100], (False, "/*0*y")]).allow(SITE + path)
