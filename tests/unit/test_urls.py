"""URLs: what is allowed, and when two of them are one page."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler import urls
from crawler.errors import MessageError


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTP://Shop.Example:80/a#top", "http://shop.example/a"),
        ("https://shop.example:443", "https://shop.example/"),
        ("https://shop.example:8443/", "https://shop.example:8443/"),
        ("https://user:secret@shop.example/a", "https://shop.example/a"),
        ("https://shop.example/a/../b/./c", "https://shop.example/b/c"),
        ("https://shop.example/../../a", "https://shop.example/a"),
        ("https://shop.example/a/..", "https://shop.example/"),
        ("https://shop.example/a?b=2&a=1", "https://shop.example/a?a=1&b=2"),
        ("https://shop.example/a?utm_source=x&id=7&gclid=abc", "https://shop.example/a?id=7"),
        ("https://shop.example/a?pr_rec_id=1f&pr_rec_pid=1&pr_ref_pid=2&pr_seq=uniform", "https://shop.example/a"),
        ("https://shop.example/a?pf_rd_p=b2-c&pd_rd_wg=x&psc=1&_trksid=p2.c1", "https://shop.example/a?psc=1"),
        ("https://shop.example/a?pr=1&seq=2&ref=3&trk=4", "https://shop.example/a?pr=1&ref=3&seq=2&trk=4"),
        ("https://shop.example/a?empty=", "https://shop.example/a?empty="),
        ("https://shop.example./a", "https://shop.example/a"),
        ("https://bücher.example/größe", "https://xn--bcher-kva.example/gr%C3%B6%C3%9Fe"),
        ("http://[::1]:8000/a", "http://[::1]:8000/a"),
        ("https://shop.example/Case?Key=V", "https://shop.example/Case?Key=V"),
    ],
)
def test_one_page_has_one_canonical_url(url: str, canonical: str) -> None:
    assert urls.canonicalize(url) == canonical


PIECES = (
    "http:// https:// HTTP:// http://a.example https://b-1.example A.example 127.0.0.1 ü . .. / // /p/1 -_~ "
    ":80 :443 :8080 :080 :59999 :65536 ?q=1 ?b=2&a ? & % %41 _"
)


@pytest.mark.parametrize(
    ("url", "is_plain"),
    [
        ("http://127.0.0.2:44869/p/some-thing-1.html", True),
        ("https://shop.example/a?page=2&size=xl", True),
        ("https://shop.example", True),
        ("https://shop.example./", False),
        ("https://shop.example?page=2", False),
        ("https://shop.example:65536/", False),
        ("https://user@shop.example/", False),
        ("https://shop.example/a#b", False),
        ("https://shop.example/%41", False),
        ("https://shop.example/a\n", False),
        ("https://" + "a" * 64 + ".example/", False),
        ("/a", False),
    ],
)
def test_most_links_are_plain(url: str, is_plain: bool) -> None:
    assert urls.is_plain(url) is is_plain


def answer(call: Callable[[str], str], url: str) -> str | None:
    try:
        return call(url)
    except (MessageError, ValueError):
        return None


@given(st.lists(st.sampled_from(PIECES.split()), max_size=7).map("".join))
def test_plain_urls_are_read_as_all_others_are(url: str) -> None:
    marked = f"{url}#x"  # no fragment is plain
    assert answer(urls.canonicalize, url) == answer(urls.canonicalize, marked)
    assert answer(urls.group, url) == answer(urls.group, marked)
    checked = answer(urls.check, url)
    assert answer(urls.check, marked) == (checked and f"{checked}#x")


@given(
    path=st.text(alphabet="abcXYZ019-._~/%äß", max_size=30),
    query=st.lists(st.tuples(st.text("abc", min_size=1, max_size=3), st.text("xyzä &=", max_size=4)), max_size=4),
)
def test_canonicalizing_twice_changes_nothing(path: str, query: list[tuple[str, str]]) -> None:
    from urllib.parse import urlencode

    once = urls.canonicalize(f"https://shop.example/{path}?{urlencode(query)}")
    assert urls.canonicalize(once) == once


@given(st.permutations(["a=1", "b=2", "c=3", "utm_medium=mail"]))
def test_the_order_of_parameters_does_not_matter(query: list[str]) -> None:
    assert urls.canonicalize("https://shop.example/p?" + "&".join(query)) == "https://shop.example/p?a=1&b=2&c=3"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://shop.example/", "unknown scheme 'ftp': expected http or https"),
        ("javascript:alert(1)", "unknown scheme"),
        ("shop.example/a", "no scheme: expected http:// or https:// before 'shop.example/a'"),
        ("//shop.example/a", "no scheme"),
        ("http:///a", "without a host"),
        ("http://[::1/a", "not a URL"),
        ("http://shop.example:99999/", "not a URL"),
        ("http://shop.example/a b", "white space"),
        ("http://shop.example/\x00", "control characters"),
        ("http://shop.example/\udcff", "not UTF-8"),
        ("http://shop.example/" + "a" * 5000, "more than the 4096"),
        (f"http://{'a' * 64}.example/", "no name of a host"),
        (f"http://{'a.' * 130}example/", "no name of a host"),
        ("http://shop..example/", "no name of a host"),
        ("http://..../", "no name of a host"),
    ],
)
def test_a_url_that_cannot_be_fetched_is_refused_with_its_reason(url: str, words: str) -> None:
    with pytest.raises(MessageError, match=words.replace("(", r"\(")):
        urls.check(url)


@pytest.mark.parametrize(
    "url", ["x" * 4000, f"{'x' * 4000}://", f"http:///{'x' * 4000}", f"http://a.example/ {'x' * 9000}"]
)
def test_a_long_url_is_not_repeated_whole(url: str) -> None:
    with pytest.raises(MessageError, match=r"\.\.\..{100} \(\d+ characters\)") as refused:
        urls.check(url)
    assert len(str(refused.value)) < 800


SPELLINGS = ("127.0.0.2", "127.0.0.2.", "2130706434", "0x7f000002", "0X7F.2", "0177.0.0.2", "127.2", "0000000177.0.2")


@pytest.mark.parametrize(
    ("url", "hostname", "domain"),
    [
        ("https://www.shop.example.co.uk/a", "www.shop.example.co.uk", "example.co.uk"),
        ("http://127.0.0.2:8000/", "127.0.0.2", "127.0.0.2"),
        ("http://localhost/", "localhost", "localhost"),
        ("http://[::1]/", "::1", "::1"),
        ("http://[0:0::0:1]:80/", "::1", "::1"),
        ("http://[::ffff:7f00:2]/", "127.0.0.2", "127.0.0.2"),
        *((f"http://{spelling}:8000/", "127.0.0.2", "127.0.0.2") for spelling in SPELLINGS),
        ("http://127.0.0.256/", "127.0.0.256", "127.0.0.256"),
        ("http://1a.example.2x/", "1a.example.2x", "1a.example.2x"),
    ],
)
def test_a_politeness_group_is_the_hostname_or_the_registrable_domain(url: str, hostname: str, domain: str) -> None:
    assert urls.group(url) == hostname
    assert urls.group(url, "domain") == domain


def grouped(named: Callable[[], str]) -> str:
    """The host that *named* finds, or why there is none."""
    try:
        return named()
    except ValueError as error:
        return repr(error)


ODD = st.text(st.sampled_from(list("/?#@:.[]\\\tA%a1ü")), max_size=12)


@given(st.sampled_from(["http://", "https://", "HTTP://", "//", "", "view-source+https://"]), ODD)
def test_a_host_is_the_same_without_the_path(scheme: str, rest: str) -> None:
    url = scheme + rest
    host = grouped(lambda: urls.one_spelling((urlsplit(url).hostname or "").lower().removesuffix(".")))
    assert grouped(lambda: urls.group(url)) == host


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://user:secret@shop.example/a", "https://shop.example/a"),
        ("https://user@shop.example:8443", "https://shop.example:8443"),
        ("https://@shop.example/", "https://shop.example/"),
        ("HTTPS://a@b@c:d@shop.example/?x=@", "HTTPS://shop.example/?x=@"),
        ("//user:secret@shop.example/", "//shop.example/"),
        (" http://user:secret@shop.example/", " http://shop.example/"),
        ("http://user:secret@[::1", "http://[::1"),
        ("https://shop.example/@user/a", "https://shop.example/@user/a"),
        ("https://shop.example?mail=a@b.example", "https://shop.example?mail=a@b.example"),
        ("https://shop.example#a@b", "https://shop.example#a@b"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("text @ text", "text @ text"),
    ],
)
def test_credentials_are_cut_off_and_nothing_else(url: str, clean: str) -> None:
    assert urls.without_credentials(url) == clean
    assert urls.without_credentials(clean) == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("https://user:secret@shop.example/a", "https://shop.example/a"),
        (" FTP://user@shop.example\n", "FTP://shop.example"),
        ("//user:secret@shop.example/a", "//shop.example/a"),
        ("//ann@b.example", "//ann@b.example"),
        ("see https://user:secret@shop.example/a", "see https://user:secret@shop.example/a"),
        ("https://shop.example/a by ann@b.example", "https://shop.example/a by ann@b.example"),
        ("// written by ann@b.example", "// written by ann@b.example"),
        ("ann@b.example", "ann@b.example"),
        ("https://shop.example/@ann ", "https://shop.example/@ann "),
        ("//media:content[@url]", "//media:content[@url]"),
        ("https://user:secret[@shop.example/a", "https://shop.example/a"),
    ],
)
def test_a_text_that_is_a_url_loses_its_credentials(text: str, clean: str) -> None:
    assert urls.without_login(text) == clean


@pytest.mark.parametrize("start", ["https://", "//:", "//:["])
def test_a_long_text_that_is_nearly_a_url_takes_no_time(start: str) -> None:
    """Looking for its end from each @ would take minutes."""
    text = f"{start}{'@' * 100_000} is no URL"
    assert urls.without_login(text) == text


def test_a_url_that_may_be_fetched_is_returned_without_credentials() -> None:
    assert urls.check("https://user:secret@shop.example/a") == "https://shop.example/a"


@pytest.mark.parametrize(
    "url",
    [
        "http://user:pa/s3cret@shop.example/",
        "http://user:s3cret@shop.example:port/",
        "user:s3cret@shop.example/",
        "ftp://user:s3cret@shop.example/",
        "http://user:s3cret@/",
        "http://user:s3cret@shop.example/a b",
        "http://user:s3cret@shop.example/" + "a" * 5000,
        "http://user:?s3cret@shop.example/a b",
    ],
)
def test_what_is_said_about_a_broken_url_holds_no_password(url: str) -> None:
    with pytest.raises(MessageError) as error:
        urls.check(url)
    assert "s3cret" not in str(error.value)
    assert "'pa'" not in str(error.value)


def test_customers_of_one_host_have_a_site_each() -> None:
    assert not urls.same_site("https://one.github.io/", "https://two.github.io/")
    assert urls.same_site("https://one.github.io/", "https://a.one.github.io/")
    assert urls.group("https://one.github.io/", "domain") == "github.io"  # who serves them is one


def test_one_site_is_one_registrable_domain() -> None:
    assert urls.same_site("https://a.example.co.uk/", "https://b.example.co.uk/x")
    assert not urls.same_site("https://example.co.uk/", "https://other.co.uk/")


@pytest.mark.parametrize("url", ["http://[bad/", "//[", "http://a\u2100b/"])
def test_what_is_no_url_is_of_no_site(url: str) -> None:
    assert not urls.same_site(url, "https://shop.example/")
    assert not urls.same_site("https://shop.example/", url)
