"""The rows of plain URLs are those that a Request and a Message give, byte for byte."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scrapy import Request

from crawler.frontier.server.wire_format import push_row
from crawler.policy.tiers import LearnedTier
from crawler.routing.encoder import Encoder
from crawler.routing.fingerprint import RequestFingerprinter
from crawler.routing.plain_urls import PlainUrls, plain_form
from crawler.routing.push_schema import parse_line
from crawler.routing.tier_routing import TierRouting
from crawler.spiders.products import ProductsSpider
from crawler.urls import canonicalize
from tests.shipped import shipped

_PATHS = st.text("abcXYZ019/%.!$&'()*+,:;=@~_-?#|\\é ", max_size=24)
_HOSTS = st.text("abz019.-_", min_size=1, max_size=12) | st.sampled_from(
    [
        "shop.example",
        "www.shop.example",
        "127.0.0.1",
        "0x7f.1",
        "1.2",
        "xn--bcher-kva.example",
        "xn--.example",
        "ab--c.example",
        "a-.b.c1",
        "a." + "b" * 64,
    ]
)
_QUERIES = st.text("abutm_source=&;%+.~-1é", max_size=24)
URLS = st.builds(
    lambda scheme, host, port, path, query: f"{scheme}://{host}{port}/{path}{query}",
    st.sampled_from(["http", "https", "HTTP"]),
    _HOSTS,
    st.sampled_from(["", "", "", ":80", ":8080"]),
    _PATHS,
    st.just("") | _QUERIES.map("?{}".format),
)
PLAIN = (
    "https://shop.example/",
    "https://shop.example/a/b%20c.html",
    "http://www.shop.example/p?b=2&a=1&b=1",
    "https://shop.example/p?variant=2",
    "https://shop.example/p?empty=",
)
NOT_PLAIN = (
    "https://shop.example",
    "https://shop.example:8443/",
    "https://Shop.example/",
    "https://shop.example/a/../b",
    "https://shop.example/p?utm_source=x",
    "https://shop.example/p?a=1&GCLID=x",
    "https://shop.example/p?a=%20",
    "https://shop.example/p?a",
    "https://shop.example/p?",
    "https://shop.example/p#top",
    "https://localhost/",
    "https://user:secret@shop.example/",
    "https://shop.example/" + "x" * 4096,
    "https://shop.example/\n",
    "https://shop.example/a b",
    "https://büch.example/",
)


@cache
def encoder() -> Encoder:
    return Encoder(ProductsSpider, shipped(), RequestFingerprinter(), TierRouting())


@cache
def rows(generation: str = "0", priority: int = 0) -> PlainUrls:
    return PlainUrls(encoder(), generation, priority)


@pytest.mark.parametrize("url", PLAIN)
def test_what_people_push_most_is_plain(url: str) -> None:
    assert rows().row(url) is not None


@pytest.mark.parametrize("url", NOT_PLAIN)
def test_what_must_be_looked_at_is_not(url: str) -> None:
    assert rows().row(url) is None


@given(URLS)
@example("http://shop.example/p?b=2&a=1&a=0&b=1")
@example("http://shop.example/p?a=1&a.b=1&a-b=1&=")
@example("http://shop.example/;a=1/'(b)*!,:@$&~")
def test_a_plain_form_is_the_canonical_one_and_scrapy_leaves_the_url_alone(url: str) -> None:
    form = plain_form(url)
    if form is not None and rows().row(url) is not None:
        assert form == canonicalize(url)
        assert Request(url).url == url


@pytest.mark.parametrize(("generation", "priority"), [("0", 0), ("20261122000001", -1000), ("7", 9)])
@given(url=URLS | st.sampled_from(PLAIN))
def test_rows_are_those_of_messages(generation: str, priority: int, url: str) -> None:
    row = rows(generation, priority).row(url)
    if row is not None:
        message = encoder().message(parse_line(url, ProductsSpider, priority), generation=generation, dedupe=True)
        assert row == (message.host, push_row(message))


@given(url=URLS | st.sampled_from([*PLAIN, *NOT_PLAIN]))
@example(url="https://shop.example/p?q=a%20b&q=a+b&utm_source=x#top")
@example(url="https://user:secret@shop.example:8443/%7e/./a/../b")
@example(url="https://shop.example/" + "é" * 2_000)
def test_rows_of_urls_that_must_be_looked_at(url: str) -> None:
    row = rows().looked_at(url)
    if row is not None:
        message = encoder().message(parse_line(url, ProductsSpider), generation="0", dedupe=True)
        assert row == (message.host, push_row(message))


@pytest.mark.parametrize("url", ["https://shop.example:8443/a?b=%20#c", "https://Shop.example/é", "http://a.example"])
def test_most_urls_need_no_message(url: str) -> None:
    assert rows().looked_at(url) is not None


def test_rules_of_hosts_and_learned_tiers_count(tmp_path: Path) -> None:
    (tmp_path / "domains.toml").write_text('["slow.example"]\ndelay_seconds = 9\ntier = "browser"')
    settings = shipped(POLITENESS_GROUP="domain", DOWNLOAD_DELAY=3, DOMAINS_FILE=str(tmp_path / "domains.toml"))
    made = Encoder(ProductsSpider, settings, RequestFingerprinter(), TierRouting())
    made.tier_routing.served = frozenset({"http", "browser"})
    made.tier_routing.hosts = {"learned.example": LearnedTier("browser", until_ms=1 << 60)}
    plain = PlainUrls(made, "0", 0)
    for url in ("https://www.slow.example/", "https://www.learned.example/", "https://www.shop.example/p?a=1"):
        message = made.message(Request(url), generation="0", dedupe=True)
        assert plain.row(url) == (message.host, push_row(message))


@pytest.mark.parametrize("in_scope", [False, True])
def test_what_the_scope_excludes_has_no_row_unless_somebody_has_looked(in_scope: bool) -> None:
    made = Encoder(ProductsSpider, shipped(SCOPE={"exclude": ["/tag/"]}), RequestFingerprinter(), TierRouting())
    plain = PlainUrls(made, "0", 0, in_scope=in_scope)
    for url in ("https://shop.example/p", "https://shop.example/tag/p", "https://shop.example/t%61g/p"):
        wanted = in_scope or url.endswith("e/p")
        rows = plain.row(url), plain.looked_at(url), plain.row_of({"url": url})
        message = made.message(Request(url), generation="0", dedupe=True)
        assert set(rows) == {(message.host, push_row(message)) if wanted else None}


def test_hosts_of_a_kind_differ_in_their_name_only(tmp_path: Path) -> None:
    rules = '["slow.example"]\ndelay_seconds = 9\n["one.example"]\npoliteness_group = "g"\n'
    rules += '["whole.example"]\ngroup_by_domain = true\n["some.example".scope]\npages_per_host = 3\n'
    (tmp_path / "domains.toml").write_text(rules)
    settings = shipped(DOMAINS_FILE=str(tmp_path / "domains.toml"), DOWNLOAD_SLOTS={"slot.example": {"delay": 7}})
    made = Encoder(ProductsSpider, settings, RequestFingerprinter(), TierRouting())
    made.tier_routing.served = frozenset({"http", "browser"})
    made.tier_routing.hosts = {"learned.example": LearnedTier("browser", until_ms=1 << 60)}
    plain = PlainUrls(made, "0", 0)
    names = ("slot", "learned", "slow", "a.slow", "b.slow", "one", "a.one", "whole", "b.whole", "some", "a.some")
    for name in ("a", "b", *names, "c", "d.co.uk"):
        url = f"https://{name}.example/p"
        message = made.message(Request(url), generation="0", dedupe=True)
        assert plain.row(url) == (message.host, push_row(message)), name


def test_a_fingerprinter_of_the_project_s_own_sees_every_request() -> None:
    class Own(RequestFingerprinter):
        def fingerprint(self, request: Request) -> bytes:
            return b"x" * 20

    made = Encoder(ProductsSpider, shipped(), Own(), TierRouting())
    assert PlainUrls(made, "0", 0).row(PLAIN[0]) is None


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 66), 1 << 66) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
_METAS = st.dictionaries(st.sampled_from(["job", "tags", "depth", "session", "playwright", ""]), _VALUES, max_size=3)


@pytest.mark.parametrize("priority", [0, 5])
@given(url=URLS | st.sampled_from(PLAIN), meta=_METAS)
def test_rows_of_messages_with_meta(priority: int, url: str, meta: dict[str, object]) -> None:
    line = json.dumps({"url": url, "meta": meta})
    row = rows("0", priority).row_of(json.loads(line))
    if row is not None:
        message = encoder().message(parse_line(line, ProductsSpider, priority), generation="0", dedupe=True)
        assert row == (message.host, push_row(message))


@pytest.mark.parametrize("more", [{"meta": {"job": [1, "a"]}}, {"meta": {}}, {}])
def test_messages_that_steer_nothing_are_plain(more: dict[str, object]) -> None:
    assert rows().row_of({"url": PLAIN[0], **more}) is not None


@pytest.mark.parametrize(
    "more",
    [{"priority": 1}, {"dont_filter": False}, {"url": 5}, {"meta": None}, {"meta": {"proxy": ""}}, {"prio": 1}]
    + [{"meta": {"a": value}} for value in ("\ud800", 1 << 64, "x" * (1 << 18))],
)
def test_messages_that_must_be_looked_at_are_not(more: dict[str, object]) -> None:
    assert rows().row_of({"url": PLAIN[0]} | more) is None


@pytest.mark.parametrize(("size", "is_plain"), [(253, True), (254, False), (300, False)])
def test_a_host_is_no_longer_than_names_are(size: int, is_plain: bool) -> None:
    """A longer one than its prefix can tell would end the push."""
    host = ("a" * 59 + ".") * 4 + "b" * (size - 240)
    assert (rows().row(f"https://{host}/") is not None) is is_plain
