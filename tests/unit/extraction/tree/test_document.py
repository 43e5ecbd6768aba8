"""Decoding, addresses, and what is visible."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.extraction import links
from crawler.extraction.source.nesting import MAX_DEPTH
from crawler.extraction.tree.base_url import join
from crawler.extraction.tree.document import Document
from tests.effort import cpu_seconds

ROOT = "https://www.shop.example.co.uk"
URL = f"{ROOT}/a/page?x=1"


@pytest.mark.parametrize(
    ("html", "content_type", "text"),
    [
        ("<p>é".encode(), None, "<p>é"),
        ("<p>é".encode("cp1252"), None, "<p>é"),
        ("<p>é".encode("iso-8859-2"), "text/html; charset=iso-8859-2", "<p>é"),
        ('<meta charset="windows-1251"><p>Ж'.encode("cp1251"), None, '<meta charset="windows-1251"><p>Ж'),
        (b"\xef\xbb\xbf<p>\xc3\xa9", "text/html; charset=latin-1", "<p>é"),
        ("<p>값".encode("utf-16"), None, "<p>값"),
    ],
)
def test_bytes_are_decoded_as_a_browser_would(html: bytes, content_type: str | None, text: str) -> None:
    assert Document(html, URL, content_type).html == text


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ('<link rel="canonical" href="/b?y=1&amp;z=2">', "https://www.shop.example.co.uk/b?y=1&z=2"),
        ("<link href=https://m.shop.example.co.uk/b rel=canonical>", "https://m.shop.example.co.uk/b"),
        ('<base href="/shop/"><link rel=canonical href="b">', "https://www.shop.example.co.uk/shop/b"),
        ('<link rel="canonical" href="https://evil.example.com/b">', URL),
        ('<link rel="canonical" href="https://other.co.uk/b">', URL),
        ('<link rel="canonical" href="/">', URL),
        ('<link rel="canonical" href="/de/">', URL),
        ('<link rel="canonical" href="/tv-de/">', URL),
        ('<link rel="canonical" href="/tv/">', f"{ROOT}/tv/"),
        ('<link rel="canonical" href="/de/pc">', f"{ROOT}/de/pc"),
        ('<link rel="canonical" href="javascript:alert(1)">', URL),
        ('<link rel="canonical" href="http://[bad/">', URL),
        ('<link rel="canonical">', URL),
        ('<body><link rel="canonical" href="/b">', URL),
        ('<link rel="canonical" href="https://u:s3cret@www.shop.example.co.uk/b">', "https://www.shop.example.co.uk/b"),
        (
            '<base href="//u:s3cret@www.shop.example.co.uk/"><link rel=canonical href=b>',
            "https://www.shop.example.co.uk/b",
        ),
        ('<link rel="canonical" href="https://www.shop.example.co.uk@evil.example/b">', URL),
        ('<link rel="canonical" href="Steel lamp, 40 cm, for the home">', URL),
        ('<link rel="canonical" href="https://www.shop.example.co.uk/steel lamp">', URL),
        ('<link rel="canonical" href="https://www.shop.example.co.uk:port/b">', URL),
        ('<link rel="canonical" href="{{page.url}}">', URL),
        ('<link rel="canonical" href="[object]">', URL),
        ('<link rel="canonical" href="undefined">', URL),
        ('<link rel="canonical" href="https://www.shop.example.co.uk/null">', URL),
        ('<link rel="canonical" href="/b\x00">', URL),
        (f'<link rel="canonical" href="/{"b" * 4_000}">', URL),
        ('<link rel="canonical" href="/größe?a[]=1">', "https://www.shop.example.co.uk/größe?a[]=1"),
        ('<!-- <link rel="canonical" href="/old"> --><link rel="canonical" href="/b">', f"{ROOT}/b"),
        ('<!--[if IE]><link rel="canonical" href="/old"><![endif]-->', URL),
        ('<!-- <link rel="canonical" href="/old">', URL),
        ('<!-- <base href="/old/"> --><link rel="canonical" href="b">', f"{ROOT}/a/b"),
        ('<link rel="canonical" data-href="/old" href="/b">', f"{ROOT}/b"),
        ('<BASE HREF="/shop/"><LINK REL="canonical" HREF="b">', f"{ROOT}/shop/b"),
        (
            '<base target="_blank"><base href=" /shop/ "><base href="/old/"><link rel=canonical href=b>',
            f"{ROOT}/shop/b",
        ),
        ("", URL),
    ],
)
def test_rel_canonical_counts_within_its_own_site(head: str, canonical: str) -> None:
    assert Document(f"<html><head>{head}", URL).canonical_url == canonical


@pytest.mark.parametrize(
    ("page", "stated", "counts"),
    [
        ("/p/1", "/index.php", False),
        ("/index.php/p/1", "/index.php", False),
        ("/p/1", "/Default.aspx", False),
        ("/en/p/1", "/en/", False),
        ("/us/en-us/p/1", "/us/en-us", False),
        ("/p/1", "/de/index.html", False),
        ("/?ref=mail", "/", True),
        ("/", "/en/", True),
        ("/index.html", "/", True),
        ("/de/index.php?lang=de", "/de/", True),
        ("/tvs/page/2", "/tvs/", True),
        ("/p/1/reviews", "/p/1", True),
        ("/p/1", "/en/p/1", True),
        ("/p/1", "/index/1", True),
        ("/p/1", "/index.php?id=1", True),
    ],
)
def test_a_front_page_is_that_of_no_other_page(page: str, stated: str, counts: bool) -> None:
    """A template that names it on each page would leave one document of a whole site."""
    found = Document(f'<html><head><link rel=canonical href="{stated}">', f"{ROOT}{page}").canonical_url
    assert found == f"{ROOT}{stated if counts else page}"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<html data-lang="en" lang="de">', "de"),
        ("<html xml:lang=fr-CH>", "fr-ch"),
        ("<html class='a'lang='it'>", "it"),
        ('<!-- <html lang="en"> --><html lang="de">', "de"),
        (
            '<!--[if IE 8]><html lang="en"><![endif]--><!--[if gt IE 8]><!--><html lang="de"><!--<![endif]-->',
            "de",
        ),
        ("<html>", ""),
    ],
)
def test_the_declared_language(html: str, language: str) -> None:
    assert Document(html, URL).language == language


@pytest.mark.parametrize(
    ("declared", "code"),
    [("de", "de"), ("DE-at", "de"), ("zh_Hant", "zh"), ("fil", "fil"), ("x-default", ""), ("english", ""), ("ελ", "")],
)
def test_the_code_of_the_declared_language(declared: str, code: str) -> None:
    assert Document(f'<html lang="{declared}">', URL).language_code == code


def test_a_language_is_looked_for_in_linear_time() -> None:
    assert cpu_seconds(lambda: Document("<html " * 20_000, URL).language, 0.2) < 0.2


def test_the_address_of_a_page_has_no_credentials() -> None:
    document = Document('<a href="/b">', "https://user:s3cret@shop.example/a")
    assert (document.canonical_url, document.absolute("/b")) == ("https://shop.example/a", "https://shop.example/b")


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("/b", "https://www.shop.example.co.uk/b"),
        ("/b#top", "https://www.shop.example.co.uk/b"),
        (" /b\n", "https://www.shop.example.co.uk/b"),
        ("/b\n/c\td", "https://www.shop.example.co.uk/b/cd"),
        ("https://www.shop.example.co.uk/b\r\n/c", "https://www.shop.example.co.uk/b/c"),
        ("java\nscript:alert(1)", None),
        ("\t", None),
        ("b", "https://www.shop.example.co.uk/a/b"),
        ("../b", "https://www.shop.example.co.uk/b"),
        ("?x=2", "https://www.shop.example.co.uk/a/page?x=2"),
        ("//cdn.example.com/b", "https://cdn.example.com/b"),
        ("http://x.example/b", "http://x.example/b"),
        ("mailto:a@b.c", None),
        ("javascript:void(0)", None),
        ("http://[bad/", None),
        ("http:///b", None),
        ("", None),
        (None, None),
    ],
)
def test_absolute_addresses(href: str | None, target: str | None) -> None:
    assert Document("<p>", URL).absolute(href) == target


@pytest.mark.parametrize("rest", ["", "?page=2", "?from=/a/b", "#/top"])
def test_an_address_without_a_path_has_links_too(rest: str) -> None:
    document = Document(
        '<a href="/product/b">b</a><a href="//shop.example/product/c">c</a>', f"https://shop.example{rest}"
    )
    assert [document.absolute(href) for href in ("/b", "/", "b")] == [
        f"https://shop.example/{b}" for b in ("b", "", "b")
    ]
    assert list(links(document, document.url)) == ["https://shop.example/product/b", "https://shop.example/product/c"]


def test_a_page_without_an_address_has_no_absolute_links() -> None:
    document = Document('<a href="/product/b">b</a>', "")
    assert (document.absolute("/product/b"), list(links(document, ""))) == (None, [])


def test_visible_texts_leave_out_what_is_not_shown() -> None:
    html = "<title>t</title><p> a <b>b</b></p><script>c</script><style>d</style><noscript>e</noscript><!-- f -->g"
    assert [text for text, _ in Document(html, URL).texts] == ["a", "b", "g"]


def test_a_lone_surrogate_does_not_stop_the_parser() -> None:
    assert [text for text, _ in Document("<p>a\ud800b</p>", URL).texts] == ["ab"]


@pytest.mark.parametrize("piece", ["<div>", "<ul><li>", "<b></p>", "<p><div></p>", "<div>x</div><span>"])
def test_deep_pages_are_cut_before_they_cost_minutes(piece: str) -> None:
    def look() -> None:
        document = Document("<h1>top</h1>" + piece * 200_000, URL)
        assert document.first("h1") is not None
        assert len(document.tree.css("div,span,b,ul")) <= 200_000 + MAX_DEPTH

    assert cpu_seconds(look, 10) < 10


def test_wide_pages_are_not_cut() -> None:
    document = Document("<p>x<br><img src=a><div><i>y</i></div><li>z" * 5_000, URL)
    assert len(document.tree.css("i")) == 5_000


@pytest.mark.parametrize(
    ("title", "country"),
    [
        ("304不锈钢保温杯", "cn"),
        ("ステンレス鋼の水筒", ""),
        ("欧風の宝石 3个", ""),
        ("不鏽鋼保溫杯", ""),
        ("水筒 500 ml", ""),
        ("Steel cup", ""),
    ],
)
def test_simplified_chinese_tells_the_country_of_a_page_without_a_language(title: str, country: str) -> None:
    assert Document(f"<title>{title}</title>", "https://shop.example.com/x").country == country


def test_language_and_country() -> None:
    document = Document('<html class="x" lang="de-AT"><head>', "https://shop.example.com/")
    assert (document.language, document.country) == ("de-at", "at")


HREFS = st.text(st.sampled_from("ab/.?#=&;:%- \t\\@5"), max_size=12) | st.sampled_from(
    [
        "#",
        "#top",
        "javascript:void(0)",
        "mailto:a@b.c",
        "tel:1",
        "a/b.html?c=d&e",
        "a//b",
        "a/../b",
        "https://shop.example/x",
        "a.html#top",
        "../a/b.html?c=d#top",
        "../../../a",
        "../",
        "?page=2",
        "?",
    ]
)
PLACES = st.sampled_from(
    [
        "",
        "/",
        "/p",
        "/p/",
        "/a/b/c.html",
        "/a/b?x=/y",
        "/a//b",
        "/a/../b",
        "/a;b/c",
        "/?q",
        "/a/?q=;",
        "/a.b/c#d",
        "/.a/b",
    ]
)


@given(HREFS, PLACES, st.sampled_from(["https://shop.example", "http://shop.example:80", "https://u:p@shop.example"]))
def test_short_cuts_of_links_lead_to_the_same_page(href: str, place: str, origin: str) -> None:
    url = origin + place
    document = Document("", url)
    bare = href.replace("\t", "")  # as the URL Standard reads it
    found, joined = document.absolute(href), join(url, href) if bare else None
    if bare.startswith("/"):  # a browser and urljoin differ in what is behind two slashes
        return
    assert found == joined


def test_a_link_that_leads_out_of_all_folders_costs_no_more_than_its_length() -> None:
    document = Document("", "https://shop.example/a/b/c")
    long = "../" * 300_000

    def resolve() -> None:
        assert document.absolute(f"{long}p/1") == "https://shop.example/p/1"

    assert cpu_seconds(resolve, 1.0) < 1.0


def test_a_base_that_no_link_could_be_fetched_from_is_none() -> None:
    """1,700 links of a page with one of 40 KB took five seconds."""
    page = Document(f"<base href='/{'a/' * 2_500}'><a href=../x>y</a>", "https://shop.example.com/p/1")
    assert page.absolute("../x") == "https://shop.example.com/x"
