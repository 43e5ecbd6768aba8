"""Pages of any kind."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawler.extraction import extract_page, extract_product

URL = "https://news.example.com/2026/knives"
TEXT = "Knives have been made of steel for a long time, and they cut well when they are kept sharp. "
ARTICLE = f"""<html lang="en-GB"><head><title>On knives</title><meta name="author" content="Ann Smith">
<meta property="article:published_time" content="2026-03-04T10:00:00Z">
<meta name="description" content="About knives">
<meta property="og:site_name" content="The Knife"><link rel="canonical" href="/knives"></head>
<body><nav><a href="/">Home</a></nav><article><h1>On knives</h1><p>{TEXT * 4}</p><p>{TEXT * 3}</p></article></body>"""


def test_an_article() -> None:
    item = extract_page(ARTICLE, URL)
    assert item.url == "https://news.example.com/knives"
    assert item.title == "On knives"
    assert item.text is not None
    assert "Knives have been made" in item.text
    assert "Home" not in item.text
    assert item.author == "Ann Smith"
    assert item.published_at == datetime(2026, 3, 4, tzinfo=UTC)
    assert item.language == "en"
    assert item.metadata["sitename"] == "The Knife"
    assert item.metadata["description"] == "About knives"


def test_a_page_without_text_keeps_its_title() -> None:
    item = extract_page("<title> Only a\ntitle </title>", URL)
    assert (item.title, item.text, item.published_at, item.language) == ("Only a title", None, None, None)
    assert (item.markdown, item.author, item.links, item.images, item.metadata) == (None, None, None, None, {})


@pytest.mark.parametrize(
    "html",
    [
        "",
        "no tags",
        b"\x00\xff\x00",
        "<div>" * 100_000,
        "<p>" + "word " * 99_999,
        "<p>" + "cookie " * 99_999,
        "\ud800",
        "<!--",
    ],
)
def test_no_page_is_too_strange(html: str | bytes) -> None:
    assert extract_page(html, URL).url == URL


@pytest.mark.parametrize("url", ["http://[bad/", "http://[1]/", "//[", ""])
def test_a_page_whose_url_is_none_is_read(url: str) -> None:
    stated = '{"@type": "Product", "name": "A lamp", "offers": {"price": "9.50", "priceCurrency": "$"}}'
    html = f'<title>A lamp</title><script type="application/ld+json">{stated}</script><h1>A lamp</h1>'
    assert extract_page(html, url).title == "A lamp"
    product = extract_product(html, url)
    assert product is not None
    assert (product.title, str(product.price), product.currency) == ("A lamp", "9.50", "USD")
