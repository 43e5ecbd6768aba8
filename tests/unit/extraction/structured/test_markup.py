"""Microdata and RDFa give what JSON-LD gives."""

from __future__ import annotations

import pytest

from crawler.extraction.structured import markup
from crawler.extraction.tree.document import Document

URL = "https://shop.example.com/p"
MICRODATA = """
<div itemscope itemtype="https://schema.org/WebPage">
  <div itemprop="mainEntity" itemscope itemtype="https://schema.org/Product">
    <h1 itemprop="name">Knife <small>20 cm</small></h1>
    <a itemprop="brand" href="/brands/acme">Acme</a>
    <img itemprop="image" src="/small.gif" data-src="/k.jpg"><img itemprop="image" src="/k2.jpg">
    <meta itemprop="sku" content="K-1">
    <div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
      <span itemprop="price">12<sup>99</sup></span> <meta itemprop="priceCurrency" content="EUR">
      <link itemprop="availability" href="https://schema.org/InStock">
      <time itemprop="priceValidUntil" datetime="2026-01-01">soon</time>
    </div>
  </div>
</div>
<span itemprop="stray">nobody's</span>
"""
EXPECTED = {
    "@type": ["https://schema.org/Product"],
    "name": "Knife 20 cm",
    "brand": "Acme",
    "image": ["/k.jpg", "/k2.jpg"],
    "sku": "K-1",
    "offers": {
        "@type": ["https://schema.org/Offer"],
        "price": "12.99",
        "priceCurrency": "EUR",
        "availability": "https://schema.org/InStock",
        "priceValidUntil": "2026-01-01",
    },
}


def test_microdata() -> None:
    (page,) = markup.items(Document(MICRODATA, URL), markup.MICRODATA)
    assert page["mainEntity"] == EXPECTED


def test_rdfa() -> None:
    html = (
        MICRODATA.replace("itemscope itemtype", "typeof")
        .replace("itemprop", "property")
        .replace('property="sku"', 'property="schema:sku"')
    )
    (page,) = markup.items(Document(html, URL), markup.RDFA)
    assert page["mainEntity"] == EXPECTED


def test_pages_without_markup_are_not_parsed() -> None:
    document = Document("<p>itemscope", URL)
    assert markup.items(document, markup.MICRODATA) == []
    assert "tree" not in document.__dict__


@pytest.mark.parametrize(
    ("brand", "name"),
    [
        ("<a itemprop=brand href=/b/7 title=Acme><img src=/7.png></a>", "Acme"),
        ("<a itemprop=brand href=/b/7><span><img src=/7.png alt=Acme></span></a>", "Acme"),
        ("<img itemprop=brand src=/7.png alt=Acme>", "Acme"),
        ("<a itemprop=manufacturer href=/b/7>Acme</a>", "Acme"),
        ("<a itemprop=brand href=/b/7><img src=/7.png></a>", None),
    ],
)
def test_a_brand_is_a_name_not_a_link(brand: str, name: str | None) -> None:
    (item,) = markup.items(Document(f"<div itemscope>{brand}</div>", URL), markup.MICRODATA)
    assert item.get("brand", item.get("manufacturer")) == name


@pytest.mark.parametrize(
    "html",
    [
        "<p itemprop=a>" * 30_000,
        "<p itemscope itemprop='a b'>" * 30_000,
        "<i itemscope itemprop=a>" * 5_000,
        "<p itemprop=brand>" * 900 + "<i></i>" * 90_000,
    ],
)
def test_endless_markup_ends(html: str) -> None:
    top = markup.items(Document("<div itemscope>" + html, URL), markup.MICRODATA)
    assert len(top) <= markup.MAX_ELEMENTS
