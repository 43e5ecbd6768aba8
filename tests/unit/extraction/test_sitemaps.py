"""Sitemaps and feeds of every kind; an independent parser must find the same in those that are well-formed."""

from __future__ import annotations

import logging
import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from usp.objects.sitemap import IndexXMLSitemap, InvalidSitemap
from usp.tree import sitemap_from_str

from crawler.extraction.sitemaps import TAIL, SitemapEntry, SitemapParser
from tests.effort import cpu_seconds

NS = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
A, B, C = (f"https://shop.example/{name}" for name in "abc")


def parsed(text: str | bytes, size: int = 0, *, is_robots: bool = False) -> list[SitemapEntry]:
    """What is found in pieces of *size*, or all at once."""
    body = text.encode() if isinstance(text, str) else text
    parser = SitemapParser(is_robots=is_robots)
    size = size or max(1, len(body))
    found = [entry for at in range(0, len(body), size) for entry in parser.feed(body[at : at + size])]
    return found + parser.close()


def pages(text: str | bytes, size: int = 0) -> list[str]:
    return [entry.url for entry in parsed(text, size) if not entry.is_sitemap]


def sitemaps(text: str | bytes, **kinds: bool) -> list[tuple[str, str]]:
    return [(entry.url, entry.lastmod) for entry in parsed(text, **kinds) if entry.is_sitemap]


PLAIN = f"""<?xml version="1.0" encoding="UTF-8"?>
<!-- made by a <loc>http://hidden.example/</loc> machine -->
<urlset {NS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
  xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"
  xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
  <url><loc>{A}</loc><lastmod>2026-11-22</lastmod><changefreq>daily</changefreq><priority>0.8</priority>
    <image:image><image:loc>https://cdn.example/a.jpg</image:loc><image:title>A</image:title></image:image>
    <video:video><video:player_loc>https://cdn.example/p</video:player_loc></video:video></url>
  <url><loc>
     {B}?x=1&amp;y=2&#38;z=3
  </loc><news:news><news:publication><news:name>N</news:name><news:language>de</news:language></news:publication>
    <news:publication_date>2026-11-22</news:publication_date><news:title>T</news:title></news:news></url>
  <url><lastmod>2026-11-21</lastmod><loc><![CDATA[{C}?x=1&y=2]]></loc></url>
</urlset>"""
RSS = f"""<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>Shop</title><link>https://shop.example/</link><description>D</description>
<atom:link href="https://shop.example/rss" rel="self"/>
<image><url>https://shop.example/logo.png</url><title>Shop</title><link>https://shop.example/</link></image>
<item><title>A</title><link>{A}</link><description><![CDATA[<a href="x"><link>http://hidden.example/</link>]]></description>
<guid isPermaLink="false">urn:1</guid><pubDate>Sun, 22 Nov 2026 09:00:00 GMT</pubDate></item>
<item><title>B</title><link>{B}?a=1&amp;b=2</link></item>
</channel></rss>"""
ATOM = f"""<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Shop</title>
<link href="https://shop.example/"/><link rel="self" href="https://shop.example/feed"/><id>urn:x</id>
<updated>2026-11-22T09:00:00Z</updated>
<entry><title>A</title><link href="{A}"/><id>urn:a</id><updated>2026-11-22T09:00:00Z</updated></entry>
<entry><title>B</title><link rel="alternate" href='{B}'/>
<id>urn:b</id><updated>2026-11-22T09:00:00Z</updated><summary>s</summary></entry></feed>"""
INDEX = f"""<?xml version="1.0"?><sitemapindex {NS}><sitemap><loc>{A}.xml</loc><lastmod>2026-11-22</lastmod></sitemap>
<sitemap><loc>{B}.xml.gz?x=1&amp;y=2</loc></sitemap></sitemapindex>"""
TEXT = f"{A}\r\n\r\n  {B}?x=1&y=2 \r\n{C}"
WELL_FORMED = {
    "plain": PLAIN,
    "prefixed": PLAIN.replace(f"<urlset {NS}", f"<sm:urlset {NS.replace('xmlns', 'xmlns:sm')}")
    .replace("</urlset", "</sm:urlset")
    .replace("<url>", "<sm:url>")
    .replace("</url>", "</sm:url>")
    .replace("<loc>", "<sm:loc>")
    .replace("</loc>", "</sm:loc>"),
    "rss": RSS,
    "atom": ATOM,
    "text": TEXT,
    "empty": f"<urlset {NS}></urlset>",
}


@pytest.mark.parametrize("name", WELL_FORMED)
def test_an_independent_parser_finds_the_same_pages(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    told = sitemap_from_str(WELL_FORMED[name])
    assert not isinstance(told, InvalidSitemap)
    expected = [page.url for page in told.all_pages()]
    assert sorted(set(pages(WELL_FORMED[name]))) == sorted(set(expected))
    assert name == "empty" or len(expected) >= 2


def test_an_independent_parser_finds_the_same_sitemaps() -> None:
    told = sitemap_from_str(INDEX)
    assert isinstance(told, IndexXMLSitemap)
    assert [url for url, _ in sitemaps(INDEX)] == [one.url for one in told.sub_sitemaps]
    assert sitemaps(INDEX)[0] == (f"{A}.xml", "2026-11-22")


@given(
    rows=st.lists(
        st.tuples(
            st.text("abc/-_.~é", min_size=1, max_size=9),
            st.sampled_from(["", "?a=1&amp;b=2", "?q=%20x", "&#x26;", "&apos;"]),
            st.sampled_from(["{}", "\n  {}\n", "<!-- x -->{}"]),
            st.sampled_from(
                ["", "<lastmod>2026-11-22</lastmod>", "<priority>0.5</priority>", "<!-- <loc>no</loc> -->"]
            ),
        ),
        max_size=12,
    ),
    size=st.integers(1, 200),
)
def test_random_sitemaps_in_pieces_of_any_size(rows: list[tuple[str, str, str, str]], size: int) -> None:
    logging.disable(logging.CRITICAL)
    written = [
        f"<url>{more}<loc>{form.format(f'https://shop.example/{path}{query}') if '!--' not in form else ''}"
        f"{f'https://shop.example/{path}{query}' if '!--' in form else ''}</loc></url>"
        for path, query, form, more in rows
    ]
    text = f"<urlset {NS}>{''.join(written)}</urlset>"
    try:
        expected = [page.url for page in sitemap_from_str(text).all_pages()]
    finally:
        logging.disable(logging.NOTSET)
    assert parsed(text, size) == parsed(text)
    assert sorted(set(pages(text))) == sorted(set(expected))


@pytest.mark.parametrize("text", [*WELL_FORMED.values(), INDEX])
@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_pieces_make_no_difference(text: str, size: int) -> None:
    assert parsed(text, size) == parsed(text)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1", "windows-1251"])
def test_encodings(encoding: str) -> None:
    word = "товар" if "1251" in encoding else "é"
    head = f"<?xml version='1.0' encoding='{encoding.removesuffix('-sig')}'?>"
    text = f"{head}<urlset><url><loc>{A}{word}</loc></url></urlset>"
    assert pages(text.encode(encoding)) == [f"{A}{word}"]


def test_utf_16_whose_declaration_can_be_read_is_utf_8() -> None:
    """As programs write it that declare the encoding of their strings, not of their files."""
    assert pages(f"<?xml version='1.0' encoding='utf-16'?><urlset><url><loc>{A}é</loc></url></urlset>") == [f"{A}é"]


MALFORMED = {
    "cut off": (PLAIN[: PLAIN.index("</urlset>") - 40], [A, f"{B}?x=1&y=2&z=3"]),
    "cut in an address": (f"<urlset><url><loc>{A}</loc></url><url><loc>{B}", [A]),
    "raw ampersands": (f"<urlset><url><loc>{A}?x=1&copy=2&y</loc></url></urlset>", [f"{A}?x=1&copy=2&y"]),
    "no containers": (f"<urlset><loc>{A}</loc><loc>{B}</loc></urlset>", [A, B]),
    "tags that nobody closes": (f"<urlset><url><loc>{A}<url><loc>{B}</urlset>", [A, B]),
    "text before it": (f"\n\n \ufeff<?xml version='1.0'?><urlset><url><loc>{A}</loc></url></urlset>", [A]),
    "its own entities": (
        f"<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><urlset><url><loc>{A}?&b;</loc></url></urlset>",
        [f"{A}?&b;"],
    ),
    "relative": ("<urlset><url><loc>/a</loc></url></urlset>", ["/a"]),
    "no address": ("<urlset><url><loc></loc></url><url><loc> </loc></url></urlset>", []),
    "null bytes": (f"<urlset><url><loc>{A}</loc></url>" + "\0" * 99 + f"<url><loc>{B}</loc></url>", [A, B]),
    "a comment without end": (f"<urlset><url><loc>{A}</loc></url><!-- <url><loc>{B}</loc></url>", [A]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_ones_are_read_as_far_as_they_go(name: str) -> None:
    text, expected = MALFORMED[name]
    assert pages(text) == expected
    assert pages(text, 5) == expected


def test_translations_are_pages_and_other_links_are_none() -> None:
    links = f"<xhtml:link rel='alternate' hreflang='de' href='{B}?a&amp;b'/><xhtml:link rel='canonical' href='{C}'/>"
    text = f"<urlset {NS} xmlns:xhtml='http://www.w3.org/1999/xhtml'><url><loc>{A}</loc>{links}</url></urlset>"
    assert sorted(pages(text)) == [A, f"{B}?a&b"]


def test_feeds_of_other_versions() -> None:
    item = f"<item rdf:about='{A}'><link>{A}</link></item>"
    assert pages(f"<rdf:RDF xmlns:rdf='x'><channel><link>{C}</link></channel>{item}</rdf:RDF>") == [A]
    links = f"<link rel='edit' href='{C}'/><link rel='self' href='{C}'/><link rel='alternate' href='{B}'/>"
    assert pages(f"<feed><link href='{C}'/><entry>{links}</entry></feed>") == [B]
    assert pages(f"<rss><channel><item><guid isPermaLink='true'>{A}</guid></item></channel></rss>") == [A]
    assert pages(f"<a:feed xmlns:a='x'><a:entry><a:link href='{A}'/></a:entry></a:feed>") == [A]


def test_of_a_robots_txt_its_sitemaps_alone() -> None:
    text = f"User-agent: *\nDisallow: /\nSitemap: {A}.xml\n  SITEMAP :{B}.xml # two\n# Sitemap: no\n{C}\n"
    assert sitemaps(text, is_robots=True) == [(f"{A}.xml", ""), (f"{B}.xml", "")]
    assert parsed(text, is_robots=True) == parsed(text, 3, is_robots=True)
    assert len(parsed(text, is_robots=True)) == 2
    assert sitemaps(f"\ufeffSitemap: {A}.xml", is_robots=True) == [(f"{A}.xml", "")]


@pytest.mark.parametrize("text", ["<!DOCTYPE html><html><loc>x</loc>", "<html><body>", " \n<!-- x --><HTML>"])
def test_a_web_page_is_none(text: str) -> None:
    parser = SitemapParser()
    assert parser.feed(text.encode()) + parser.close() == []
    assert parser.kind == "html"


BOMBS = {
    "one long address": "<urlset><url><loc>" + "x" * 5_000_000,
    "one long tag": "<urlset><url " + "a='b' " * 1_000_000,
    "open tags": "<urlset>" + "<loc" * 1_500_000,
    "open comments": "<urlset>" + "<!--" * 1_500_000,
    "declarations": "<urlset>" + "<!" * 2_500_000,
    "open sections": "<urlset>" + "<loc><![CDATA[" * 400_000,
    "attributes": "<urlset><link " + 'a="' * 1_500_000,
    "a long name": "<urlset><link " + "a" * 200_000 + ">" + "<url>" * 500_000,
    "spaces": "<urlset><loc>" + " " * 5_000_000,
    "a line": "https://shop.example/" + "x" * 5_000_000,
    "links": "<urlset>" + "<xhtml:link rel='alternate' href='/a' " + "b='c' " * 30_000 + "/>" + "<url>" * 500_000,
}


@pytest.fixture(scope="module")
def per_byte() -> float:
    """What a sitemap costs, in seconds of the machine on which bars are set."""
    plain = PLAIN.encode() * (1_000_000 // len(PLAIN))
    return cpu_seconds(lambda: parsed(plain, 65_536)) / len(plain)


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_take_no_more_than_their_share(name: str, per_byte: float) -> None:
    body = BOMBS[name].encode()
    most = 10 * per_byte * len(body) + 0.5
    assert cpu_seconds(lambda: parsed(body, 65_536), most) < most


def test_memory_does_not_grow_with_the_sitemap() -> None:
    rows = (f"<url><loc>https://shop.example/{number:08d}</loc></url>".encode() for number in range(20_000))
    parser = SitemapParser()
    parser.feed(b"<urlset>")
    tracemalloc.start()
    try:
        found = sum(len(parser.feed(row)) for row in rows)
        assert found + len(parser.close()) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 2 * TAIL
    finally:
        tracemalloc.stop()


def test_random_bytes_never_fail() -> None:
    noise = random.Random(1)
    words = [
        b"<loc>",
        b"</loc>",
        b"<url>",
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"-->",
        b"&#0;",
        b"&#x110000;",
        b"\xff",
        b"<a:",
    ]
    for _ in range(300):
        body = b"<urlset>" + b"".join(noise.choice([*words, noise.randbytes(3)]) for _ in range(60))
        assert parsed(body, 13) is not None
